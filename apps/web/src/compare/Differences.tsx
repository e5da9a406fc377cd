import type { Comparison } from '@vantage/contract';
import type { JSX } from 'preact';

import { Section } from '../parts/section.tsx';
import { Badge } from '../parts/tone.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { usePrinting } from '../parts/use-growing.ts';
import { probesByDifference } from './by-difference.ts';

/** The values of both checks for each difference, probe by probe. */
export function Differences({ comparison }: { readonly comparison: Comparison }): JSX.Element | null {
  const rows = probesByDifference(comparison).flatMap((probe) =>
    comparison.probes[probe]!.differences.map((difference) => ({ probe, difference })),
  );
  const [shown, more] = useFirst(rows, usePrinting());
  if (rows.length === 0) return null;
  return (
    <Section title="Differences">
      <div class="scroll" tabIndex={0} role="group" aria-label="Differences by probe">
        <table class="differences">
          <thead>
            <tr>
              {['Probe', 'Subject', 'First', 'Second', 'Certainty'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ probe, difference: { subject, name, family, a, b, certain } }) => (
              <tr key={`${probe} ${family} ${subject} ${name}`}>
                <th scope="row">{family === undefined ? probe : `${probe} IPv${family}`}</th>
                <td>{subjectText(subject, name)}</td>
                <td>{valueText(a)}</td>
                <td>{valueText(b)}</td>
                <td>
                  <Badge tone={certain ? 'bad' : 'warn'}>{certain ? 'Differs' : 'Unsure'}</Badge>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </Section>
  );
}

function subjectText(subject: string, name: string | null): string {
  // The figures below have another time of the probe, such as the average, so this one is named.
  if (subject === 'rtt') return 'round trip (median)';
  return name === null ? subject : `${subject}: ${name}`;
}

function valueText(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.join(', ');
}
