import type { ComponentChildren, JSX } from 'preact';

/** Rating of a value. Tables and cards show it by a shape or a word in addition to the colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'mute' | 'wait';

const marks: Readonly<Record<Tone, string>> = {
  good: 'M3.5 8.4l3 3 6-6.6',
  warn: 'M8 4v5M8 11.6v.2',
  bad: 'M4.6 4.6l6.8 6.8M11.4 4.6l-6.8 6.8',
  mute: 'M4 8h8',
  wait: 'M8 8h.01',
};

/** A disc with a shape, since colour alone is not accessible. */
export function ToneMark({ tone }: { readonly tone: Tone }): JSX.Element {
  return (
    <svg class={`tone ${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="8" />
      <path d={marks[tone]} />
    </svg>
  );
}

export function Badge(props: { readonly tone: Tone; readonly children: ComponentChildren }): JSX.Element {
  return (
    <span class={`badge ${props.tone}`}>
      <ToneMark tone={props.tone} />
      {props.children}
    </span>
  );
}
