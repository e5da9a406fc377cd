import type { LookUpPlace } from '@vantage/contract';

/** A location with coordinates only. */
export function placeAt(latitude: number, longitude: number): ReturnType<LookUpPlace> {
  return {
    asn: null,
    asName: null,
    isp: null,
    org: null,
    prefix: null,
    city: null,
    region: null,
    country: null,
    countryCode: null,
    timezone: null,
    provider: null,
    dataDate: null,
    latitude,
    longitude,
  };
}
