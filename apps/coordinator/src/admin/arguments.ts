import { isIP } from 'node:net';
import { parseArgs, type ParseArgsConfig } from 'node:util';

import { escapeText, isShowable, type ProbeRecord } from '@vantage/contract';

import { keyUsages } from './keys/key-arguments.ts';
import { readInvitation, type Invitation } from './invitation.ts';
import { commandFault, optionFault } from './option-faults.ts';
import { recordFaultLine, readRecord } from './record.ts';
import { isMetricsAddress } from '../probes/metrics-addresses.ts';
import { readOffer, type Offer } from '../probes/offers.ts';
import type { ProbeValidators } from '../probes/registry/probe-validators.ts';

/** A parsed operator command. */
export type AdminCommand =
  | ({
      readonly command: 'add';
      readonly record: ProbeRecord;
      readonly recordOnly: boolean;
      readonly metrics: string | undefined;
      readonly noCa: boolean;
    } & Output)
  | ({
      readonly command: 'rotate';
      readonly id: string;
      readonly manner: 'at-once' | 'overlap' | 'finish';
      readonly noCa: boolean;
    } & Output)
  | Invite
  | ({ readonly command: 'approve'; readonly id: string; readonly usePlace: boolean } & Output)
  | Offering
  | MetricsChange
  | ({ readonly command: 'suspend'; readonly id: string; readonly reason: string } & Output)
  | ({ readonly command: 'enable' | 'resume' | 'remove'; readonly id: string } & Output)
  | ({ readonly command: 'list' } & Output)
  | ({ readonly command: 'tls'; readonly hosts: readonly string[]; readonly renew: boolean } & Output);

export type Offering = { readonly command: 'offer'; readonly id: string; readonly addresses: Offer } & Output;
export type MetricsChange = {
  readonly command: 'metrics';
  readonly id: string;
  /** `host:port`; undefined withdraws it. */
  readonly address: string | undefined;
} & Output;
export type Invite = Invitation & Output & { readonly command: 'invite'; readonly metrics: string | undefined };

interface Output {
  readonly json: boolean;
  /** File for the agent's environment; standard output if undefined. */
  readonly envFile: string | undefined;
}

type Parsed = { readonly given: AdminCommand } | { readonly faults: readonly string[] };

export const usages = {
  add: `probe:add <id> --name <text> --datacenter <text> --country <code> --isp <text> --asn AS<digits>
            [--city <text>] [--lat <degrees>] [--lon <degrees>] [--tag <tag>[,<tag>...]]
            [--metrics <host:port>] [--env <file>] [--no-ca] [--record-only] [--json]`,
  rotate: 'probe:rotate <id> [--overlap | --finish] [--env <file>] [--no-ca] [--json]',
  invite: `probe:invite <id> [--name <text> --datacenter <text> --country <code> --isp <text> --asn AS<digits>
            [--city <text>] [--lat <degrees>] [--lon <degrees>] [--tag <tag>[,<tag>...]]]
            [--metrics <host:port>] [--uses <number>] [--expires <duration>] [--approve] [--url <address>] [--json]`,
  approve: 'probe:approve <id> [--use-place] [--json]',
  offer: 'probe:offer <id> (<address>... | --withdraw) [--json]',
  metrics: 'probe:metrics <id> (<host:port> | --withdraw) [--json]',
  suspend: 'probe:suspend <id> [--reason <text>] [--json]',
  resume: 'probe:resume <id> [--json]',
  enable: 'probe:enable <id> [--json]',
  remove: 'probe:remove <id> [--json]',
  list: 'probe:list [--json]',
  tls: 'probe:tls [--host <name or address>]... [--renew] [--json]',
} as const satisfies Record<AdminCommand['command'], string>;

