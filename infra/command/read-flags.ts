import { parseArgs } from 'node:util';

import { nearestWord } from '@vantage/contract';

export interface FlagDefinition {
  readonly description: string;
  /** Value if the flag is not given; undefined without a fallback. */
  readonly fallback?: string;
  /** Accepts decimal numbers from 0 only. */
  readonly isNumber?: boolean;
  /** Takes no value; `yes` if it is given. */
  readonly isSwitch?: boolean;
}

type Values<Flags extends Readonly<Record<string, FlagDefinition>>> = {
  readonly [Name in keyof Flags]: Flags[Name] extends { readonly fallback: string } ? string : string | undefined;
};

export type ReadFlags<Flags extends Readonly<Record<string, FlagDefinition>>> =
  | { readonly kind: 'values'; readonly values: Values<Flags> }
  /** The program prints the text and exits with the status. */
  | { readonly kind: 'end'; readonly text: string; readonly status: 0 | 2 };

/**
 * Parses the flags of a command of the repository; all support `--help`.
 *
 * @param command such as `npm run -s fuzz --`
 */
export function readFlags<const Flags extends Readonly<Record<string, FlagDefinition>>>(
  command: string,
  summary: string,
  flags: Flags,
  argv: readonly string[],
): ReadFlags<Flags> {
  const names = Object.keys(flags);
  const options = {
    help: { type: 'boolean', short: 'h' } as const,
    ...Object.fromEntries(
      names.map((name) => [
        name,
        { type: flags[name]!.isSwitch === true ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  };
  const usage = usageOf(command, summary, flags);
  let given: Readonly<Record<string, string | boolean | undefined>>;
  try {
    given = parseArgs({ args: [...argv], options }).values;
  } catch (error) {
    return { kind: 'end', text: `${faultOf(error, names)}\n\n${usage}`, status: 2 };
  }
  if (given['help'] === true) return { kind: 'end', text: usage, status: 0 };
  const values: Readonly<Record<string, string | boolean | undefined>> = Object.fromEntries(
    names.map((name) => [name, given[name] === true ? 'yes' : (given[name] ?? flags[name]!.fallback)]),
  );
  const faults = names.filter(
    (name) => flags[name]!.isNumber === true && !/^\d+(\.\d+)?$/.test(String(values[name] ?? 0)),
  );
  if (faults.length > 0) {
    const lines = faults.map((name) => `invalid --${name} "${String(values[name])}"; expected a number`);
    return { kind: 'end', text: `${lines.join('\n')}\n\n${usage}`, status: 2 };
  }
  return { kind: 'values', values: values as Values<Flags> };
}

/** The fault, worded as by the other commands; for an unknown flag, with the nearest known one. */
function faultOf(error: unknown, names: readonly string[]): string {
  const reason = (Error.isError(error) ? error.message : String(error)).split(/\. |\n/, 1)[0]!;
  const [, flag] = /^Unknown option '--?([^']*)'/.exec(reason) ?? [];
  const near = flag === undefined ? undefined : nearestWord(flag, names);
  if (near !== undefined) return `${reason}; did you mean --${near}?`;
  const [, missing] = /^Option '(--[\w-]+) <value>' argument missing/.exec(reason) ?? [];
  return missing === undefined ? reason : `flag "${missing}" needs a value`;
}

/** Reads the flags of this process; ends it after the help or a fault. */
export function flagsOfProcess<const Flags extends Readonly<Record<string, FlagDefinition>>>(
  command: string,
  summary: string,
  flags: Flags,
  argv: readonly string[] = process.argv.slice(2),
): Values<Flags> {
  const read = readFlags(command, summary, flags, argv);
  if (read.kind === 'end') {
    (read.status === 0 ? process.stdout : process.stderr).write(read.text);
    process.exit(read.status);
  }
  return read.values;
}

function usageOf(command: string, summary: string, flags: Readonly<Record<string, FlagDefinition>>): string {
  const rows = Object.entries(flags).map(([name, { description, fallback = '', isNumber, isSwitch }]) => {
    const value = isSwitch === true ? '' : isNumber === true ? ' N' : ' TEXT';
    const note = fallback === '' ? '' : ` Default: ${fallback}.`;
    return `  ${`--${name}${value}`.padEnd(18)}${description}${note}\n`;
  });
  return `${summary}\n\n  ${command} [flags]\n\n${rows.join('')}  ${'--help'.padEnd(18)}This text.\n`;
}
