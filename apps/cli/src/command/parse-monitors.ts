import { parseFlags } from '@vantage/command-line';
import { checkTypes, isCheckTypeName } from '@vantage/diagnostics/contract';

import { monitorVerbs, type MonitorAction } from '../monitors/monitor-action.ts';
import type { Command } from './command.ts';
import { commonFlags, monitorFlags, selectionFlags } from './common-flags.ts';
import { expectedOf, flagsLast } from './first-word.ts';
import { readCheck } from './read-check.ts';
import { settingsFrom } from './settings.ts';

export function parseMonitors(words: readonly string[]): Command {
  const [verb = 'list', ...args] = flagsLast(words);
  const invalid = (...faults: readonly string[]): Command => ({ kind: 'invalid', faults, of: 'monitors' });
  const isFlag = verb.startsWith('-');
  const known = isFlag ? 'list' : monitorVerbs.find((one) => one === verb);
  if (known === undefined) {
    return invalid(`unknown command "monitors ${verb}"; ${expectedOf(verb, monitorVerbs)}`);
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
    return invalid(`unknown check type "${type}"; ${expectedOf(type, Object.keys(checkTypes))}`);
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
