import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { policyKinds } from '@vantage/target-policy';

/** Parsed flags of `npm start -- …`. */
export interface Arguments {
  readonly port: number;
  readonly probes: number;
  /** Requests per minute of each client at each endpoint, scrapes excepted; undefined keeps the service's default. */
  readonly rateLimit: number | undefined;
  /** CIDRs permitted as targets in addition to the policy. */
  readonly allow: readonly string[];
  readonly dataFolder: string;
  /** Restarts coordinator and probes when one of their files changes; `npm run dev` sets it. */
  readonly watch: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export type Parsed =
  | { readonly kind: 'run'; readonly arguments: Arguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] };

export const usage = `Runs the whole service on this machine: Redis, coordinator, probes.

  npm start -- [flags]

  --port N         port of the API and the page on loopback, 0 to 65535 (default PORT or 8080; 0 takes a free one)
  --probes N       how many local probes, 1 to 16 (default 3)
  --rate-limit N   requests a minute for each endpoint, but for scrapes, and client address, 1 to 1000000 (default 20)
  --allow CIDR     targets to allow that the policy refuses, such as 127.0.0.0/8; may be repeated
  --data FOLDER    where data and logs are kept (default .vantage in the checkout)
  --help           this text

  REDIS_URL=redis://…  uses your own Redis; none is started then.

  Every other setting of the coordinator and the probes is taken from the environment: docs/reference/settings.md.
  HOST is not read: the service listens on 127.0.0.1 alone.
`;

/** `watch` is not in the usage: `npm start` runs bundles, which do not change with their sources. */
const options = {
  port: { type: 'string' },
  probes: { type: 'string', default: '3' },
  'rate-limit': { type: 'string' },
  allow: { type: 'string', multiple: true, default: [] as string[] },
  data: { type: 'string' },
  watch: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** @param defaultDataFolder used without `--data` */
export function parseArguments(argv: readonly string[], defaultDataFolder: string, env: Environment): Parsed {
  const { values, fault } = parse(argv);
  if (values === undefined) return { kind: 'invalid', faults: [fault] };
  if (values.help) return { kind: 'help' };

  const faults: string[] = [];
  const integer = (source: string, text: string, minimum: number, maximum: number): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      faults.push(`invalid ${source} "${text}"; expected an integer from ${minimum} to ${maximum}`);
    }
    return value;
  };
  const [portSource, portText] = values.port === undefined ? defaultPort(env) : ['--port', values.port];
  const parsed: Arguments = {
    port: integer(portSource, portText, 0, 65_535),
    probes: integer('--probes', values.probes, 1, 16),
    rateLimit:
      values['rate-limit'] === undefined ? undefined : integer('--rate-limit', values['rate-limit'], 1, 1_000_000),
    allow: values.allow.flatMap((text) => text.split(',')).map((text) => allowed(text, faults)),
    dataFolder: resolve(values.data ?? defaultDataFolder),
    watch: values.watch,
  };
  if (values.data === '') faults.push('invalid --data ""; expected a folder');
  return faults.length > 0 ? { kind: 'invalid', faults } : { kind: 'run', arguments: parsed };
}

/**
 * The source and text of the port without `--port`. A variable without a value counts as unset, as for the coordinator.
 */
function defaultPort({ PORT = '' }: Environment): readonly [source: string, text: string] {
  return PORT === '' ? ['--port', '8080'] : ['PORT', PORT];
}

/**
 * Validates a value of `--allow` at once; coordinator and agents, which parse it likewise, would report the fault only
 * after the start.
 */
function allowed(text: string, faults: string[]): string {
  try {
    return policyKinds.allow.parse(text);
  } catch {
    faults.push(`invalid --allow "${text}"; expected ${policyKinds.allow.name}`);
    return text;
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options; strict: true }>>['values'];

function parse(argv: readonly string[]): { values: Values; fault: '' } | { values: undefined; fault: string } {
  try {
    return { values: parseArgs({ args: [...argv], options, strict: true }).values, fault: '' };
  } catch (error) {
    return { values: undefined, fault: Error.isError(error) ? error.message : String(error) };
  }
}
