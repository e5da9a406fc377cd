import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

export function Section(props: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}): JSX.Element {
  const id = useId();
  return (
    <section class={`card ${props.class ?? ''}`} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{props.title}</h2>
        {props.note === undefined ? null : <div class="note">{props.note}</div>}
      </header>
      {props.children}
    </section>
  );
}
