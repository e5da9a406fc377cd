import { endingWithStream } from '@vantage/client';
import { parseFlags } from '@vantage/command-line';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';

import type { Command } from './command.ts';
import { checkFlagsOf, commonFlags } from './common-flags.ts';
import { shells } from './completion.ts';
import { expectedOf, flagsBehindCommand, isCommand, unknownCommand } from './first-word.ts';
import { helpTopics, type HelpTopic } from './help-topics.ts';
import { MTR_ROUNDS } from './mtr-rounds.ts';
import { parseMonitors } from './parse-monitors.ts';
import { CSV_AND_JSON, parseQuery } from './parse-query.ts';
import { readCheck } from './read-check.ts';
import { settingsFrom } from './settings.ts';

export function parseCommand(argv: readonly string[]): Command {
  const [name, ...args] = flagsBehindCommand(argv);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return parseHelp(args);
  if (name === '--version' || name === '-V' || name === 'version') return { kind: 'version' };
  if (isCheckTypeName(name)) return parseCheck(name, args);
  if (name === 'mtr') return parseMtr(args);
  if (name === 'monitors') return parseMonitors(args);
  if (name === 'completion') return parseCompletion(args);
  if (name === 'probes' || name === 'me' || name === 'show' || name === 'compare') return parseQuery(name, args);
  return { kind: 'invalid', faults: [unknownCommand(name)] };
}

function parseMtr(args: readonly string[]): Command {
  const rounds = hasFlag(args, 'rounds') ? [] : ['--rounds', MTR_ROUNDS];
  return parseCheck('traceroute', [...rounds, ...args], 'mtr');
}

function parseHelp(args: readonly string[]): Command {
  const { positionals, fault } = parseFlags(args, commonFlags);
  if (fault !== undefined) return { kind: 'invalid', faults: [fault] };
  const [topic] = positionals;
  if (topic === undefined || topic === 'version') return { kind: 'help', of: undefined };
  const known = isCheckTypeName(topic) ? topic : helpTopics.find((one) => one === topic);
  if (known !== undefined) return { kind: 'help', of: known };
  return isCommand(topic) ? { kind: 'help', of: undefined } : { kind: 'invalid', faults: [unknownCommand(topic)] };
}

function hasFlag(args: readonly string[], name: string): boolean {
  return args.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
}

function parseCompletion(args: readonly string[]): Command {
  const { values, positionals, fault } = parseFlags(args, { help: commonFlags.help });
  const [shell, ...others] = positionals;
  const known = shells.find((one) => one === shell);
  const unknown = shell === undefined ? 'missing shell' : `unknown shell "${shell}"`;
  const faults = [
    ...(fault === undefined ? [] : [fault]),
    ...(fault === undefined && known === undefined ? [`${unknown}; ${expectedOf(shell, shells)}`] : []),
    ...(others.length === 0 ? [] : [`unexpected argument "${others[0]}"`]),
  ];
  if (values['help'] === true) return { kind: 'help', of: 'completion' };
  return known !== undefined && faults.length === 0
    ? { kind: 'completion', shell: known }
    : { kind: 'invalid', faults, of: 'completion' };
}

function parseCheck(type: CheckTypeName, args: readonly string[], topic: HelpTopic = type): Command {
  const flags = { ...commonFlags, ...checkFlagsOf(checkTypes[type]) };
  const { request, values, faults } = readCheck(type, args, flags);
  if (values['help'] === true) return { kind: 'help', of: topic };
  const settings = settingsFrom(values);
  const watch = values['watch'];
  const allFaults = [
    ...faults,
    ...(watch !== undefined && settings.watchSeconds === undefined
      ? [`invalid --watch "${String(watch)}"; expected seconds from 5 to 86400`]
      : []),
    ...(settings.csv && settings.json ? [CSV_AND_JSON] : []),
    ...(watch !== undefined && (settings.csv || settings.saveScreenshot !== undefined)
      ? ['unexpected --watch with --csv or --save-screenshot']
      : []),
  ];
  if (allFaults.length > 0) return { kind: 'invalid', faults: allFaults, of: topic };
  // The check ends with its event stream, so that Ctrl-C ends rounds and long pings.
  return { kind: 'check', request: endingWithStream(request), settings };
}
