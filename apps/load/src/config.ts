import { parseArgs } from 'node:util';

import { checkTypeNames, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';
import {
  integer,
  list,
  number,
  oneOf,
  readSettings,
  setting,
  SettingsError,
  text,
  url,
  type VariableKind,
  type SettingValues,
} from '@vantage/settings';

/** A check type and its relative frequency. */
export type Share = readonly [type: CheckTypeName, weight: number];

const share: VariableKind<Share> = {
  name: '`type=weight` with a weight from 1 to 1000',
  parse: (value) => {
    const [type = '', weight = '', ...rest] = value.split('=');
    if (!isCheckTypeName(type) || !/^[1-9]\d{0,2}$|^1000$/.test(weight) || rest.length > 0) {
      throw new Error(`must be a check type (${checkTypeNames.join(', ')}), =, and a weight from 1 to 1000`);
    }
    return [type, Number(weight)];
  },
};

/** Settings from the environment; each is also a flag: `LOAD_WARM_UP` is `--warm-up`. */
export const settings = {
  url: setting({
    env: 'LOAD_URL',
    kind: url(['http:', 'https:']),
    default: 'http://127.0.0.1:8080',
    description: 'Address of the service.',
  }),
  rate: setting({
    env: 'LOAD_RATE',
    kind: number(0.01, 100_000),
    default: '10',
    description: 'Checks a second, at random intervals (a Poisson process).',
  }),
  seconds: setting({
    env: 'LOAD_DURATION',
    kind: number(1, 86_400),
    default: '60',
    description: 'Seconds for which checks are started and counted.',
  }),
  warmUpSeconds: setting({
    env: 'LOAD_WARM_UP',
    kind: number(0, 3_600),
    default: '5',
    description: 'Seconds of the same load before that, which are not counted.',
  }),
  mix: setting({
    env: 'LOAD_MIX',
    kind: list(share),
    default: 'ping=4,http=3,dns=2,tcp=1',
    description: 'Check types and their weights; http without a screenshot.',
  }),
  target: setting({
    env: 'LOAD_TARGET',
    kind: text,
    required: true,
    description: 'Host or address to measure. Use your own.',
  }),
  port: setting({
    env: 'LOAD_PORT',
    kind: integer(1, 65_535),
    default: '80',
    description: 'Its port for http, tcp and udp checks.',
  }),
  name: setting({
    env: 'LOAD_NAME',
    kind: text,
    default: 'example.com',
    description: 'Name that dns checks ask for.',
  }),
  probes: setting({
    env: 'LOAD_PROBES',
    kind: integer(1, 100),
    default: '5',
    description: 'Probes per check.',
  }),
  follow: setting({
    env: 'LOAD_FOLLOW',
    kind: oneOf(['sse', 'wait']),
    default: 'wait',
    description: 'How to follow each check to its end: by its event stream, or by a long poll (`?wait=`).',
  }),
  seed: setting({
    env: 'LOAD_SEED',
    kind: integer(0, 4_294_967_295),
    default: '1',
    description: 'Seed of the random order: the same seed gives the same checks at the same times.',
  }),
  report: setting({
    env: 'LOAD_REPORT',
    kind: text,
    default: 'load-report',
    description: 'Folder for report.json and report.html.',
  }),
} as const;

export type Config = SettingValues<typeof settings>;

export const usage = `usage: load --target HOST [flags]

${Object.values(settings)
  .map(({ env, kind, description, default: fallback }) => {
    const standard = fallback === undefined ? '' : ` Default: ${fallback}.`;
    return `  ${flagOf(env).padEnd(12)} ${env.padEnd(14)} ${description}${standard}\n${' '.repeat(30)}${kind.name}`;
  })
  .join('\n')}

Ends with 0 when a check was completed, 1 when none was, 2 for settings that it cannot use. Ctrl-C ends the load early and
writes the report of what was counted until then.
`;

/**
 * Flags override the environment.
 *
 * @throws SettingsError with all faults; TypeError of parseArgs for an unknown flag
 */
export function readConfig(
  flags: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Config | 'help' {
  const names = Object.values(settings).map(({ env }) => env);
  const options = Object.fromEntries(names.map((env) => [flagOf(env).slice(2), { type: 'string' }] as const));
  const parsed = parseArgs({ args: [...flags], options: { ...options, help: { type: 'boolean' } } });
  const values: Readonly<Record<string, unknown>> = parsed.values;
  if (values['help'] === true) return 'help';
  const given = names.flatMap((env) => {
    const value = values[flagOf(env).slice(2)];
    return typeof value === 'string' ? [[env, value] as const] : [];
  });
  try {
    const config = readSettings(settings, { ...environment, ...Object.fromEntries(given) });
    if (config.mix.length === 0) throw new SettingsError(['LOAD_MIX names no check type']);
    return config;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    // A value that was given by a flag is reported under the name of the flag.
    throw new SettingsError(
      error.faults.map((fault) =>
        given.reduce((line, [env]) => (line.startsWith(`${env} `) ? line.replace(env, flagOf(env)) : line), fault),
      ),
    );
  }
}

function flagOf(env: string): string {
  return `--${env.slice('LOAD_'.length).toLowerCase().replaceAll('_', '-')}`;
}
