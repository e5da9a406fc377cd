import { proxyNote } from './faults/proxy-note.ts';

/** Configuration from the environment. */
export interface Config {
  /** URL of the service. */
  readonly server: string;
  /** API key; undefined without one. */
  readonly key: string | undefined;
  readonly colors: boolean;
  /** True for `TERM=dumb`, a terminal that cannot move its cursor. */
  readonly isDumb: boolean;
  /** What the variables of a proxy mean for requests to this URL; empty without one. */
  readonly proxyNote?: (baseUrl: string) => string;
}

const DEFAULT_SERVER = 'http://127.0.0.1:8080';

/** @param isTerminal true if the output is a terminal */
export function readConfig(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): Config {
  // Any non-empty value disables colours (no-color.org).
  const noColor = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  const isDumb = env['TERM'] === 'dumb';
  return {
    server: env['VANTAGE_URL'] || DEFAULT_SERVER,
    key: env['VANTAGE_KEY'] || undefined,
    colors: isTerminal && !noColor && !isDumb,
    isDumb,
    proxyNote: (baseUrl) => proxyNote(env, baseUrl),
  };
}
