import { piece, table, type Line } from '@vantage/command-line';
import type { Monitor } from '@vantage/contract';

const MOST_SHOWN = 10;

/** The last changes of the path, newest first, each with the command that compares its checks while they are kept. */
export function pathChangeLines({ pathChanges }: Partial<Pick<Monitor, 'pathChanges'>>): readonly Line[] {
  // A service of an earlier release lists none.
  const all = pathChanges ?? [];
  if (all.length === 0) return [];
  const shown = all.slice(0, MOST_SHOWN);
  const heads = table(shown.map(({ at, change }) => [piece(`${at.slice(0, 19)}Z`), piece(change)]));
  const rest = all.length - shown.length;
  return [
    [piece('')],
    [piece('Path changes', 'bold')],
    ...shown.map(({ sentence, changes, checkId }, index) => {
      const compared = changes.find(({ kept }) => kept);
      const command = compared === undefined ? [] : [piece(`  vantage compare ${compared.before} ${checkId}`, 'dim')];
      return [...heads[index]!, piece(sentence), ...command];
    }),
    ...(rest > 0 ? [[piece(`${rest} earlier, which --json lists`, 'dim')]] : []),
  ];
}
