import { unknownPlace, type LookUpPlace } from '@vantage/contract';

/** A location with coordinates only. */
export function placeAt(latitude: number, longitude: number): ReturnType<LookUpPlace> {
  return { ...unknownPlace, latitude, longitude };
}
