import type { JSX } from 'preact';

import { duration } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { ScaleAxis } from '../views/Axis.tsx';
import { Legend, Waterfall } from '../views/HttpView.tsx';
import { scaleTo } from '../views/scale.ts';
import type { Timings } from '../phases.ts';
import { measurementPairs } from './measurement-pairs.ts';
import type { Compared } from './use-comparison.ts';

/** The phases of both requests of each probe, one below the other. */
export function ComparedPhases({ comparison, a, b }: Compared): JSX.Element | null {
  const rows = measurementPairs(Object.keys(comparison.probes), a, b).flatMap(([probe, ...results]) =>
    results.map((result, index) => ({
      probe,
      which: index === 0 ? 'first' : 'second',
      timings: result['timings'] as Timings | undefined,
    })),
  );
  if (comparison.type !== 'http' || rows.length === 0) return null;
  const scale = scaleTo(
    rows.map(({ timings }) => timings?.total ?? 0),
    5,
  );
  return (
    <Section
      title="Where the time went"
      note={<Legend hasRetries={rows.some(({ timings }) => timings?.retries !== undefined)} />}
      class="http-view"
    >
      <div class="strips">
        {rows.map(({ probe, which, timings }) => (
          <div key={`${probe} ${which}`} class="strip-row one">
            <span>
              {which === 'first' ? <strong>{probe}</strong> : null} <span class="note">{which}</span>
            </span>
            <Waterfall timings={timings} scale={scale} />
            <span class="row-value">{duration(timings?.total)}</span>
          </div>
        ))}
        <div class="strip-row one axis-row">
          <span />
          <ScaleAxis scale={scale} />
        </div>
      </div>
    </Section>
  );
}
