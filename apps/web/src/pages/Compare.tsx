import type { Comparison } from '@vantage/contract';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { requestOf, sentBy } from '../check/request.ts';
import { headingClass, nameOfCheck } from '../check/name.ts';
import type { CheckData } from '../check/use-check.ts';
import { ConnectionNote } from '../connection/ConnectionNote.tsx';
import { Age } from '../clock/Age.tsx';
import { ComparedFigures } from '../compare/ComparedFigures.tsx';
import { ComparedPaths } from '../compare/ComparedPaths.tsx';
import { ComparedPhases } from '../compare/ComparedPhases.tsx';
import { Differences } from '../compare/Differences.tsx';
import { useComparison, type Compared } from '../compare/use-comparison.ts';
import { clockTime } from '../format.ts';
import { Announce } from '../parts/announce.tsx';
import { Link, useService } from '../parts/router.tsx';
import { ToneMark, type Tone } from '../parts/tone.tsx';

interface CompareProps {
  readonly a: string;
  readonly b: string;
  /**
   * True if the second check repeated the first one with default options, because those of the first one were not
   * known.
   */
  readonly hasDefaults: boolean;
}

const DEFAULTS =
  'Measured again with the default options: those of the first check are known only where it was started, ' +
  'but for the few that its results repeat. What is the same or differs here may be due to other options.';

/** A note about request fields that are not known or not shown, and may therefore differ; empty if there are none. */
function noteOf({ a, b }: Compared, hasDefaults: boolean): string {
  if (hasDefaults && a.request === undefined) return DEFAULTS;
  const hidden = (a.request?.withheld ?? []).filter((name) => b.request?.withheld?.includes(name) === true);
  const areKnown = sentBy(a) !== undefined && sentBy(b) !== undefined;
  if (hidden.length === 0 || areKnown) return '';
  return `Both checks were sent with ${hidden.join(' and ')} that are not shown, and may differ.`;
}

/** The comparison of two checks, which is loaded once both are completed. */
export function ComparePage({ a, b, hasDefaults }: CompareProps): JSX.Element {
  const { client } = useService();
  const state = useComparison(client, a, b);
  useEffect(() => {
    // The title until the target of the checks is known.
    if (state.kind !== 'shown') document.title = 'Comparison · Vantage';
  }, [state.kind]);
  if (state.kind === 'shown') return <Shown compared={state.compared} note={noteOf(state.compared, hasDefaults)} />;
  if (state.kind === 'failed') {
    return (
      <main class="page plain">
        <h1>The checks cannot be compared</h1>
        <p class="lead">{state.message}</p>
        <p>
          <Link to={`/c/${a}`}>The first check</Link> · <Link to={`/c/${b}`}>The second check</Link>
        </p>
      </main>
    );
  }
  const { connectionProblem } = state;
  return (
    <main class="page" aria-busy="true">
      <h1 class="unseen">Comparison</h1>
      {connectionProblem === undefined ? (
        <p class="note loading">Both checks must be completed first</p>
      ) : (
        <ConnectionNote connectionProblem={connectionProblem} />
      )}
      <Announce text={connectionProblem?.text ?? 'Waiting for both checks.'} />
    </main>
  );
}

const words: Readonly<Record<Comparison['result'], readonly [Tone, string]>> = {
  same: ['good', 'Same'],
  unsure: ['warn', 'Unsure'],
  different: ['bad', 'Different'],
};

function Shown({ compared, note }: { readonly compared: Compared; readonly note: string }): JSX.Element {
  const { comparison, a, b } = compared;
  const [tone, word] = words[comparison.result];
  const { kind, target } = nameOfCheck(a.type, a.host, requestOf(a));
  useEffect(() => {
    document.title = `Comparison of ${kind} ${target} · Vantage`;
  }, [kind, target]);
  return (
    <main class="page">
      <div class="result-head">
        <h1 class={headingClass(target)}>
          <span class="type">{kind}</span> <span class="target">{target}</span>
        </h1>
        <p class="note">
          <Which check={a} name="First" /> · <Which check={b} name="Second" />
        </p>
      </div>
      <section class="card" aria-label="Comparison">
        {note === '' ? null : <p>{note}</p>}
        <div class="verdict">
          <p class="verdict-line">
            <span class={`verdict-word ${tone}`}>
              <ToneMark tone={tone} />
              {word}
            </span>
          </p>
          <p class="headline">{comparison.sentence}</p>
        </div>
      </section>
      <Differences comparison={comparison} />
      <ComparedFigures {...compared} />
      <ComparedPaths comparison={comparison} />
      <ComparedPhases {...compared} />
      <Announce text={`${note} ${comparison.sentence}`.trim()} />
    </main>
  );
}

function Which({ check, name }: { readonly check: CheckData; readonly name: string }): JSX.Element {
  const { testId, createdAt } = check;
  return (
    <span title={clockTime(createdAt)}>
      <Link to={`/c/${testId}`}>{`${name} check`}</Link> <Age of={createdAt} />
    </span>
  );
}