/** Usage of the given command, or of all commands. */
export function usageOf([word = '']: readonly string[]): string {
  const lines = isCommand(word) ? [usages[word]] : Object.values(usages);
  return `Usage:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

const flag = { type: 'boolean' } as const;
const value = { type: 'string' } as const;
const several = { type: 'string', multiple: true } as const;

const recordOptions = {
  name: value,
  datacenter: value,
  country: value,
  isp: value,
  asn: value,
  city: value,
  lat: value,
  lon: value,
  tag: several,
} as const;

const optionsOf = {
  add: {
    ...recordOptions,
    metrics: value,
    env: value,
    'no-ca': flag,
    'record-only': flag,
    json: flag,
  },
  rotate: { overlap: flag, finish: flag, env: value, 'no-ca': flag, json: flag },
  invite: { ...recordOptions, metrics: value, uses: value, expires: value, approve: flag, url: value, json: flag },
  approve: { 'use-place': flag, json: flag },
  offer: { withdraw: flag, json: flag },
  metrics: { withdraw: flag, json: flag },
  suspend: { reason: value, json: flag },
  resume: { json: flag },
  enable: { json: flag },
  remove: { json: flag },
  list: { json: flag },
  tls: { host: several, renew: flag, json: flag },
} as const satisfies Record<string, ParseArgsConfig['options']>;

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** Reads the given options of a command by their names; one that was not given is undefined, empty or false. */
interface Options {
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  readonly is: (name: string) => boolean;
  readonly output: Output;
}

/** Parses a command and its arguments. Each fault is a line that names the wrong or missing argument. */
export function readArguments(args: readonly string[], validators: ProbeValidators): Parsed {
  const [word = '', ...rest] = args;
  if (!isCommand(word))
    return {
      faults:
        word === ''
          ? []
          : [commandFault(escapeText(word, 80), [...Object.keys(optionsOf), ...Object.keys(keyUsages), 'doctor'])],
    };
  const parsed = parse(word, rest);
  if ('faults' in parsed) return parsed;
  const { options, positionals } = parsed;
  if (word === 'list' || word === 'tls') {
    if (positionals.length > 0)
      return { faults: [`unexpected argument "${escapeText(positionals[0]!, 80)}"; probe:${word} takes no probe id`] };
    return word === 'list' ? { given: { command: word, ...options.output } } : readTls(options);
  }
  const [id, ...more] = positionals;
  if (id === undefined) return { faults: ['<id>: is required'] };
  if (word === 'offer') return readOffering(id, more, options);
  if (word === 'metrics') return readMetrics(id, more, options);
  if (more.length > 0) return { faults: [`unexpected argument "${escapeText(more[0]!, 80)}"; expected one probe id`] };
  if (word === 'add') return readAdd(id, options, validators);
  if (word === 'rotate') return readRotate(id, options);
  if (word === 'invite') return readInvite(id, options, validators);
  if (word === 'approve')
    return withId(id, { command: word, id, usePlace: options.is('use-place'), ...options.output });
  if (word === 'suspend') return readSuspend(id, options);
  return withId(id, { command: word, id, ...options.output });
}

function readAdd(id: string, { text, texts, is, output }: Options, validators: ProbeValidators): Parsed {
  const record = readRecord(id, text, texts('tag'));
  const metrics = text('metrics');
  const faults = [
    ...validators.recordFaults(record).map((fault) => recordFaultLine(fault, record)),
    ...metricsFaults('--metrics', metrics),
  ];
  if (faults.length > 0) return { faults };
  const flags = { recordOnly: is('record-only'), noCa: is('no-ca'), metrics };
  return { given: { command: 'add', record: record as ProbeRecord, ...flags, ...output } };
}

function readInvite(id: string, options: Options, validators: ProbeValidators): Parsed {
  const { text, texts, is, output } = options;
  const wantsRecord = Object.keys(recordOptions).some((name) => text(name) !== undefined || texts(name).length > 0);
  const record = wantsRecord ? readRecord(id, text, texts('tag')) : undefined;
  const metrics = text('metrics');
  const faults = [
    ...(wantsRecord ? validators.recordFaults(record).map((fault) => recordFaultLine(fault, record)) : []),
    ...metricsFaults('--metrics', metrics),
  ];
  const invitation = readInvitation({ uses: text('uses'), expires: text('expires'), url: text('url') });
  if ('faults' in invitation || faults.length > 0) {
    return { faults: [...faults, ...('faults' in invitation ? invitation.faults : [])] };
  }
  const rest = { record: record as ProbeRecord | undefined, waits: is('approve'), metrics };
  return withId(id, { command: 'invite', id, ...rest, ...invitation, ...output });
}

function readOffering(id: string, texts: readonly string[], { is, output }: Options): Parsed {
  const isWithdrawn = is('withdraw');
  if (isWithdrawn && texts.length > 0) return { faults: ['<address>: cannot be combined with --withdraw'] };
  if (!isWithdrawn && texts.length === 0) {
    return { faults: ['<address>: is required: an address of the probe, or one of each family'] };
  }
  const read = readOffer(texts);
  if ('faults' in read) return read;
  return withId(id, { command: 'offer', id, addresses: read.addresses, ...output });
}

function readMetrics(id: string, [address, ...more]: readonly string[], { is, output }: Options): Parsed {
  const isWithdrawn = is('withdraw');
  if (isWithdrawn && address !== undefined) return { faults: ['<host:port>: cannot be combined with --withdraw'] };
  if (!isWithdrawn && address === undefined) return { faults: ['<host:port>: is required'] };
  if (more.length > 0) return { faults: [`unexpected argument "${escapeText(more[0]!, 80)}"; expected one address`] };
  const faults = metricsFaults('<host:port>', address);
  return faults.length > 0 ? { faults } : withId(id, { command: 'metrics', id, address, ...output });
}

function metricsFaults(name: string, address: string | undefined): readonly string[] {
  if (address === undefined || isMetricsAddress(address)) return [];
  const expected = 'a name or an address with a port, such as 10.0.0.5:9464 or [2001:db8::5]:9464';
  return [`${name}: must be ${expected}, not “${escapeText(address, 80)}”`];
}

function readSuspend(id: string, { text, output }: Options): Parsed {
  const reason = text('reason') ?? '';
  if (reason.length > 200) return { faults: ['--reason: must have at most 200 characters'] };
  if (reason !== '' && !isShowable(reason))
    return { faults: ['--reason: must have no line breaks or control characters'] };
  return withId(id, { command: 'suspend', id, reason, ...output });
}

function readRotate(id: string, { is, output }: Options): Parsed {
  if (is('overlap') && is('finish')) return { faults: ['--overlap and --finish are two steps.'] };
  const manner = is('overlap') ? 'overlap' : is('finish') ? 'finish' : 'at-once';
  return withId(id, { command: 'rotate', id, manner, noCa: is('no-ca'), ...output });
}

function readTls({ texts, is, output }: Options): Parsed {
  const hosts = texts('host');
  const wrong = hosts.filter((host) => !isHost(host));
  if (wrong.length === 0) return { given: { command: 'tls', hosts, renew: is('renew'), ...output } };
  return { faults: wrong.map((host) => `--host: must be a host name or an address, not “${escapeText(host, 80)}”`) };
}

function parse(
  word: AdminCommand['command'],
  args: readonly string[],
): { readonly options: Options; readonly positionals: readonly string[] } | { readonly faults: readonly string[] } {
  const config = { options: optionsOf[word] as ParseArgsConfig['options'], allowPositionals: true, strict: true };
  try {
    const { values, positionals }: { values: Values; positionals: string[] } = parseArgs({
      args: joinNegative(args),
      ...config,
    });
    const text = (name: string): string | undefined => {
      const given = values[name];
      return typeof given === 'string' ? given : undefined;
    };
    const texts = (name: string): readonly string[] => {
      const given = values[name];
      return Array.isArray(given) ? given.map(String) : [];
    };
    const is = (name: string): boolean => values[name] === true;
    return { options: { text, texts, is, output: { json: is('json'), envFile: text('env') } }, positionals };
  } catch (error) {
    return { faults: [optionFault(error, Object.keys(optionsOf[word]))] };
  }
}

function isCommand(word: string): word is AdminCommand['command'] {
  return Object.hasOwn(optionsOf, word);
}

function isHost(host: string): boolean {
  return isIP(host) !== 0 || /^(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})*$/i.test(host);
}

/** Validates the id, which becomes part of Redis keys and a user name. */
function withId(id: string, given: AdminCommand): Parsed {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return { given };
  return { faults: [`<id>: must be 1 to 63 lower-case letters, digits and hyphens, not “${escapeText(id, 80)}”`] };
}

/** Joins `--lon -8.7` to `--lon=-8.7`: the parser takes a negative number for an option. */
function joinNegative(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (/^-[\d.]/.test(arg) && isDegrees(args[index - 1])) return [];
    const next = args[index + 1];
    return isDegrees(arg) && next !== undefined && /^-[\d.]/.test(next) ? [`${arg}=${next}`] : [arg];
  });
}

function isDegrees(arg: string | undefined): boolean {
  return arg === '--lat' || arg === '--lon';
}
