import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { plural } from '../format.ts';

/** Counts the seconds down to when a request may be sent again. */
export function RetryNote({ at }: { readonly at: number }): JSX.Element {
  const left = (): number => Math.max(0, Math.ceil((at - performance.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 250);
    return () => clearInterval(timer);
  }, [at]);
  return <p class="note">{seconds === 0 ? 'You can try again now.' : `Try again in ${plural(seconds, 'second')}.`}</p>;
}
