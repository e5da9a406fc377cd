import { flagsOf } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypeNames, checkTypes } from '@vantage/diagnostics/contract';

import { monitorVerbs } from '../monitors/monitor-action.ts';
import { checkFlagsOf, commonFlags, csvFlag, monitorFlags, selectionFlags } from './common-flags.ts';
import { helpTopics } from './help-topics.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Generates a completion script for commands and flags. */
export function completionScript(shell: Shell): string {
  return { bash, zsh: () => `autoload -U +X bashcompinit && bashcompinit\n${bash()}`, fish }[shell]();
}

/**
 * The words to complete after each command: its flags, with `--no-` for the switches of a check type, and the verbs,
 * check types, shells or topics that it takes.
 */
function wordsByCommand(): ReadonlyMap<string, readonly string[]> {
  const common = Object.keys(commonFlags).map(dashed);
  const ofCheck = (checkType: AnyCheckType): readonly string[] => {
    const own = flagsOf(checkType).flatMap(({ name, kind }) =>
      kind === 'switch' ? [dashed(name), dashed(`no-${name}`)] : [dashed(name)],
    );
    return [...own, ...Object.keys(checkFlagsOf(checkType)).map(dashed), ...common];
  };
  return new Map<string, readonly string[]>([
    ...Object.values<AnyCheckType>(checkTypes).map((checkType) => [checkType.type, ofCheck(checkType)] as const),
    ['mtr', ofCheck(checkTypes.traceroute)],
    ['show', [...common, ...Object.keys(csvFlag).map(dashed)]],
    ['compare', common],
    ['probes', common],
    ['me', common],
    [
      'monitors',
      [
        ...monitorVerbs,
        ...checkTypeNames,
        ...Object.keys({ ...selectionFlags, ...monitorFlags }).map(dashed),
        ...common,
      ],
    ],
    ['completion', shells],
    ['help', [...checkTypeNames, ...helpTopics]],
  ]);
}

function bash(): string {
  const words = wordsByCommand();
  const cases = [...words].map(([command, after]) => `    ${command}) words="${after.join(' ')}" ;;`);
  return `_vantage() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${[...words.keys()].join(' ')}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${[...words.keys()].join(' ')}"; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _vantage vantage
`;
}

function fish(): string {
  const words = wordsByCommand();
  const first = `complete -c vantage -f -n __fish_use_subcommand -a '${[...words.keys()].join(' ')}'`;
  const after = [...words].flatMap(([command, all]) =>
    all.map((word) => {
      const condition = `-n '__fish_seen_subcommand_from ${command}'`;
      return word.startsWith('--')
        ? `complete -c vantage ${condition} -l ${word.slice(2)}`
        : `complete -c vantage -f ${condition} -a ${word}`;
    }),
  );
  return `${[first, ...after].join('\n')}\n`;
}

function dashed(name: string): string {
  return `--${name}`;
}
