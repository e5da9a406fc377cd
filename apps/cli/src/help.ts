import { checkHelp, helpRow, helpRows } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import type { HelpTopic } from './command/command.ts';
import { checkFlagsOf, commonFlags, monitorFlags, selectionFlags } from './command/common-flags.ts';

/** @param of undefined for the program */
export function helpText(of: HelpTopic | undefined): string {
  if (of === undefined) return overview();
  if (of === 'monitors') return monitorsHelp();
  const checkType: AnyCheckType = checkTypes[of];
  return checkHelp('vantage', checkType, { ...checkFlagsOf(checkType), ...commonFlags });
}

function overview(): string {
  const types = Object.values<AnyCheckType>(checkTypes).map(({ type, summary }) => helpRow(type, summary));
  const commands = [
    helpRow('mtr HOST', 'A traceroute in rounds, one a second, drawn live: --rounds 10 unless set.'),
    helpRow('show ID', 'The results of a check, live while it runs.'),
    helpRow('compare ID ID', 'The differences between two completed checks of one type.'),
    helpRow('probes', 'The probes and their status.'),
    helpRow('me', 'Your address as the service sees it.'),
    helpRow('monitors', 'The checks that repeat, and their state; see: vantage help monitors.'),
    helpRow('completion SHELL', 'A script for bash, zsh or fish.'),
    helpRow('help TYPE', 'The flags of a check.'),
  ];
  return `Measures a host from the probes of a Vantage service.

  vantage TYPE HOST [flags]

Such as: vantage ping example.com --from de,AS3320

${types.join('')}
${commands.join('')}
Flags of every check:

${helpRows(checkFlagsOf(checkTypes.ping))}${helpRows(commonFlags)}
Exit status: 0 every probe that could measure succeeded; 1 one had a failure or
a timeout, or compare found a difference; 2 the arguments or the request are
invalid, or the output cannot be written; 3 the service is unreachable or
failed; 4 no probe could measure; 130 interrupted by Ctrl-C; 141 nothing reads
the output any more.
`;
}

function monitorsHelp(): string {
  const commands = [
    helpRow('list', 'All monitors with their state; without a command the same.'),
    helpRow('show NAME', 'The state at each probe over the last runs, oldest first: . ok, x failing, - unmeasured.'),
    helpRow('watch NAME', 'Changes as they come, until Ctrl-C; with --json runs too, one event a line.'),
    helpRow('put NAME TYPE HOST', 'Makes a monitor, or replaces it; takes the flags of the check type too.'),
    helpRow('delete NAME', 'Removes a monitor with its runs.'),
  ];
  return `Shows and changes monitors: checks that repeat, with an alarm when probes agree.

  vantage monitors COMMAND [flags]

Such as: vantage monitors put web http example.com --every 60s --when "3 of 5"

${commands.join('')}
put and delete need an API key with the scope monitor. Flags of put:

${helpRows(selectionFlags)}${helpRows(monitorFlags)}
${helpRows(commonFlags)}
Exit status of list and show: 0 ok; 1 a monitor is bad; 4 none is bad, and one
is unknown.
`;
}
