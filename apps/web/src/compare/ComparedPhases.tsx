import type { JSX } from 'preact';

import { duration } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { useFirst } from '../parts/use-first.tsx';
import { usePrinting } from '../parts/use-growing.ts';
import { ScaleAxis } from '../views/Axis.tsx';
import { Legend, Waterfall } from '../views/HttpView.tsx';
import { scaleTo } from '../views/scale.ts';
import type { Timings } from '../phases.ts';
import { probesByDifference } from './by-difference.ts';
import { measurementPairs } from './measurement-pairs.ts';
import type { Compared } from './use-comparison.ts';

const ORDINALS = ['first', 'second'];

/** The phases of both requests of each probe, one below the other. */
export function ComparedPhases({ comparison, a, b }: Compared): JSX.Element | null {
  const pairs = measurementPairs(probesByDifference(comparison), a, b).map(([probe, ...results]) => ({
    probe,
    both: results.map((result) => result['timings'] as Timings | undefined),
  }));
  const [shown, more] = useFirst(pairs, usePrinting());
  if (comparison.type !== 'http' || pairs.length === 0) return null;
  const all = pairs.flatMap(({ both }) => both);
  const scale = scaleTo(
    all.map((timings) => timings?.total ?? 0),
    5,
  );
  return (
    <Section title="Where the time went" note={<Legend of={all} />} class="http-view">
      <div class="strips">
        {shown.flatMap(({ probe, both }) =>
          both.map((timings, index) => (
            <div key={`${probe} ${index}`} class="strip-row one">
              <span>
                {index === 0 ? <strong>{probe}</strong> : null} <span class="note">{ORDINALS[index]}</span>
              </span>
              <Waterfall timings={timings} scale={scale} />
              <span class="row-value">{duration(timings?.total)}</span>
            </div>
          )),
        )}
        <div class="strip-row one axis-row">
          <span />
          <ScaleAxis scale={scale} />
        </div>
      </div>
      {more}
    </Section>
  );
}
