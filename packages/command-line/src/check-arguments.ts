import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

import { nearestWord, type AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import { flagsOf, parsePairs, parseValue, type Flag } from './flags.ts';

export type FlagOptions = ParseArgsOptionsConfig;

/** Parsed flags and positional arguments; `fault` is the reason why they cannot be parsed. */
export interface ParsedArguments {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly fault: string | undefined;
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** The requested check, and the flags that are not the check type's own. */
export interface CheckArguments {
  readonly host: string;
  /** Fields of the type besides the host, such as `port`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly values: Values;
  readonly faults: readonly string[];
}

/** Text of HOST, split; `fault` is the reason why it is no host. */
interface HostText {
  readonly host: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

export function parseFlags(args: readonly string[], options: FlagOptions): ParsedArguments {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, allowNegative: true, strict: true });
    return { ...parsed, fault: undefined };
  } catch (error) {
    return { values: {}, positionals: [], fault: faultOf(error, Object.keys(options)) };
  }
}

/** The first sentence of parseArgs' message and, for an unknown flag, the nearest known one. */
function faultOf(error: unknown, names: readonly string[]): string {
  const message = Error.isError(error) ? error.message : String(error);
  const [, flag] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (flag === undefined) return message;
  const near = nearestWord(flag.replace(/^-+/, ''), names);
  return `unknown flag "${flag}"${near === undefined ? '' : `; did you mean "--${near}"?`}`;
}

/**
 * Parses the arguments after the name of a check type: host, fields with or without flags, options.
 *
 * @param others flags of the program, such as `--json`
 * @param readHost splits the text of HOST into host and fields; without it the text is the host
 */
export function parseCheckArguments(
  type: CheckTypeName,
  args: readonly string[],
  others: FlagOptions,
  readHost: (text: string) => HostText = (host) => ({ host, fields: {} }),
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
  const target = host === undefined ? undefined : readHost(host);
  if (target?.fault !== undefined) faults.push(target.fault);
  const placed = placePositionals(flags, more, values, faults);
  const fields: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  for (const flag of flags) {
    const given = placed.get(flag.name) ?? values[flag.name];
    const value = given === undefined ? target?.fields[flag.field] : valueOf(flag, given, faults);
    if (value !== undefined) (flag.place === 'field' ? fields : options)[flag.field] = value;
    else if (flag.isRequired && given === undefined && target?.fault === undefined)
      faults.push(`missing ${flag.name.toUpperCase()}; expected ${type} ${host ?? 'HOST'} ${flag.name.toUpperCase()}`);
  }
  return { host: target?.host ?? '', fields, options, values, faults };
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
