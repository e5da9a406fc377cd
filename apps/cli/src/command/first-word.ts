import { nearestWord } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { commonFlags } from './common-flags.ts';

/**
 * Moves common flags that precede the name of the command behind it: `--server URL ping HOST` is `ping --server URL
 * HOST`.
 */
export function flagsBehindCommand(argv: readonly string[]): readonly string[] {
  const [flags, [name, ...args]] = splitFlags(argv);
  return name === undefined ? argv : [name, ...flags, ...args];
}

/** Moves leading common flags behind words that have an order: to the end, or before `--`. */
export function flagsLast(args: readonly string[]): readonly string[] {
  const [flags, others] = splitFlags(args);
  const end = others.includes('--') ? others.indexOf('--') : others.length;
  return others.toSpliced(end, 0, ...flags);
}

/** The common flags at the start, and everything after them. */
function splitFlags(argv: readonly string[]): readonly [flags: readonly string[], others: readonly string[]] {
  let at = 0;
  for (let size = sizeOf(argv[at]); size > 0; size = sizeOf(argv[at])) at += size;
  return [argv.slice(0, at), argv.slice(at)];
}

/** Number of words that a common flag takes; 0 for `--help` and any other word. */
function sizeOf(word: string | undefined): number {
  const [, name = '', value] = /^--([a-z-]+)(=.*)?$/s.exec(word ?? '') ?? [];
  if (name === 'help' || !Object.hasOwn(commonFlags, name)) return 0;
  return commonFlags[name as keyof typeof commonFlags].type === 'boolean' || value !== undefined ? 1 : 2;
}

const commands: readonly string[] = [
  ...Object.keys(checkTypes),
  'mtr',
  'show',
  'compare',
  'probes',
  'me',
  'monitors',
  'completion',
  'help',
];

export function isCommand(word: string): boolean {
  return commands.includes(word);
}

/**
 * The fault of a first word that is no command. Unless it begins with a hyphen, the text lists all commands, and the
 * one that may be meant: the nearest one, else a check of the word if it is a URL, a dotted name or an address.
 */
export function unknownCommand(name: string): string {
  if (name.startsWith('-')) return `unexpected flag "${name}" before the command; expected vantage COMMAND [flags]`;
  return `unknown command "${name}"; ${expectedOf(name, commands, checkOf(name))}`;
}

/** The words that are allowed in place of a wrong one, and the nearest of them; `otherwise` if none is near. */
export function expectedOf(wrong: string | undefined, allowed: readonly string[], otherwise?: string): string {
  const meant = (wrong === undefined ? undefined : nearestWord(wrong, allowed)) ?? otherwise;
  return `expected one of ${allowed.join(', ')}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

/** The command for a word like a URL, a dotted name or an address, written in place of a command; else undefined. */
function checkOf(word: string): string | undefined {
  if (/^https?:\/\/./i.test(word)) return `vantage http ${word}`;
  return /^[\w-]+(\.[\w-]+)+$|^[\da-f]*:[\da-f:.]+$/i.test(word) ? `vantage ping ${word}` : undefined;
}
