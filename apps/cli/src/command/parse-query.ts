import { parseFlags } from '@vantage/command-line';
import { CHECK_ID_PATTERN, isCheckId } from '@vantage/contract';

import type { Command } from './command.ts';
import { commonFlags, csvFlag } from './common-flags.ts';
import { settingsFrom } from './settings.ts';

export const CSV_AND_JSON = 'unexpected --csv with --json; expected one of them';

/** Parses a command that only reads. */
export function parseQuery(name: 'probes' | 'me' | 'show' | 'compare', args: readonly string[]): Command {
  const invalid = (text: string): Command => ({ kind: 'invalid', faults: [text], of: name });
  const isId = (word: string): boolean => takesIds(name) && isIdLikeFlag(word);
  const {
    values,
    positionals: others,
    fault,
  } = parseFlags(
    args.filter((word) => !isId(word)),
    name === 'show' ? { ...commonFlags, ...csvFlag } : commonFlags,
  );
  const positionals = takesIds(name) ? inOrder([...args.filter(isId), ...others], args) : others;
  if (fault !== undefined) return invalid(fault);
  if (values['help'] === true) return { kind: 'help', of: name };
  const settings = settingsFrom(values);
  if (settings.csv && settings.json) return invalid(CSV_AND_JSON);
  if (!takesIds(name)) {
    return positionals.length === 0 ? { kind: name, settings } : invalid(`unexpected argument "${positionals[0]}"`);
  }
  const [first, second] = positionals.map(checkIdIn);
  const count = name === 'show' ? 1 : 2;
  if (positionals.length > count) return invalid(`unexpected argument "${positionals[count]}"`);
  if (first === undefined) return invalid(`missing check id; expected ${usage[name]}`);
  if (name === 'show') return { kind: name, checkId: first, settings };
  if (second === undefined) return invalid(`missing second check id; expected ${usage[name]}`);
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

/** True for a check id that begins with a hyphen; no flag of these commands has 22 characters. */
function isIdLikeFlag(word: string): boolean {
  return word.startsWith('-') && isCheckId(word);
}
