/** What the environment says. */
export interface Config {
  /** Address of the service. */
  readonly server: string;
  readonly colors: boolean;
}

const DEFAULT_SERVER = 'http://127.0.0.1:8080';

/** @param isTerminal whether the output is read by a person */
export function readConfig(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): Config {
  // Any value that is not empty (no-color.org).
  const noColor = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return { server: env['VANTAGE_URL'] || DEFAULT_SERVER, colors: isTerminal && !noColor && env['TERM'] !== 'dumb' };
}
