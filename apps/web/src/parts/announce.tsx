import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Time for which a text must stay the same before it is announced. */
const SETTLE_MS = 600;

/** Announces a text to screen readers (politely) once it stops changing. */
export function Announce({ text }: { readonly text: string }): JSX.Element {
  const [announced, announce] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => announce(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="unseen" role="status">
      {announced}
    </p>
  );
}
