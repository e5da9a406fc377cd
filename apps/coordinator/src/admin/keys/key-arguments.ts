import { parseArgs, type ParseArgsConfig } from 'node:util';

import { escapeText, keyScopes, type KeyScope } from '@vantage/contract';
import { policyKinds, uselessAllowance } from '@vantage/target-policy';

import { commandFault, optionFault } from '../option-faults.ts';
import { HIGHEST_KEY_LIMIT, MOST_NETWORKS } from '../../keys/api-key.ts';

/** A parsed operator command on API keys. */
export type KeyCommand = { readonly json: boolean } & (
  | ({ readonly command: 'key:add'; readonly name: string; readonly lifeMs: number | null } & KeyRights)
  | {
      readonly command: 'key:rotate';
      readonly name: string;
      readonly overlapMs: number;
      /** Null for a key that never expires; undefined keeps the expiry. */
      readonly lifeMs: number | null | undefined;
    }
  | { readonly command: 'key:remove'; readonly name: string }
  | { readonly command: 'key:list' }
);

export interface KeyRights {
  readonly scopes: readonly KeyScope[];
  readonly limit: number;
  readonly allow: readonly string[];
}

export const keyUsages = {
  'key:add': `key:add <name> --scopes <scope>[,<scope>...] [--limit <number>] [--expires <duration>]
            [--allow <network>[,<network>...]] [--json]`,
  'key:list': 'key:list [--json]',
  'key:rotate': 'key:rotate <name> [--overlap <duration>] [--expires <duration>] [--json]',
  'key:remove': 'key:remove <name> [--json]',
} as const satisfies Record<KeyCommand['command'], string>;

const flag = { type: 'boolean' } as const;
const value = { type: 'string' } as const;
const several = { type: 'string', multiple: true } as const;

const optionsOf = {
  'key:add': { scopes: several, limit: value, expires: value, allow: several, json: flag },
  'key:list': { json: flag },
  'key:rotate': { overlap: value, expires: value, json: flag },
  'key:remove': { json: flag },
} as const satisfies Record<KeyCommand['command'], ParseArgsConfig['options']>;

export const DEFAULT_KEY_LIMIT = 600;

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_LIFE_DAYS = 3_650;
const LONGEST_OVERLAP_DAYS = 30;

type Parsed = { readonly given: KeyCommand } | { readonly faults: readonly string[] };

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

interface Options {
  readonly text: (name: string) => string | undefined;
  /** Values of an option that may be repeated and may contain a list separated by commas. */
  readonly list: (name: string) => readonly string[];
  readonly json: boolean;
}

/** Parses a command on keys. Each fault is a line that names the wrong or missing argument. */
export function readKeyArguments(args: readonly string[]): Parsed {
  const [word = '', ...rest] = args;
  if (!isKeyCommand(word)) return { faults: [commandFault(escapeText(word, 80), Object.keys(optionsOf))] };
  const parsed = parse(word, rest);
  if ('faults' in parsed) return parsed;
  const { options, positionals } = parsed;
  const { json } = options;
  if (word === 'key:list') {
    return positionals.length > 0
      ? { faults: [`unexpected argument "${escapeText(positionals[0]!, 80)}"; key:list takes no name`] }
      : { given: { command: word, json } };
  }
  const [name, ...more] = positionals;
  if (name === undefined) return { faults: ['<name>: is required'] };
  if (more.length > 0)
    return { faults: [`unexpected argument "${escapeText(more[0]!, 80)}"; expected one name of a key`] };
  const faults = /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)
    ? []
    : [`<name>: must be 1 to 63 lower-case letters, digits and hyphens, not “${escapeText(name, 80)}”`];
  if (word === 'key:add') return readAdd(name, options, faults);
  if (word === 'key:rotate') return readRotate(name, options, faults);
  return faults.length > 0 ? { faults } : { given: { command: word, name, json } };
}

export function isKeyCommand(word: string): word is KeyCommand['command'] {
  return Object.hasOwn(optionsOf, word);
}

