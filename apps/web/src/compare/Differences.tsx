import type { Comparison } from '@vantage/contract';
import type { JSX } from 'preact';

import { Section } from '../parts/section.tsx';
import { Badge } from '../parts/tone.tsx';

/** The values of both checks for each difference, probe by probe. */
export function Differences({ comparison }: { readonly comparison: Comparison }): JSX.Element | null {
  const rows = Object.entries(comparison.probes).flatMap(([probe, { differences }]) =>
    differences.map((difference) => ({ probe, difference })),
  );
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
            {rows.map(({ probe, difference: { subject, name, family, a, b, certain } }) => (
              <tr key={`${probe} ${family} ${subject} ${name}`}>
                <th scope="row">{family === undefined ? probe : `${probe} IPv${family}`}</th>
                <td>{name === null ? subject : `${subject}: ${name}`}</td>
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
    </Section>
  );
}

function valueText(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.join(', ');
}
