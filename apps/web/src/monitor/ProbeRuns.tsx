import type { Monitor } from '@vantage/contract';
import type { JSX } from 'preact';

import { Age } from '../clock/Age.tsx';
import { clockTime, duration, percent, placeOf } from '../format.ts';
import { Section } from '../parts/section.tsx';
import { Badge } from '../parts/tone.tsx';
import { useProbes } from '../parts/use-probes.tsx';
import { probeTones } from './monitor-text.ts';
import { probesOf, RunBars } from './RunBars.tsx';

/** A row for each probe: its state in the last run, and a bar for its result in each listed run. */
export function ProbeRuns({ monitor }: { readonly monitor: Monitor }): JSX.Element {
  const known = useProbes() ?? {};
  const { runs, since, probes } = monitor;
  const oldestFirst = runs.toReversed();
  const [first, last] = [oldestFirst.at(0), oldestFirst.at(-1)];
  const isMarked = runs.some(({ scheduledAt }) => scheduledAt === since);
  const moved = pathChangesOf(monitor);
  const isMoved = runs.some(({ tick }) => [...moved.values()].some((ticks) => ticks.has(tick)));
  return (
    <Section
      title="Places"
      class="run-rows"
      note={
        first === undefined
          ? 'No run yet'
          : `${runs.length === 1 ? 'The only run' : `The last ${runs.length} runs`}. Full bar: failing.${isMoved ? ' Dashed line: path changed.' : ''} A bar is its check.`
      }
    >
      <ul>
        {probesOf(monitor).map((probe) => {
          const at = Object.hasOwn(probes, probe) ? probes[probe]! : undefined;
          const place = Object.hasOwn(known, probe) ? placeOf(known[probe]!) : '';
          return (
            <li key={probe}>
              <div class="who">
                <strong>{probe}</strong> <span class="note">{place}</span>
              </div>
              <ProbeState at={at} />
              <RunBars
                probe={probe}
                runs={oldestFirst}
                changedAt={since}
                pathChangedAt={moved.get(probe) ?? new Set()}
              />
              {at === undefined || at.reason === null ? null : <p class="note why">{at.reason}</p>}
            </li>
          );
        })}
      </ul>
      {first === undefined || last === undefined ? null : (
        <p class="note axis-times">
          <span>{clockTime(first.scheduledAt)}</span>
          {isMarked ? (
            <span>
              <span class="change-key" aria-hidden="true" /> {monitor.state} since {clockTime(since)}
            </span>
          ) : null}
          <span>{clockTime(last.scheduledAt)}</span>
        </p>
      )}
    </Section>
  );
}

function ProbeState({ at }: { readonly at: Monitor['probes'][string] | undefined }): JSX.Element {
  return (
    <div class="how">
      {at === undefined ? (
        <span class="note">not in the last run</span>
      ) : (
        <>
          <Badge tone={probeTones[at.state] ?? 'mute'}>{at.state}</Badge>
          <span class="note" title={clockTime(at.since)}>
            since <Age of={at.since} />
          </span>
          {at.flapping ? <span class="reason">flapping</span> : null}
          {at.rtt === null ? null : <span class="note">{duration(at.rtt)}</span>}
          {at.loss === null || at.loss === 0 ? null : <span class="note">{percent(at.loss)} loss</span>}
        </>
      )}
    </div>
  );
}

/** Ticks at which the path had changed, by probe. */
function pathChangesOf({ pathChanges = [] }: Partial<Pick<Monitor, 'pathChanges'>>): ReadonlyMap<string, Set<number>> {
  const ticks = new Map<string, Set<number>>();
  for (const { tick, probes } of pathChanges)
    for (const probe of probes) ticks.set(probe, (ticks.get(probe) ?? new Set()).add(tick));
  return ticks;
}