function readAdd(name: string, { text, list, json }: Options, nameFaults: readonly string[]): Parsed {
  const scopes = [...new Set(list('scopes'))];
  const unknown = scopes.filter((scope) => !Object.hasOwn(keyScopes, scope));
  const limit = text('limit') ?? String(DEFAULT_KEY_LIMIT);
  const lifeMs = readDuration(text('expires'), LONGEST_LIFE_DAYS);
  const allow = [...new Set(list('allow'))];
  const faults = [
    ...nameFaults,
    ...(scopes.length === 0 || unknown.length > 0 ? [scopesFault(unknown)] : []),
    ...(/^\d{1,10}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= HIGHEST_KEY_LIMIT
      ? []
      : [`--limit: must be an integer from 1 to ${HIGHEST_KEY_LIMIT}`]),
    ...(lifeMs === 'odd' ? [durationFault('--expires', LONGEST_LIFE_DAYS)] : []),
    ...allow.flatMap(networkFaults),
    ...(allow.length > MOST_NETWORKS ? [`--allow: at most ${MOST_NETWORKS} networks`] : []),
  ];
  if (faults.length > 0 || lifeMs === 'odd') return { faults };
  const rights = { scopes: scopes as KeyScope[], limit: Number(limit), allow };
  return { given: { command: 'key:add', name, lifeMs: lifeMs ?? null, ...rights, json } };
}

function readRotate(name: string, { text, json }: Options, nameFaults: readonly string[]): Parsed {
  const overlapMs = readDuration(text('overlap'), LONGEST_OVERLAP_DAYS);
  const lifeMs = readDuration(text('expires'), LONGEST_LIFE_DAYS);
  const faults = [
    ...nameFaults,
    ...(overlapMs === 'odd' || overlapMs === null ? [durationFault('--overlap', LONGEST_OVERLAP_DAYS)] : []),
    ...(lifeMs === 'odd' ? [durationFault('--expires', LONGEST_LIFE_DAYS)] : []),
  ];
  if (faults.length > 0 || overlapMs === 'odd' || overlapMs === null || lifeMs === 'odd') return { faults };
  return { given: { command: 'key:rotate', name, overlapMs: overlapMs ?? 0, lifeMs, json } };
}

/** Milliseconds; null for `never`, undefined if the option was not given, `odd` for an invalid duration. */
function readDuration(text: string | undefined, mostDays: number): number | null | undefined | 'odd' {
  if (text === undefined) return undefined;
  if (text === 'never') return null;
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? 0);
  return ms >= 1 && ms <= mostDays * 86_400_000 ? ms : 'odd';
}

function durationFault(option: string, mostDays: number): string {
  const never = option === '--expires' ? ', or never' : '';
  return `${option}: must be a number with s, m, h or d, at most ${mostDays}d, such as 30d${never}`;
}

function scopesFault(unknown: readonly string[]): string {
  const known = Object.keys(keyScopes).join(', ');
  return unknown.length === 0
    ? `--scopes: is required, one or more of ${known}`
    : `--scopes: unknown ${unknown.map((scope) => `“${escapeText(scope, 80)}”`).join(', ')}; expected one or more of ${known}`;
}

function networkFaults(network: string): readonly string[] {
  try {
    policyKinds.allow.parse(network);
    const reason = uselessAllowance(network);
    return reason === undefined ? [] : [`--allow: ${network} ${reason}`];
  } catch (error) {
    return [`--allow: ${(error as Error).message}, not “${escapeText(network, 80)}”`];
  }
}

function parse(
  word: KeyCommand['command'],
  args: readonly string[],
): { readonly options: Options; readonly positionals: readonly string[] } | { readonly faults: readonly string[] } {
  const options = optionsOf[word] as ParseArgsConfig['options'];
  try {
    const config = { args: [...args], options, allowPositionals: true, strict: true };
    const { values, positionals }: { values: Values; positionals: string[] } = parseArgs(config);
    const text = (name: string): string | undefined => {
      const given = values[name];
      return typeof given === 'string' ? given : undefined;
    };
    const list = (name: string): readonly string[] => {
      const given = values[name];
      const texts = Array.isArray(given) ? given.map(String) : [];
      return texts.flatMap((some) => some.split(',')).filter((one) => one !== '');
    };
    return { options: { text, list, json: values['json'] === true }, positionals };
  } catch (error) {
    return { faults: [optionFault(error, Object.keys(options ?? {}))] };
  }
}
