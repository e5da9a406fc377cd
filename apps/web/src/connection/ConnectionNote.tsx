import type { JSX } from 'preact';

import { plural } from '../format.ts';
import { ToneMark } from '../parts/tone.tsx';
import { useSecondsUntil } from '../parts/use-seconds-until.ts';
import type { ConnectionProblem } from './connection-problem.ts';

/**
 * Explains why the page is not updated, and counts down to the next attempt, if there is one. Offers no reload after a
 * final refusal: it would only lose what the page shows.
 */
export function ConnectionNote({ connectionProblem }: { readonly connectionProblem: ConnectionProblem }): JSX.Element {
  const { text, retryAt } = connectionProblem;
  return (
    <div class="trouble">
      <ToneMark tone="warn" />
      <p>
        {text} {retryAt === undefined ? null : <Again at={retryAt} />}
      </p>
    </div>
  );
}

function Again({ at }: { readonly at: number }): JSX.Element {
  const seconds = useSecondsUntil(at);
  return <>{seconds === 0 ? 'Trying again.' : `Trying again in ${plural(seconds, 'second')}.`}</>;
}
