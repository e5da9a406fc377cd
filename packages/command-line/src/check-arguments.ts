import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

import { nearestWord, type AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import { flagsOf, parsePairs, parseValue, type Flag } from './flags.ts';

export type FlagOptions = ParseArgsOptionsConfig;

/** Parsed flags and positional arguments; `fault` is the reason why they are refused. */
export interface ParsedArguments {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly fault: string | undefined;
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** The requested check, and the values of all flags. */
export interface CheckArguments {
  readonly host: string;
  /** Fields of the type besides the host, such as `port`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly values: Values;
  readonly faults: readonly string[];
}

/** The HOST argument, split into the host and other fields; `fault` is the reason why it is no host. */
interface HostText {
  readonly host: string;
  /** Fields that the text contains in addition, such as the port of `example.com:443`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields that the text implies unless they are given, such as the port of `https://example.com`. */
  readonly implied?: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

export function parseFlags(args: readonly string[], options: FlagOptions): ParsedArguments {
  try {
    const { tokens, ...parsed } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      allowNegative: true,
      strict: true,
      tokens: true,
    });
    return { ...parsed, fault: repeated(tokens, options) };
  } catch (error) {
    return { values: {}, positionals: [], fault: faultOf(error, Object.keys(options)) };
  }
}

/** The fault of a flag that was given twice with different values, of which parseArgs takes the last one. */
function repeated(tokens: readonly FlagToken[], options: FlagOptions): string | undefined {
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || options[token.name]?.multiple === true) continue;
    const text = `${token.rawName}${token.value === undefined ? '' : ` ${token.value}`}`;
    const before = given.get(token.name) ?? text;
    if (before !== text) return `unexpected "${text}" after "${before}"; expected one of them`;
    given.set(token.name, text);
  }
  return undefined;
}

type FlagToken = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/**
 * One line for an error of parseArgs, whose message may have several; for an unknown flag, with the flags that may be
 * meant.
 */
function faultOf(error: unknown, names: readonly string[]): string {
  const message = Error.isError(error) ? error.message : String(error);
  const [, flag] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  const [, hyphened] = /'(-[^' ]+)' argument is ambiguous/.exec(message) ?? [];
  if (hyphened !== undefined)
    return `flag "${hyphened}" needs a value; one that begins with a hyphen is written ${hyphened}=-…`;
  if (flag === undefined) return valueFault(message) ?? message;
  const near = meantBy(flag, names).map((name) => `"--${name}"`);
  return `unknown flag "${flag}"${near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`}`;
}

/** Fault of a flag that lacks its value, or has one although it takes none; undefined for another message. */
function valueFault(message: string): string | undefined {
  const [, missing] = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message) ?? [];
  if (missing !== undefined) return `flag "${missing}" needs a value`;
  const [, needless] = /^Option '(?:-\w, )?(--[\w-]+)' does not take an argument/.exec(message) ?? [];
  return needless === undefined ? undefined : `flag "${needless}" takes no value`;
}

function meantBy(flag: string, names: readonly string[]): readonly string[] {
  if (/^-[46]$/.test(flag)) return names.includes('family') ? [`family ${flag.slice(1)}`] : [];
  if (/^-[a-z]$/i.test(flag)) return names.filter((name) => name.startsWith(flag.charAt(1).toLowerCase())).slice(0, 3);
  const near = nearestWord(flag.replace(/^-+/, ''), names);
  return near === undefined ? [] : [near];
}

/**
 * Parses the arguments after the name of a check type: host, fields with or without flags, options.
 *
 * @param others flags of the program, such as `--json`
 * @param readHost splits the text of HOST into host and fields; its second argument has the fields given as separate
 *   arguments. Default: all of the text is the host
 */
export function parseCheckArguments(
  type: CheckTypeName,
  args: readonly string[],
  others: FlagOptions,
  readHost: (text: string, given: readonly string[]) => HostText = (host) => ({ host, fields: {} }),
): CheckArguments {
  const flags = flagsOf(checkTypes[type] as AnyCheckType);
  const own = Object.fromEntries(
    flags.map(({ name, kind }) => [
      name,
      kind === 'switch' ? ({ type: 'boolean' } as const) : ({ type: 'string', multiple: kind === 'pairs' } as const),
    ]),
  );
  const { values, positionals, fault } = parseFlags(args, { ...others, ...own });
  if (fault !== undefined) return { host: '', fields: {}, options: {}, values, faults: [fault] };

  const faults: string[] = [];
  const [host, ...more] = positionals;
  if (host === undefined && values['between'] === undefined) faults.push(`missing HOST; expected ${type} HOST`);
  const placed = placePositionals(flags, more, values, faults);
  const givenFields = flags.flatMap(({ place, name }) => (place === 'field' ? [placed.get(name) ?? values[name]] : []));
  const isText = (given: unknown): given is string => typeof given === 'string';
  const target = host === undefined ? undefined : readHost(host, givenFields.filter(isText));
  if (target?.fault !== undefined) faults.unshift(target.fault);
  const fields: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  for (const flag of flags) {
    const given = placed.get(flag.name) ?? values[flag.name];
    const inHost = target?.fields[flag.field];
    const value = given === undefined ? (inHost ?? target?.implied?.[flag.field]) : valueOf(flag, given, faults);
    if (inHost !== undefined && value !== undefined && value !== inHost)
      faults.push(contradiction(type, flag, target!.host, [inHost, value]));
    if (value !== undefined) (flag.place === 'field' ? fields : options)[flag.field] = value;
    else if (flag.isRequired && given === undefined && target?.fault === undefined)
      faults.push(`missing ${flag.name.toUpperCase()}; expected ${type} ${host ?? 'HOST'} ${flag.name.toUpperCase()}`);
  }
  return { host: target?.host ?? '', fields, options, values, faults };
}

function contradiction(type: string, { name }: Flag, host: string, values: readonly unknown[]): string {
  const [inHost, behind] = values;
  const command = (value: unknown): string => `"${type} ${host} ${String(value)}"`;
  return `two values of ${name.toUpperCase()}, ${String(inHost)} in HOST and ${String(behind)}; expected ${command(inHost)} or ${command(behind)}`;
}

/** Assigns arguments after the host to the type's fields, in declaration order. */
function placePositionals(
  flags: readonly Flag[],
  args: readonly string[],
  values: Values,
  faults: string[],
): ReadonlyMap<string, string> {
  const open = flags.filter(
    ({ place, kind, name }) => place === 'field' && kind !== 'switch' && values[name] === undefined,
  );
  if (args.length > open.length) faults.push(`unexpected argument "${args[open.length]}"`);
  return new Map(open.flatMap(({ name }, index) => (args[index] === undefined ? [] : [[name, args[index]]])));
}

function valueOf(flag: Flag, given: NonNullable<Values[string]>, faults: string[]): unknown {
  if (typeof given === 'boolean') return given;
  const read = typeof given === 'string' ? parseValue(flag, given) : parsePairs(flag, given.map(String));
  if ('value' in read) return read.value;
  faults.push(read.fault);
  return undefined;
}
