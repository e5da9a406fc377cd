import type { Comparison, PathRelation } from '@vantage/contract';
import type { JSX } from 'preact';

import { Section } from '../parts/section.tsx';
import { Badge, type Tone } from '../parts/tone.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { usePrinting } from '../parts/use-growing.ts';
import { probesByDifference } from './by-difference.ts';
import { hopRowsOf } from './hop-rows.ts';

const relations: Readonly<Record<PathRelation, readonly [Tone, string]>> = {
  same: ['good', 'Same'],
  compatible: ['good', 'Compatible'],
  unsure: ['warn', 'Unsure'],
  changed: ['bad', 'Changed'],
  not_compared: ['mute', 'Not compared'],
};

/** The paths of each probe, hop by hop in one table. */
export function ComparedPaths({ comparison }: { readonly comparison: Comparison }): JSX.Element | null {
  const paths = probesByDifference(comparison).flatMap((probe) => {
    const { path, otherPath } = comparison.probes[probe]!;
    if (path === undefined || otherPath === undefined) return path === undefined ? [] : [[probe, path] as const];
    return [[`${probe} IPv4`, path] as const, [`${probe} IPv6`, otherPath] as const];
  });
  const [shown, more] = useFirst(paths, usePrinting());
  if (paths.length === 0) return null;
  return (
    <Section title="Paths" note="Silent hops and alternatives of load balancers are no change">
      {shown.map(([probe, path]) => {
        const [tone, word] = relations[path.relation];
        return (
          <details key={probe} class="more" open={path.changes.length > 0}>
            <summary>
              {probe} <Badge tone={tone}>{word}</Badge>
            </summary>
            <div class="scroll" tabIndex={0} role="group" aria-label={`Hops from ${probe}`}>
              <table class="compared">
                <thead>
                  <tr>
                    <th scope="col">First</th>
                    <th scope="col">Second</th>
                  </tr>
                </thead>
                <tbody>
                  {hopRowsOf(path).map(({ a, b, differs }, index) => (
                    <tr key={index} class={differs ? 'differs' : ''}>
                      <td>{hopText(a)}</td>
                      <td>{hopText(b)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </details>
        );
      })}
      {more}
    </Section>
  );
}

function hopText(addresses: readonly string[] | undefined): string {
  if (addresses === undefined) return '–';
  return addresses.length === 0 ? 'no answer' : addresses.join(' or ');
}
