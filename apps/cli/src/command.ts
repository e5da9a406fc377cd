import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

import type { CheckRequest } from '@vantage/client';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';

import { checkFlagsOf, commonFlags } from './common-flags.ts';
import { shells, type Shell } from './completion.ts';
import { flagsOf, readPairs, readValue, type Flag } from './flags.ts';

/** What the words on the command line ask for. */
export type Command =
  | { readonly kind: 'check'; readonly request: CheckRequest; readonly settings: Settings }
  | { readonly kind: 'show'; readonly checkId: string; readonly settings: Settings }
  | { readonly kind: 'probes'; readonly settings: Settings }
  | { readonly kind: 'me'; readonly settings: Settings }
  | { readonly kind: 'completion'; readonly shell: Shell }
  | { readonly kind: 'help'; readonly of: CheckTypeName | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] };

export interface Settings {
  /** Address of the service; undefined where no flag says it. */
  readonly server: string | undefined;
  /** True: what the service answered, and nothing else. */
  readonly json: boolean;
  /** Where the picture of an http check is to be written. */
  readonly savePicture: string | undefined;
}

export function parseCommand(argv: readonly string[]): Command {
  const [name, ...words] = argv;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const of = words[0];
    return { kind: 'help', of: of !== undefined && isCheckTypeName(of) ? of : undefined };
  }
  if (name === '--version' || name === 'version') return { kind: 'version' };
  if (isCheckTypeName(name)) return parseCheck(name, words);
  if (name === 'completion') return parseCompletion(words);
  if (name === 'probes' || name === 'me' || name === 'show') return parseQuestion(name, words);
  const known = [...Object.keys(checkTypes), 'show', 'probes', 'me', 'completion', 'help'];
  return { kind: 'invalid', faults: [`“${name}” is no command. There are: ${known.join(', ')}.`] };
}

function parseQuestion(name: 'probes' | 'me' | 'show', words: readonly string[]): Command {
  const { values, positionals, fault } = parse(words, commonFlags);
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  if (values['help'] === true) return { kind: 'help', of: undefined };
  const settings = settingsFrom(values);
  if (name !== 'show') {
    return positionals.length === 0
      ? { kind: name, settings }
      : { kind: 'invalid', faults: [`“${positionals[0]}” is one word too many.`] };
  }
  // A link to it, to its results too, is as good as the id in it.
  const [word = ''] = positionals;
  const checkId = /(?:^|\/)([\w-]{22})(?:[/?#]|$)/.exec(word)?.[1] ?? /[^/]+$/.exec(word)?.[0];
  return checkId === undefined || positionals.length > 1
    ? { kind: 'invalid', faults: ['show needs the id of one check.'] }
    : { kind: 'show', checkId, settings };
}

function parseCompletion([shell]: readonly string[]): Command {
  const known = shells.find((one) => one === shell);
  if (known !== undefined) return { kind: 'completion', shell: known };
  return { kind: 'invalid', faults: [`completion needs one of ${shells.join(', ')}.`] };
}

function parseCheck(type: CheckTypeName, words: readonly string[]): Command {
  const flags = flagsOf(checkTypes[type] as AnyCheckType);
  const own = Object.fromEntries(
    flags.map(({ name, kind }) => [
      name,
      kind === 'switch' ? ({ type: 'boolean' } as const) : ({ type: 'string', multiple: kind === 'pairs' } as const),
    ]),
  );
  const { values, positionals, fault } = parse(words, { ...commonFlags, ...checkFlagsOf(checkTypes[type]), ...own });
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  if (values['help'] === true) return { kind: 'help', of: type };

  const faults: string[] = [];
  const [host, ...more] = positionals;
  if (host === undefined) faults.push(`${type} needs a host.`);
  const placed = placePositionals(flags, more, values, faults);
  const fields: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  for (const flag of flags) {
    const value = valueOf(flag, placed.get(flag.name) ?? values[flag.name], faults);
    if (value !== undefined) (flag.place === 'field' ? fields : options)[flag.field] = value;
    else if (flag.isRequired)
      faults.push(`${type} needs a ${flag.name}: ${type} ${host ?? 'HOST'} ${flag.name.toUpperCase()}`);
  }
  const limit = limitFrom(values['limit'], faults);
  const [locations, probes] = [listFrom(values['from']), listFrom(values['probes'])];
  if (locations.length > 0 && probes.length > 0) faults.push('--from and --probes exclude each other.');
  if (faults.length > 0) return { kind: 'invalid', faults };
  const request = {
    ...{ type, host: host!, ...fields },
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(locations.length > 0 ? { locations } : {}),
    ...(probes.length > 0 ? { probes } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
  // The service validates it against the schema that the flags are made from.
  return { kind: 'check', request: request as CheckRequest, settings: settingsFrom(values) };
}

/** Words behind the host fill the type's own fields, in their order. */
function placePositionals(
  flags: readonly Flag[],
  words: readonly string[],
  values: Values,
  faults: string[],
): ReadonlyMap<string, string> {
  const open = flags.filter(
    ({ place, kind, name }) => place === 'field' && kind !== 'switch' && values[name] === undefined,
  );
  if (words.length > open.length) faults.push(`“${words[open.length]}” is one word too many.`);
  return new Map(open.flatMap(({ name }, index) => (words[index] === undefined ? [] : [[name, words[index]]])));
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

function valueOf(flag: Flag, given: Values[string], faults: string[]): unknown {
  if (given === undefined) return undefined;
  if (typeof given === 'boolean') return given;
  const read = typeof given === 'string' ? readValue(flag, given) : readPairs(flag, given.map(String));
  if ('value' in read) return read.value;
  faults.push(read.fault);
  return undefined;
}

function limitFrom(text: Values[string], faults: string[]): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^\d{1,3}$/.test(text)) return Number(text);
  faults.push(`--limit must be a number from 1 to 100, not “${String(text)}”`);
  return undefined;
}

function listFrom(given: Values[string]): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given
    .flatMap((text) => String(text).split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function settingsFrom(values: Values): Settings {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return { server: text('server'), json: values['json'] === true, savePicture: text('save-screenshot') };
}

interface ParsedWords {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly fault: string | undefined;
}

function parse(words: readonly string[], options: ParseArgsOptionsConfig): ParsedWords {
  try {
    const parsed = parseArgs({ args: [...words], options, allowPositionals: true, allowNegative: true, strict: true });
    return { ...parsed, fault: undefined };
  } catch (error) {
    return { values: {}, positionals: [], fault: Error.isError(error) ? error.message : String(error) };
  }
}
