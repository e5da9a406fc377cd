import { endingWithStream, type CheckRequest, type PairRequest } from '@vantage/client';
import { parseFlags, parseCheckArguments, type FlagOptions, type ParsedArguments } from '@vantage/command-line';
import { CHECK_ID_PATTERN, isCheckId, type AnyCheckType } from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';

import { checkFlagsOf, commonFlags, monitorFlags, selectionFlags } from './common-flags.ts';
import { shells, type Shell } from './completion.ts';
import { flagsBehindCommand, isCommand, unknownCommand } from './first-word.ts';
import { monitorVerbs, type MonitorAction } from './monitors/monitor-action.ts';
import { readCommandTarget } from './read-target.ts';

/** Parsed command line. */
export type Command =
  | { readonly kind: 'check'; readonly request: CheckRequest | PairRequest; readonly settings: CommandSettings }
  | { readonly kind: 'show'; readonly checkId: string; readonly settings: CommandSettings }
  | { readonly kind: 'compare'; readonly checkIds: readonly [string, string]; readonly settings: CommandSettings }
  | { readonly kind: 'probes'; readonly settings: CommandSettings }
  | { readonly kind: 'me'; readonly settings: CommandSettings }
  | { readonly kind: 'monitors'; readonly action: MonitorAction; readonly settings: CommandSettings }
  | { readonly kind: 'completion'; readonly shell: Shell }
  | { readonly kind: 'help'; readonly of: HelpTopic | undefined }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'invalid';
      readonly faults: readonly string[];
      /** Topic whose help lists the flags. */
      readonly of?: HelpTopic;
    };

export type HelpTopic = CheckTypeName | 'monitors';

export interface CommandSettings {
  /** URL of the service; undefined without a flag. */
  readonly server: string | undefined;
  /** API key; undefined without a flag. */
  readonly key: string | undefined;
  /** True prints the raw response only. */
  readonly json: boolean;
  /** True prints the results as CSV only. */
  readonly csv: boolean;
  /** Seconds between runs of a repeated check; undefined for one run. */
  readonly watchSeconds: number | undefined;
  /** File for the screenshot of an http check. */
  readonly saveScreenshot: string | undefined;
}

export function parseCommand(argv: readonly string[]): Command {
  const [name, ...args] = flagsBehindCommand(argv);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return parseHelp(args);
  if (name === '--version' || name === 'version') return { kind: 'version' };
  if (isCheckTypeName(name)) return parseCheck(name, args);
  if (name === 'mtr') return parseMtr(args);
  if (name === 'monitors') return parseMonitors(args);
  if (name === 'completion') return parseCompletion(args);
  if (name === 'probes' || name === 'me' || name === 'show' || name === 'compare') return parseQuery(name, args);
  return { kind: 'invalid', faults: [unknownCommand(name)] };
}

function parseMtr(args: readonly string[]): Command {
  const rounds = hasFlag(args, 'rounds') ? [] : ['--rounds', MTR_ROUNDS];
  return parseCheck('traceroute', [...rounds, ...args]);
}

function parseHelp(args: readonly string[]): Command {
  const { positionals, fault } = parseFlags(args, commonFlags);
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  const [topic] = positionals;
  if (topic === undefined || topic === 'version') return { kind: 'help', of: undefined };
  if (topic === 'monitors' || isCheckTypeName(topic)) return { kind: 'help', of: topic };
  if (topic === 'mtr') return { kind: 'help', of: 'traceroute' };
  return isCommand(topic) ? { kind: 'help', of: undefined } : { kind: 'invalid', faults: [unknownCommand(topic)] };
}

/** Rounds of `mtr --report`. */
const MTR_ROUNDS = '10';

function hasFlag(args: readonly string[], name: string): boolean {
  return args.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
}

function parseQuery(name: 'probes' | 'me' | 'show' | 'compare', args: readonly string[]): Command {
  const isId = (word: string): boolean => takesIds(name) && isIdLikeFlag(word);
  const {
    values,
    positionals: others,
    fault,
  } = parseFlags(
    args.filter((word) => !isId(word)),
    commonFlags,
  );
  const positionals = takesIds(name) ? inOrder([...args.filter(isId), ...others], args) : others;
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  if (values['help'] === true) return { kind: 'help', of: undefined };
  const settings = settingsFrom(values);
  if (!takesIds(name)) {
    return positionals.length === 0
      ? { kind: name, settings }
      : { kind: 'invalid', faults: [`unexpected argument "${positionals[0]}"`] };
  }
  const [first, second] = positionals.map(checkIdIn);
  const count = name === 'show' ? 1 : 2;
  if (positionals.length > count) return { kind: 'invalid', faults: [`unexpected argument "${positionals[count]}"`] };
  if (first === undefined) return { kind: 'invalid', faults: [`missing check id; expected ${usage[name]}`] };
  if (name === 'show') return { kind: name, checkId: first, settings };
  if (second === undefined) return { kind: 'invalid', faults: [`missing second check id; expected ${usage[name]}`] };
  return { kind: name, checkIds: [first, second], settings };
}

