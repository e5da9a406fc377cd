import type { JSX } from 'preact';

import { cellsOf, columnsOf } from '../check/columns.ts';
import { Section } from '../parts/section.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { usePrinting } from '../parts/use-growing.ts';
import { probesByDifference } from './by-difference.ts';
import { measurementPairs } from './measurement-pairs.ts';
import type { Compared } from './use-comparison.ts';

/** The figures of both checks, probe by probe, whether they differ or not. */
export function ComparedFigures({ comparison, a, b }: Compared): JSX.Element | null {
  const pairs = measurementPairs(probesByDifference(comparison), a, b);
  const [shown, more] = useFirst(pairs, usePrinting());
  if (pairs.length === 0) return null;
  const columns = columnsOf(comparison.type);
  return (
    <Section title="Figures">
      <div class="scroll" tabIndex={0} role="group" aria-label="Figures by probe">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Probe</th>
              {columns.map(({ key, title }) => (
                <th key={key} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(([probe, ...results]) => {
              const [first, second] = results.map((result) => cellsOf(comparison.type, result));
              return (
                <tr key={probe}>
                  <th scope="row">{probe}</th>
                  {first!.map(([title, text], index) => (
                    <td key={title}>{bothText(text, second![index]![1])}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {more}
    </Section>
  );
}

function bothText(first: string, second: string): string {
  if (first === second) return first;
  // A line may end behind the arrow, not between a number and its unit.
  return `${first} →\n${second}`.replaceAll(' ', '\u00A0');
}
