import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { ConnectionNote } from '../connection/ConnectionNote.tsx';
import type { ConnectionProblem } from '../connection/connection-problem.ts';
import { Announce } from '../parts/announce.tsx';
import { Link } from '../parts/router.tsx';

export function Loading(props: {
  readonly what?: 'check' | 'monitor';
  readonly connectionProblem?: ConnectionProblem | undefined;
}): JSX.Element {
  const { what = 'check', connectionProblem } = props;
  return (
    <main class="page" aria-busy="true">
      <h1 class="unseen">Loading</h1>
      {connectionProblem === undefined ? (
        <p class="note loading">{`Loading the ${what}`}</p>
      ) : (
        <ConnectionNote connectionProblem={connectionProblem} />
      )}
      <Announce text={connectionProblem?.text ?? ''} />
    </main>
  );
}

const UNKNOWN =
  'The results of a check are kept for a while, a day unless the operator says otherwise, and then deleted. Or the ' +
  'link is not complete.';

/** @param reason undefined if the service does not know the check */
export function Gone({ reason = UNKNOWN }: { readonly reason?: string | undefined }): JSX.Element {
  useEffect(() => {
    document.title = 'No such check · Vantage';
  }, []);
  return (
    <main class="page plain">
      <h1>This check is gone</h1>
      <p class="lead">{reason}</p>
      <p>
        <Link to="/">Start a new one</Link>
      </p>
    </main>
  );
}

export function Failed(props: { readonly what?: 'check' | 'monitor'; readonly message: string }): JSX.Element {
  const { what = 'check', message } = props;
  return (
    <main class="page plain">
      <h1>The {what} cannot be shown now</h1>
      <p class="lead">{message}</p>
      <p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </main>
  );
}
