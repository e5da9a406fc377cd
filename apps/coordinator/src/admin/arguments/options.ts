import { parseArgs, type ParseArgsConfig } from 'node:util';

import { optionFault } from '../option-faults.ts';

const flag = { type: 'boolean' } as const;
const value = { type: 'string' } as const;
const several = { type: 'string', multiple: true } as const;

/** The options that give the record of a probe. */
export const recordOptions = {
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

/** The options of each command. */
export const optionsOf = {
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

export type CommandName = keyof typeof optionsOf;

/** The usage of each command. */
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
} as const satisfies Record<CommandName, string>;

/** Usage of the given command, or of all commands. */
export function usageOf([word = '']: readonly string[]): string {
  const lines = isCommand(word) ? [usages[word]] : Object.values(usages);
  return `Usage:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(optionsOf, word);
}

/** How and to where a command prints its result. */
export interface Output {
  readonly json: boolean;
  /** File for the agent's environment; standard output if undefined. */
  readonly envFile: string | undefined;
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** Reads the options of a command by their names; one that was not given is undefined, empty or false. */
export interface Options {
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  readonly is: (name: string) => boolean;
  readonly output: Output;
}

/** Divides arguments into options and others. A fault is a line that names the option. */
export function parseOptions(
  word: CommandName,
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
