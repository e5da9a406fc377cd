import type { Monitor, Run } from '@vantage/contract';
import type { JSX } from 'preact';

import { clockTime, compareNames, plural } from '../format.ts';
import { useRouter } from '../parts/router.tsx';

type RunState = Run['results'][string]['state'];

const [HEIGHT, WIDTH] = [28, 600];
/** Height of a bar in addition to its colour, because colour alone is not accessible. */
const heights: Readonly<Record<RunState, number>> = { ok: 16, failing: HEIGHT, unmeasured: 5 };
/** Least number of columns of a row, so that the bars of a few runs are not wide. */
const FEWEST_COLUMNS = 40;

interface Place {
  readonly x: number;
  readonly width: number;
}

function placeOf(index: number, count: number): Place {
  const step = WIDTH / Math.max(count, FEWEST_COLUMNS);
  return { x: WIDTH - (count - index) * step, width: step };
}

/** One probe over the last runs, oldest first; a bar leads to its check. */
export function RunBars(props: {
  readonly probe: string;
  /** Oldest first. */
  readonly runs: readonly Run[];
  readonly changedAt: string | null;
  /** Ticks at which the path from the probe had changed. */
  readonly pathChangedAt: ReadonlySet<number>;
}): JSX.Element {
  const { probe, runs, changedAt, pathChangedAt } = props;
  const { go } = useRouter();
  const states = runs.map(({ results }) => stateAt(results, probe));
  const count = (state: RunState): number => states.filter((one) => one === state).length;
  const moved = runs.flatMap(({ tick }, index) => (pathChangedAt.has(tick) ? index : []));
  const label = `${plural(runs.length, 'run')}: ${count('ok')} ok, ${count('failing')} failing, ${count('unmeasured')} unmeasured${moved.length === 0 ? '' : `; path changed at ${moved.length}`}`;
  return (
    <svg class="run-bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {runs.map((run, index) => {
        const state = states[index];
        if (state === undefined) return null;
        const { x, width } = placeOf(index, runs.length);
        const reason = run.results[probe]?.reason ?? null;
        const { checkId } = run;
        return (
          <rect
            key={run.tick}
            class={state}
            x={x + width * 0.1}
            y={HEIGHT - heights[state]}
            width={width * 0.8}
            height={heights[state]}
            onClick={() => {
              if (checkId !== null) go(`/c/${checkId}`);
            }}
          >
            <title>{`${clockTime(run.scheduledAt)}: ${state}${reason === null ? '' : `. ${reason}`}`}</title>
          </rect>
        );
      })}
      {moved.map((index) => (
        <Mark key={index} class="moved" index={index} count={runs.length} />
      ))}
      <Mark class="change" index={runs.findIndex(({ scheduledAt }) => scheduledAt === changedAt)} count={runs.length} />
    </svg>
  );
}

/** A vertical line before the bar of a run; none for a negative index. */
function Mark(props: { readonly class: string; readonly index: number; readonly count: number }): JSX.Element | null {
  if (props.index < 0) return null;
  const { x } = placeOf(props.index, props.count);
  return <line class={props.class} x1={x} x2={x} y1="0" y2={HEIGHT} />;
}

function stateAt(results: Run['results'], probe: string): RunState | undefined {
  return Object.hasOwn(results, probe) ? results[probe]!.state : undefined;
}

/** The probes of all runs: those of the last run in the order failing, unmeasured, ok, then others; ties by name. */
export function probesOf({ probes, runs }: Monitor): readonly string[] {
  const order: Readonly<Record<string, number>> = { failing: 0, unmeasured: 1, ok: 2 };
  const rank = (probe: string): number => (Object.hasOwn(probes, probe) ? order[probes[probe]!.state]! : 3);
  const all = new Set([...Object.keys(probes), ...runs.flatMap(({ results }) => Object.keys(results))]);
  return [...all].toSorted((a, b) => rank(a) - rank(b) || compareNames(a, b));
}
