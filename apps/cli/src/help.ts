import { checkHelp, helpRow, helpRows } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import { checkFlagsOf, commonFlags } from './common-flags.ts';

/** @param of check type; undefined for the program */
export function helpText(of: CheckTypeName | undefined): string {
  if (of === undefined) return overview();
  const checkType: AnyCheckType = checkTypes[of];
  return checkHelp('vantage', checkType, { ...checkFlagsOf(checkType), ...commonFlags });
}

function overview(): string {
  const types = Object.values<AnyCheckType>(checkTypes).map(({ type, summary }) => helpRow(type, summary));
  const commands = [
    helpRow('show ID', 'The results of a check, live while it runs.'),
    helpRow('probes', 'The probes and their status.'),
    helpRow('me', 'Your address as the service sees it.'),
    helpRow('completion SHELL', 'A script for bash, zsh or fish.'),
    helpRow('help TYPE', 'The flags of a check.'),
  ];
  return `Measures a host from the probes of a Vantage service.

  vantage TYPE HOST [flags]     such as: vantage ping example.com --from de,AS3320

${types.join('')}
${commands.join('')}
Flags of every check:

${helpRows(checkFlagsOf(checkTypes.ping))}${helpRows(commonFlags)}
Exit status: 0 every probe that could measure succeeded; 1 one had a failure or a timeout; 2 the arguments
or the request are invalid; 3 the service is unreachable or failed; 4 no probe could measure.
`;
}
