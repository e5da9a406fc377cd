import { thresholds } from './thresholds.ts';

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** Speed of light in fibre in km/ms, two thirds of that in vacuum. */
const FIBRE_KM_PER_MS = 199.862;

const EARTH_RADIUS_KM = 6_371;

export function pointOf(
  place: { readonly latitude: number | null; readonly longitude: number | null } | undefined,
): Point | undefined {
  if (place === undefined || place.latitude === null || place.longitude === null) return undefined;
  return { latitude: place.latitude, longitude: place.longitude };
}

/** Great-circle distance by the haversine formula. */
export function distanceKm(a: Point, b: Point): number {
  const [latA, latB] = [radians(a.latitude), radians(b.latitude)];
  const half = (angle: number): number => Math.sin(angle / 2) ** 2;
  const h = half(latB - latA) + Math.cos(latA) * Math.cos(latB) * half(radians(b.longitude - a.longitude));
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Minimum round-trip time over fibre between two places, whose distance may be `placeErrorKm` less than stated. */
export function leastRttMs(a: Point, b: Point): number {
  return (2 * Math.max(0, distanceKm(a, b) - thresholds.placeErrorKm)) / FIBRE_KM_PER_MS;
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
