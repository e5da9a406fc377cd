import type { AnyCheckType } from '@vantage/contract';

import { flagsOf, type Flag } from './flags.ts';

const COLUMNS = 80;
/** Least width to which text is wrapped. */
const FEWEST_COLUMNS = 48;
const NAME_WIDTH = 26;

/** Flags of a program besides those of a check type. */
export type HelpFlags = Readonly<Record<string, HelpFlag>>;

interface HelpFlag {
  readonly type: 'string' | 'boolean';
  /** Name of the value; TEXT by default. */
  readonly value?: string;
  readonly description: string;
}

/**
 * Help text with every flag of a check type.
 *
 * @param program text before the name of the type, such as `vantage`
 * @param columns width of the terminal; 80 by default and at most, and at least `FEWEST_COLUMNS`
 */
export function checkHelp(program: string, checkType: AnyCheckType, others: HelpFlags, columns?: number): string {
  const { type, summary, hostKind } = checkType;
  const flags = flagsOf(checkType);
  const host = hostKind === 'url' ? 'URL' : hostKind === 'name' ? 'NAME' : 'HOST';
  const words = flags
    .filter(({ place, kind }) => place === 'field' && kind !== 'switch')
    .map(({ name, isRequired }) => (isRequired ? ` ${name.toUpperCase()}` : ` [${name.toUpperCase()}]`));
  return `${wrapText(summary, columns)}

  ${program} ${type} ${host}${words.join('')} [flags]

${flags.map((flag) => describe(flag, columns)).join('')}
${helpRows(others, columns)}`;
}

function describe({ name, kind, choices, description, fallback, range, isRequired }: Flag, columns?: number): string {
  const value =
    kind === 'switch'
      ? ''
      : choices.length > 0
        ? ` ${choices.join('|')}`
        : kind === 'pairs'
          ? ' "NAME: VALUE"'
          : kind === 'number'
            ? ' N'
            : ' TEXT';
  const isOn = kind === 'switch' && fallback === 'true';
  const bounds = range === undefined || choices.length > 0 ? '' : ` Range: ${range}.`;
  const note = isRequired ? ' Required.' : fallback === undefined || kind === 'switch' ? '' : ` Default: ${fallback}.`;
  return helpRow(
    `--${isOn ? 'no-' : ''}${name}${value}`,
    `${isOn ? negated(description) : description}${bounds}${note}`,
    columns,
  );
}

/** The description of a switch is in the imperative, so that its negation can be put in front. */
function negated(description: string): string {
  return `Do not ${description.charAt(0).toLowerCase()}${description.slice(1)}`;
}

export function helpRows(flags: HelpFlags, columns?: number): string {
  return Object.entries(flags)
    .map(([name, { type, value = 'TEXT', description }]) =>
      helpRow(`--${name}${type === 'string' ? ` ${value}` : ''}`, description, columns),
    )
    .join('');
}

/** A name and its description, wrapped to the width of the terminal. */
export function helpRow(name: string, text: string, columns?: number): string {
  const indent = ' '.repeat(NAME_WIDTH);
  const first = `  ${name}`.padEnd(NAME_WIDTH);
  const head = first.length > NAME_WIDTH ? `${first}\n${indent}` : first;
  return `${head}${wrapped(text, widthOf(columns) - NAME_WIDTH).join(`\n${indent}`)}\n`;
}

/** Text wrapped to the width of the terminal. */
export function wrapText(text: string, columns?: number): string {
  return wrapped(text, widthOf(columns)).join('\n');
}

/** A terminal of unknown size, such as a serial line, reports 0 columns. */
function widthOf(columns: number | undefined): number {
  return Math.max(FEWEST_COLUMNS, Math.min(columns || COLUMNS, COLUMNS));
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
