import type { JSX } from 'preact';

import type { Scale } from './scale.ts';

export function ScaleAxis({ scale }: { readonly scale: Scale }): JSX.Element {
  return (
    <div class="axis" aria-hidden="true">
      {scale.ticks.map((tick, index) => (
        <span key={tick} style={{ left: `${scale.percent(tick)}%` }} class={edge(index, scale.ticks.length)}>
          {written(tick)}
          {index === scale.ticks.length - 1 ? (scale.max >= 1000 ? ' s' : ' ms') : ''}
        </span>
      ))}
    </div>
  );

  function written(tick: number): string {
    return String(Number((scale.max >= 1000 ? tick / 1000 : tick).toPrecision(3)));
  }
}

function edge(index: number, count: number): string {
  if (index === 0) return 'first';
  return index === count - 1 ? 'last' : '';
}
