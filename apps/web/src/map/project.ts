import type { MapFrame } from '../../build/world-map.ts';

/** A point in map units. */
export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

const A1 = 1.340264;
const A2 = -0.081106;
const A3 = 0.000893;
const A4 = 0.003796;
const M = Math.sqrt(3) / 2;
const RADIANS = Math.PI / 180;

/** Equal Earth projection (Šavrič, Patterson, Jenny 2018), equal to that of d3-geo during the build. */
export function project(
  map: Pick<MapFrame, 'centre' | 'scale' | 'translateX' | 'translateY'>,
  latitude: number,
  longitude: number,
): MapPoint {
  const turned = longitude - map.centre;
  const lambda = (turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned) * RADIANS;
  const l = Math.asin(M * Math.sin(latitude * RADIANS));
  const l2 = l * l;
  const l6 = l2 * l2 * l2;
  const x = (lambda * Math.cos(l)) / (M * (A1 + 3 * A2 * l2 + l6 * (7 * A3 + 9 * A4 * l2)));
  const y = l * (A1 + A2 * l2 + l6 * (A3 + A4 * l2));
  return { x: map.translateX + map.scale * x, y: map.translateY - map.scale * y };
}