const usage = { show: 'show ID', compare: 'compare ID ID' } as const;

function takesIds(name: string): name is keyof typeof usage {
  return Object.hasOwn(usage, name);
}

function inOrder(words: readonly string[], args: readonly string[]): readonly string[] {
  return words.toSorted((a, b) => args.indexOf(a) - args.indexOf(b));
}

const CHECK_ID_IN_URL = new RegExp(`(?:^|/)(${CHECK_ID_PATTERN})(?:[/?#]|$)`);

/** Accepts a URL of the check or of its results in place of the id. */
function checkIdIn(word: string): string | undefined {
  return CHECK_ID_IN_URL.exec(word)?.[1] ?? /[^/]+$/.exec(word)?.[0];
}

/** True for a check id that begins with a hyphen; no flag has 22 characters. */
function isIdLikeFlag(word: string): boolean {
  return word.startsWith('-') && isCheckId(word);
}

function parseCompletion([shell]: readonly string[]): Command {
  const known = shells.find((one) => one === shell);
  if (known !== undefined) return { kind: 'completion', shell: known };
  return {
    kind: 'invalid',
    faults: [
      `${shell === undefined ? 'missing shell' : `unknown shell "${shell}"`}; expected one of ${shells.join(', ')}`,
    ],
  };
}

function parseMonitors([verb = 'list', ...args]: readonly string[]): Command {
  const invalid = (...faults: readonly string[]): Command => ({ kind: 'invalid', faults, of: 'monitors' });
  const isFlag = verb.startsWith('-');
  const known = isFlag ? 'list' : monitorVerbs.find((one) => one === verb);
  if (known === undefined) {
    return invalid(`unknown command "monitors ${verb}"; expected one of ${monitorVerbs.join(', ')}`);
  }
  if (known === 'put') return parsePut(args, invalid);
  const { values, positionals, fault } = parseFlags(isFlag ? [verb, ...args] : args, commonFlags);
  if (fault !== undefined) return invalid(fault);
  if (values['help'] === true) return { kind: 'help', of: 'monitors' };
  const [name, ...others] = known === 'list' ? ['', ...positionals] : positionals;
  if (name === undefined) return invalid(`missing NAME; expected monitors ${known} NAME`);
  if (others.length > 0) return invalid(`unexpected argument "${others[0]}"`);
  const action: MonitorAction = known === 'list' ? { verb: known } : { verb: known, name };
  return { kind: 'monitors', action, settings: settingsFrom(values) };
}

function parsePut(args: readonly string[], invalid: (...faults: readonly string[]) => Command): Command {
  const [name, type, ...rest] = args;
  if (args.includes('--help')) return { kind: 'help', of: 'monitors' };
  if (name === undefined || name.startsWith('-')) return invalid('missing NAME; expected monitors put NAME TYPE HOST');
  if (type === undefined || type.startsWith('-')) {
    const { values, positionals, fault } = parseFlags(args.slice(1), { ...commonFlags, file: monitorFlags.file });
    const file = values['file'];
    if (fault !== undefined) return invalid(fault);
    if (positionals.length > 0) return invalid(`unexpected argument "${positionals[0]}"`);
    if (typeof file !== 'string') return invalid('missing TYPE; expected monitors put NAME TYPE HOST, or --file FILE');
    return { kind: 'monitors', action: { verb: 'put', name, definition: { file } }, settings: settingsFrom(values) };
  }
  if (!isCheckTypeName(type)) {
    return invalid(`unknown check type "${type}"; expected one of ${Object.keys(checkTypes).join(', ')}`);
  }
  const { file: _file, ...ofMonitor } = monitorFlags;
  const { request: check, values, faults } = readCheck(type, rest, { ...commonFlags, ...selectionFlags, ...ofMonitor });
  const numbers = (['networks', 'countries', 'for'] as const).flatMap((flag) =>
    values[flag] === undefined ? [] : [[flag, String(values[flag])] as const],
  );
  const wrong = numbers
    .filter(([, text]) => !/^\d{1,3}$/.test(text))
    .map(([flag, text]) => `invalid --${flag} "${text}"; expected an integer from 1 to 100`);
  if (faults.length + wrong.length > 0) return invalid(...faults, ...wrong);
  const alarm = {
    ...(typeof values['when'] === 'string' ? { when: values['when'] } : {}),
    ...Object.fromEntries(numbers.map(([flag, text]) => [flag, Number(text)])),
  };
  const every = typeof values['every'] === 'string' ? values['every'] : '60s';
  const request = { check: { ...check }, every, ...(Object.keys(alarm).length === 0 ? {} : { alarm }) };
  return { kind: 'monitors', action: { verb: 'put', name, definition: { request } }, settings: settingsFrom(values) };
}

