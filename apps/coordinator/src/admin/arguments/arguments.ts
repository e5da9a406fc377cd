import { isIP } from 'node:net';

import { escapeText, isShowable, type ProbeRecord } from '@vantage/contract';

import { readInvitation, type Invitation } from '../invitation.ts';
import { keyUsages } from '../keys/key-arguments.ts';
import { commandFault } from '../option-faults.ts';
import { isMetricsAddress } from '../../probes/metrics-addresses.ts';
import { readOffer, type Offer } from '../../probes/offers.ts';
import type { ProbeValidators } from '../../probes/registry/probe-validators.ts';
import { isCommand, optionsOf, parseOptions, recordOptions, type Options, type Output } from './options.ts';
import { recordFaultLine, readRecord } from './record.ts';

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

type Parsed = { readonly given: AdminCommand } | { readonly faults: readonly string[] };

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
  const parsed = parseOptions(word, rest);
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

function isHost(host: string): boolean {
  return isIP(host) !== 0 || /^(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})*$/i.test(host);
}

/** Validates the id, which becomes part of Redis keys and a user name. */
function withId(id: string, given: AdminCommand): Parsed {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) return { given };
  return { faults: [`<id>: must be 1 to 63 lower-case letters, digits and hyphens, not “${escapeText(id, 80)}”`] };
}
