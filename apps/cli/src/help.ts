import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import { checkFlagsOf, commonFlags } from './common-flags.ts';
import { flagsOf, type Flag } from './flags.ts';

const NAME_WIDTH = 26;
const TEXT_WIDTH = 72;

/** @param of the check type to tell about; undefined for all of the program */
export function helpText(of: CheckTypeName | undefined): string {
  return of === undefined ? overview() : checkHelp(checkTypes[of] as AnyCheckType);
}

function overview(): string {
  const types = Object.values<AnyCheckType>(checkTypes).map(({ type, summary }) => row(type, summary));
  return `Measures a host from the probes of a Vantage service.

  vantage TYPE HOST [flags]     such as: vantage ping example.com --from de,AS3320

${types.join('')}
${row('show ID', 'The results of a check, live while it runs.')}${row('probes', 'The probes and their status.')}${row(
    'me',
    'Your address as the service sees it.',
  )}${row('completion SHELL', 'A script for bash, zsh or fish.')}${row('help TYPE', 'The flags of a check.')}
Flags of every check:

${flagRows(checkFlagsOf(checkTypes.ping))}${flagRows(commonFlags)}
Exit status: 0 every probe that could measure had success; 1 one had a failure or a timeout; 2 the words or the
request are not valid; 3 the service cannot be reached or failed; 4 no probe could measure.
`;
}

function checkHelp(checkType: AnyCheckType): string {
  const { type, summary, hostKind } = checkType;
  const flags = flagsOf(checkType);
  const host = hostKind === 'url' ? 'URL' : hostKind === 'name' ? 'NAME' : 'HOST';
  const words = flags
    .filter(({ place, kind }) => place === 'field' && kind !== 'switch')
    .map(({ name, isRequired }) => (isRequired ? ` ${name.toUpperCase()}` : ` [${name.toUpperCase()}]`));
  return `${summary}

  vantage ${type} ${host}${words.join('')} [flags]

${flags.map(describe).join('')}
${flagRows(checkFlagsOf(checkType))}${flagRows(commonFlags)}`;
}

function describe({ name, kind, choices, description, fallback, isRequired }: Flag): string {
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
  const note = isRequired ? ' Required.' : fallback === undefined || kind === 'switch' ? '' : ` Default: ${fallback}.`;
  return row(`--${isOn ? 'no-' : ''}${name}${value}`, `${isOn ? 'Not: ' : ''}${description}${note}`);
}

function flagRows(
  flags: Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly description: string }>>,
): string {
  return Object.entries(flags)
    .map(([name, { type, description }]) => row(`--${name}${type === 'string' ? ' TEXT' : ''}`, description))
    .join('');
}

/** A name and what it means, in lines of a width that every terminal has. */
function row(name: string, text: string): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length >= TEXT_WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  const indent = ' '.repeat(NAME_WIDTH);
  const first = `  ${name}`.padEnd(NAME_WIDTH);
  const head = first.length > NAME_WIDTH ? `${first}\n${indent}` : first;
  return `${head}${lines.join(`\n${indent}`)}\n`;
}
