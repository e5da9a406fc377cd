import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type geoipLite from 'geoip-lite';

import type { Address } from '../address.ts';
import { FALLBACK_ATTRIBUTION } from './attribution.ts';
import type { Credited } from '../credits.ts';
import { coordinatesOf, countryCodeOf, label, type Facts } from '../facts.ts';
import type { GeoLog } from '../geo-log.ts';
import { geoipLiteFolder, requireFromGeo } from './package-folders.ts';

/** geoip-lite: a package with old data, which `load` reads. */
export interface Fallback extends Credited {
  readonly state: () => 'idle' | 'loading' | 'ready' | 'missing';
  /** Reason why the fallback is unavailable; null if it is available or not loaded yet. */
  readonly fault: () => string | null;
  /** Loads the data once; never rejects. */
  readonly load: () => Promise<void>;
  /** `null` until the data is loaded, and for an address without data. Never throws. */
  readonly find: (address: Address) => Facts | null;
}

type Lookup = typeof geoipLite.lookup;

export function createFallback(log: GeoLog): Fallback {
  let state: ReturnType<Fallback['state']> = 'idle';
  let fault: string | null = null;
  let lookUp: Lookup | null = null;
  let loading: Promise<void> | null = null;

  async function load(): Promise<void> {
    state = 'loading';
    try {
      await warmFileCache();
      const require = requireFromGeo();
      const geoip = require('geoip-lite') as typeof geoipLite;
      lookUp = geoip.lookup;
      state = 'ready';
      log.info({}, 'geo data of geoip-lite read');
    } catch (error) {
      state = 'missing';
      fault = Error.isError(error) ? error.message : String(error);
      log.warn({ reason: fault }, 'geoip-lite cannot be used');
    }
  }

  return {
    state: () => state,
    fault: () => fault,
    attribution: () => FALLBACK_ATTRIBUTION,
    // The package does not contain the date; the attribution names the year.
    date: () => null,
    load: () => (loading ??= load()),
    find: (address) => (lookUp === null ? null : factsOf(lookUp, address)),
  };
}

/**
 * geoip-lite reads its files synchronously on import, which stalls the service for long if they are not in the page
 * cache. So they are read asynchronously first.
 */
async function warmFileCache(): Promise<void> {
  const folder = join(geoipLiteFolder(), 'data');
  const chunk = Buffer.alloc(1 << 20);
  for (const name of await readdir(folder)) {
    const file = await open(join(folder, name));
    try {
      while ((await file.read(chunk)).bytesRead > 0);
    } finally {
      await file.close();
    }
  }
}

function factsOf(lookUp: Lookup, address: Address): Facts | null {
  const found = tryLookup(lookUp, address.text);
  if (found === null) return null;
  return {
    ...NO_NETWORK,
    city: label(found.city),
    region: label(found.region),
    country: null,
    countryCode: countryCodeOf(found.country),
    timezone: label(found.timezone),
    ...coordinatesOf(found.ll[0], found.ll[1]),
  };
}

const NO_NETWORK = { asn: null, asName: null, isp: null, org: null };

function tryLookup(lookUp: Lookup, text: string): ReturnType<Lookup> {
  try {
    return lookUp(text);
  } catch {
    return null;
  }
}
