import type { Probes } from '@vantage/contract';
import type { JSX } from 'preact';

import { plural } from '../../format.ts';
import { placesOf } from './places.ts';

/** Buttons for the countries, networks and tags of the probes that are not offline, with their number of probes. */
export function Places(props: {
  readonly probes: Probes;
  /** Text of the field `locations`. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}): JSX.Element | null {
  const { probes, value, onChange } = props;
  const chosen = value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const groups = placesOf(probes).filter(({ places }) => places.length > 0);
  if (groups.length === 0) return null;
  const toggle = (code: string): void => {
    const rest = chosen.filter((part) => part.toLowerCase() !== code.toLowerCase());
    onChange((rest.length < chosen.length ? rest : [...chosen, code]).join(', '));
  };
  return (
    <div class="places">
      {groups.map(({ titles, places }) => (
        <details key={titles[0]}>
          <summary>{plural(places.length, ...titles)}</summary>
          <div class="chips">
            {places.map(({ code, name, count }) => (
              <button
                key={code}
                type="button"
                class="chip"
                aria-pressed={chosen.some((part) => part.toLowerCase() === code.toLowerCase())}
                onClick={() => toggle(code)}
              >
                {name} {count}
              </button>
            ))}
          </div>
        </details>
      ))}
    </div>
  );
}
