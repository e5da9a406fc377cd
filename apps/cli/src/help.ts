import { checkHelp, helpRow, helpRows, wrapText, type HelpFlags } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, isCheckTypeName } from '@vantage/diagnostics/contract';

import { checkFlagsOf, commonFlags, csvFlag, monitorFlags, selectionFlags } from './command/common-flags.ts';
import { shells } from './command/completion.ts';
import type { HelpTopic } from './command/help-topics.ts';
import { MTR_ROUNDS } from './command/mtr-rounds.ts';

type Row = readonly [name: string, text: string];

/**
 * @param of undefined for the program
 * @param columns width of the terminal; undefined if the output is not a terminal
 */
export function helpText(of: HelpTopic | undefined, columns?: number): string {
  if (of === undefined) return overview(columns);
  if (of === 'monitors') return monitorsHelp(columns);
  if (of === 'mtr') return ofCheck(mtr(checkTypes.traceroute), columns);
  return isCheckTypeName(of) ? ofCheck(checkTypes[of], columns) : commandHelp(commandsWithoutCheck[of], columns);
}

function ofCheck(checkType: AnyCheckType, columns: number | undefined): string {
  return checkHelp('vantage', checkType, { ...checkFlagsOf(checkType), ...commonFlags }, columns);
}

/** The check type traceroute under the name `mtr`, with the rounds that this command requests. */
function mtr(traceroute: AnyCheckType): AnyCheckType {
  const options = traceroute.options as Readonly<Record<string, object>>;
  const rounds = { ...options['rounds'], default: Number(MTR_ROUNDS) };
  const summary =
    'A traceroute in rounds, one a second, drawn live. Ctrl-C ends the rounds unless others follow the check.';
  return { ...traceroute, type: 'mtr', summary, options: { ...options, rounds } };
}

const commandsWithoutCheck = {
  show: {
    usage: 'show ID',
    text: 'Shows a check by its id or a link to it, live while it runs, with the command that asks it again.',
    flags: { ...csvFlag, ...commonFlags },
  },
  compare: {
    usage: 'compare ID ID',
    text: 'Shows the differences between two completed checks of one type. Exit status 1 if there are any.',
    flags: commonFlags,
  },
  probes: { usage: 'probes', text: 'Shows the probes and their status.', flags: commonFlags },
  me: { usage: 'me', text: 'Shows your address as the service sees it.', flags: commonFlags },
  completion: {
    usage: `completion ${shells.join('|')}`,
    text: 'Prints a script that completes commands and flags: source <(vantage completion bash)',
    flags: { help: commonFlags.help },
  },
} as const satisfies Readonly<Record<string, { usage: string; text: string; flags: HelpFlags }>>;

function commandHelp(
  { usage, text, flags }: { readonly usage: string; readonly text: string; readonly flags: HelpFlags },
  columns: number | undefined,
): string {
  return `${wrapText(text, columns)}\n\n  vantage ${usage} [flags]\n\n${helpRows(flags, columns)}`;
}

function overview(columns: number | undefined): string {
  const types = Object.values<AnyCheckType>(checkTypes).map(({ type, summary }): Row => [type, summary]);
  const commands: readonly Row[] = [
    ['mtr HOST', `A traceroute in rounds, one a second, drawn live: --rounds ${MTR_ROUNDS} unless set.`],
    ['show ID', 'The results of a check, live while it runs.'],
    ['compare ID ID', 'The differences between two completed checks of one type.'],
    ['probes', 'The probes and their status.'],
    ['me', 'Your address as the service sees it.'],
    ['monitors', 'The checks that repeat, and their state; see: vantage help monitors.'],
    ['completion SHELL', 'A script for bash, zsh or fish.'],
    ['help COMMAND', 'The flags of a check type or of another command.'],
    ['version', 'The version of this program.'],
  ];
  return `${wrapText('Measures a host from the probes of a Vantage service.', columns)}

  vantage TYPE HOST [flags]
  such as: vantage ping example.com --from de,AS3320

${rowsOf(types, columns)}
${rowsOf(commands, columns)}
Flags of every check:

${helpRows(checkFlagsOf(checkTypes.ping), columns)}${helpRows(commonFlags, columns)}
${wrapText(EXIT_STATUS, columns)}
`;
}

const EXIT_STATUS =
  'Exit status: 0 every probe that could measure succeeded; 1 one had a failure or a timeout, or compare found a ' +
  'difference; 2 the arguments or the request are invalid, or the output cannot be written; 3 the service is ' +
  'unreachable or failed; 4 no probe could measure; 130 interrupted by Ctrl-C; 141 nothing reads the output any more.';

function monitorsHelp(columns: number | undefined): string {
  const commands: readonly Row[] = [
    ['list', 'All monitors with their state; without a command the same.'],
    ['show NAME', 'The state at each probe over the last runs, oldest first: . ok, x failing, - unmeasured.'],
    ['watch NAME', 'Changes as they come, until Ctrl-C; with --json runs too, one event a line.'],
    ['put NAME TYPE HOST', 'Makes a monitor, or replaces it; takes the flags of the check type too.'],
    ['delete NAME', 'Removes a monitor with its runs.'],
  ];
  return `${wrapText('Shows and changes monitors: checks that repeat, with an alarm when probes agree.', columns)}

  vantage monitors COMMAND
  such as:
  vantage monitors put web http example.com --every 60s --when "3 of 5"

${rowsOf(commands, columns)}
${wrapText('put and delete need an API key with the scope monitor. Flags of put:', columns)}

${helpRows(selectionFlags, columns)}${helpRows(monitorFlags, columns)}
${helpRows(commonFlags, columns)}
${wrapText('Exit status of list and show: 0 ok; 1 a monitor is bad; 4 none is bad, and one is unknown.', columns)}
`;
}

function rowsOf(rows: readonly Row[], columns: number | undefined): string {
  return rows.map(([name, text]) => helpRow(name, text, columns)).join('');
}
