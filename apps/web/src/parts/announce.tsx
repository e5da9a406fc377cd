import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Time for which a text must stand before it is read out: what changes many times a second would never be heard. */
const SETTLE_MS = 600;

/** Says a text to screen readers, politely, when it has stopped changing. */
export function Announce({ text }: { readonly text: string }): JSX.Element {
  const [said, say] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => say(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="unseen" role="status">
      {said}
    </p>
  );
}
