import type { JSX } from 'preact';

/** A sentence of a schema; names in backticks become code elements. */
export function Prose({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
