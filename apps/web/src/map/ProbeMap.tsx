import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import type { Tone } from '../parts/tone.tsx';
import { lazyView } from '../parts/view.tsx';
import { placeLabels, spread, type Pin, type LabelSide } from './arrange.ts';
import { MapBox } from './MapBox.tsx';
import { project } from './project.ts';
import { map } from './world-map.ts';

export interface MapProbe {
  readonly id: string;
  readonly name: string;
  /** Degrees, as `longitude`; null if no place is stated: the probe is then shown apart from the others. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly tone: Tone;
  /** A few characters next to the pin. */
  readonly label?: string | undefined;
  /** True if a filter or a selection leaves the probe out. */
  readonly isFaint?: boolean | undefined;
}

export interface ProbeMapProps {
  readonly probes: readonly MapProbe[];
  readonly onChoose?: (id: string) => void;
}

/** Minimum distance of pins, map units. */
const PIN_DISTANCE = 20;
/** Size of the map, of labels and of pins at the usual screen width, map units. */
const ROOM = { width: map.width, height: map.height, character: 11, line: 22, radius: 10 };
const MOST_LABELS = 40;

const land = lazyView(
  async () => (await import('./Land.tsx')).Land,
  () => <MapBox />,
);
void land.load();

/** World map of the probes. Hidden from screen readers, which have its data as text. */
export function ProbeMap({ probes, onChoose }: ProbeMapProps): JSX.Element {
  const placed = probes.filter(({ latitude, longitude }) => latitude !== null && longitude !== null);
  const where = placed.map(({ id, latitude, longitude }) => `${id} ${latitude} ${longitude}`).join('\n');
  const pins = useMemo(
    () =>
      spread(
        placed.map(({ id, latitude, longitude }) => ({ id, ...project(map, latitude!, longitude!) })),
        PIN_DISTANCE,
      ),
    [where],
  );
  const byId = new Map(placed.map((probe) => [probe.id, probe]));
  // Labels of probes with another tone than `good` take precedence.
  const inTurn = pins.toSorted(
    (a, b) => Number(byId.get(a.id)!.tone === 'good') - Number(byId.get(b.id)!.tone === 'good'),
  );
  const labels = new Map(
    inTurn
      .flatMap(({ id }) => {
        const { label } = byId.get(id)!;
        return label === undefined ? [] : [[id, label] as const];
      })
      .slice(0, MOST_LABELS),
  );
  const sides = placeLabels(inTurn, labels, ROOM);
  const elsewhere = probes.filter((probe) => !byId.has(probe.id));
  return (
    <div class={pins.length > MOST_LABELS ? 'map many' : 'map'} aria-hidden="true">
      <div class="world">
        <land.View />
        <div class="pins">
          {pins.map((pin) => (
            <MapPin key={pin.id} pin={pin} probe={byId.get(pin.id)!} side={sides.get(pin.id)} onChoose={onChoose} />
          ))}
        </div>
      </div>
      {elsewhere.length === 0 ? null : (
        <div class="elsewhere">
          <span>{placed.length === 0 ? 'No place stated' : 'Place not stated'}</span>
          {elsewhere.map(({ id, name, tone, isFaint }) => (
            <button
              key={id}
              type="button"
              tabIndex={-1}
              class={pinClass(tone, isFaint)}
              title={name}
              onClick={() => onChoose?.(id)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

function pinClass(tone: Tone, isFaint = false): string {
  return `pin ${tone} ${isFaint ? 'is-faint' : ''}`;
}

function MapPin(props: {
  readonly pin: Pin;
  readonly probe: MapProbe;
  readonly side: LabelSide | undefined;
  readonly onChoose: ((id: string) => void) | undefined;
}): JSX.Element {
  const { pin, probe, side, onChoose } = props;
  const position = { left: `${(pin.x / map.width) * 100}%`, top: `${(pin.y / map.height) * 100}%` };
  const about = probe.label === undefined ? probe.name : `${probe.name}: ${probe.label}`;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={pinClass(probe.tone, probe.isFaint)}
      style={position}
      title={about}
      onClick={() => onChoose?.(probe.id)}
    >
      {side === undefined ? null : <span class={`pin-label ${side}`}>{probe.label}</span>}
    </button>
  );
}
