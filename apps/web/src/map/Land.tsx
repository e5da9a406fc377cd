import type { JSX } from 'preact';
import { value } from 'virtual:world-land';

import type { MapLand } from '../../build/world-map.ts';
import { MapBox } from './MapBox.tsx';

const { land, borders } = value as MapLand;

/** A constant element, which the renderer does not compare again. */
const element = (
  <MapBox>
    <path class="ground" d={land} />
    <path class="borders" d={borders} />
  </MapBox>
);

/** Outlines of countries. */
export function Land(): JSX.Element {
  return element;
}
