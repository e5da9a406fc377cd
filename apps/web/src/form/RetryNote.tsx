import type { JSX } from 'preact';

import { plural } from '../format.ts';
import { useSecondsUntil } from '../parts/use-seconds-until.ts';

/** Countdown to the next permitted request. Screen readers announce only its end, not every second. */
export function RetryNote({ at }: { readonly at: number }): JSX.Element {
  const seconds = useSecondsUntil(at);
  return (
    <div class="retry">
      {seconds === 0 ? null : <p class="note">Try again in {plural(seconds, 'second')}.</p>}
      <p class="note" role="status">
        {seconds === 0 ? 'You can try again now.' : ''}
      </p>
    </div>
  );
}