function parseCheck(type: CheckTypeName, args: readonly string[]): Command {
  const flags = { ...commonFlags, ...checkFlagsOf(checkTypes[type]) };
  const { request, values, faults } = readCheck(type, args, flags);
  if (values['help'] === true) return { kind: 'help', of: type };
  const settings = settingsFrom(values);
  const watch = values['watch'];
  const allFaults = [
    ...faults,
    ...(watch !== undefined && settings.watchSeconds === undefined
      ? [`invalid --watch "${String(watch)}"; expected seconds from 5 to 86400`]
      : []),
    ...(settings.csv && settings.json ? ['unexpected --csv with --json; expected one of them'] : []),
    ...(watch !== undefined && (settings.csv || settings.saveScreenshot !== undefined)
      ? ['unexpected --watch with --csv or --save-screenshot']
      : []),
  ];
  if (allFaults.length > 0) return { kind: 'invalid', faults: allFaults, of: type };
  // Ctrl-C ends rounds and long pings.
  return { kind: 'check', request: endingWithStream(request), settings };
}

/** The request of a check with its probes. */
function readCheck(
  type: CheckTypeName,
  args: readonly string[],
  flags: FlagOptions,
): {
  readonly request: CheckRequest | PairRequest;
  readonly values: ParsedArguments['values'];
  readonly faults: readonly string[];
} {
  const checkType: AnyCheckType = checkTypes[type];
  const { host, fields, options, values, faults } = parseCheckArguments(type, args, flags, (text) =>
    readCommandTarget(checkType, text),
  );
  const limit = limitOf(values['limit']);
  const [locations, probes] = [listFrom(values['from']), listFrom(values['probes'])];
  const between = values['between'] === undefined ? undefined : listFrom([values['between'] as string]);
  const allFaults = [
    ...faults,
    ...(typeof limit === 'object' ? [limit.fault] : []),
    ...(locations.length > 0 && probes.length > 0 ? ['unexpected --probes with --from; expected one of them'] : []),
    ...(between === undefined ? [] : pairFaults(between, host, values)),
  ];
  const request = {
    type,
    ...(between === undefined ? { host } : { between }),
    ...fields,
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(locations.length > 0 ? { locations } : {}),
    ...(probes.length > 0 ? { probes } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
  // The service validates the request against the schema from which the flags are derived.
  return { request: request as CheckRequest | PairRequest, values, faults: allFaults };
}

function pairFaults(between: readonly string[], host: string, values: ParsedArguments['values']): readonly string[] {
  const others = (['from', 'probes', 'limit'] as const).filter((name) => values[name] !== undefined);
  return [
    ...(between.length === 2
      ? []
      : [`invalid --between "${between.join(',')}"; expected two probes, as in fra-1,nyc-1`]),
    ...(host === '' ? [] : [`unexpected argument "${host}" with --between, which names both ends`]),
    ...others.map((name) => `unexpected --${name} with --between, which names both probes`),
  ];
}

function limitOf(text: ParsedArguments['values'][string]): number | { readonly fault: string } | undefined {
  if (text === undefined) return undefined;
  return typeof text === 'string' && /^\d{1,3}$/.test(text)
    ? Number(text)
    : { fault: `invalid --limit "${String(text)}"; expected an integer from 1 to 100` };
}

function listFrom(given: ParsedArguments['values'][string]): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given
    .flatMap((text) => String(text).split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function settingsFrom(values: ParsedArguments['values']): CommandSettings {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    server: text('server'),
    key: text('key'),
    json: values['json'] === true,
    csv: values['csv'] === true,
    watchSeconds: watchSecondsOf(text('watch')),
    saveScreenshot: text('save-screenshot'),
  };
}

function watchSecondsOf(text: string | undefined): number | undefined {
  const seconds = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return seconds >= 5 && seconds <= 86_400 ? seconds : undefined;
}
