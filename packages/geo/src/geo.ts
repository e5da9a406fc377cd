import { unknownPlace, type LookUpPlace, type Place } from '@vantage/contract';
import { networkText } from '@vantage/contract/address';
import { LRUCache } from 'lru-cache';

import { parseAddress, type Address } from './address.ts';
import { createCredits } from './credits.ts';
import { createFallback } from './sources/fallback.ts';
import type { GeoLog } from './geo-log.ts';
import { startPolling } from './polling.ts';
import { bundledView, fallbackView, operatorView, type GeoSource } from './sources/geo-source.ts';
import { addLocation, addNetwork, addRegistration, deriveRest, lacksLocation, lacksNetwork } from './place.ts';
import { createRdap, type Rdap } from './rdap/rdap.ts';
import { defaultAsnFile, openBundledAsn, openBundledCity, openOperatorSource, type Source } from './sources/sources.ts';
import { isSpecial } from './special-addresses.ts';

export interface GeoOptions {
  /** The operator's MMDB file of locations. The operator's files take precedence, and are reloaded when they change. */
  readonly cityMmdb?: string | undefined;
  /** The operator's MMDB file of autonomous systems. */
  readonly asnMmdb?: string | undefined;
  /** The operator's MMDB file of network providers. */
  readonly ispMmdb?: string | undefined;
  /** Folder of the bundled city files; default: the installed package. */
  readonly bundledCity?: string | undefined;
  /** The file that `buildAsn` writes; default: its default target. */
  readonly bundledAsn?: string | undefined;
  /** Interval at which the operator's files are polled; default: `DEFAULT_POLL_MS`. */
  readonly pollMs?: number | undefined;
  /** Base URL of an RDAP server, such as `https://rdap.org/`; by default registries are not queried. */
  readonly rdapBaseUrl?: string | undefined;
  /** Timeout of an RDAP query; default: that of `createRdap`. */
  readonly rdapTimeoutMs?: number | undefined;
  readonly log: GeoLog;
}

export interface Geo {
  readonly lookUp: LookUpPlace;
  /**
   * Queries the registry for the network of an address, so that `lookUp` has it. Takes at most `rdapTimeoutMs` and
   * never rejects; does nothing without an RDAP server, for a special address, or if `Rdap.prepare` sends no query.
   */
  readonly prepare: (address: string) => Promise<void>;
  /** The data sources except RDAP, the operator's files first. */
  readonly sources: () => readonly GeoSource[];
  readonly close: () => Promise<void>;
}

/**
 * Opens the geo data. Missing and damaged files are logged and listed by `sources()`; lookups then use the remaining
 * sources.
 *
 * @throws {TypeError} if `rdapBaseUrl` is no http or https URL
 */
export async function openGeo(options: GeoOptions): Promise<Geo> {
  const { log, rdapBaseUrl, rdapTimeoutMs: timeoutMs } = options;
  const isAsked = rdapBaseUrl !== undefined && rdapBaseUrl !== '';
  const rdap = isAsked ? createRdap({ baseUrl: rdapBaseUrl, log, timeoutMs }) : null;
  const operatorSource = async (path: string | undefined) =>
    path === undefined || path === '' ? null : openOperatorSource(path, log);
  const [city, asn, isp, bundledCity, bundledAsn] = await Promise.all([
    operatorSource(options.cityMmdb),
    operatorSource(options.asnMmdb),
    operatorSource(options.ispMmdb),
    openBundledCity(options.bundledCity, log),
    openBundledAsn(options.bundledAsn ?? defaultAsnFile(), log),
  ]);
  const fallback = createFallback(log);
  // Without a usable city file lookups need the fallback, so it is loaded in advance.
  if (bundledCity.fault() !== null && (city?.file.current() ?? null) === null) await fallback.load();

  const operatorSources = [city, asn, isp].filter((source) => source !== null);
  const answer = createAnswer({ city, asn, isp, bundledCity, bundledAsn, fallback, rdap });
  const poll = startPolling(options.pollMs ?? DEFAULT_POLL_MS, async () => {
    for (const { file } of operatorSources) if (await file.refresh()) answer.forget();
  });

  return {
    lookUp: answer.lookUp,
    prepare: async (text) => {
      const address = parseAddress(text);
      if (rdap === null || address === null || isSpecial(address)) return;
      if (await rdap.prepare(address)) answer.forget();
    },
    sources: () => [
      ...operatorView('city', city),
      ...operatorView('asn', asn),
      ...operatorView('isp', isp),
      bundledView('city', bundledCity),
      bundledView('asn', bundledAsn),
      fallbackView(fallback),
    ],
    close: async () => {
      await poll.stop();
      await Promise.all([bundledCity.close(), bundledAsn.close()]);
      if (fallback.state() === 'loading') await fallback.load();
    },
  };
}

/** Limit of cached answers: addresses of hops and clients recur. */
const RECENT_PLACES = 2048;

const DEFAULT_POLL_MS = 30_000;

interface Sources {
  readonly city: Source | null;
  readonly asn: Source | null;
  readonly isp: Source | null;
  readonly bundledCity: Source;
  readonly bundledAsn: Source;
  readonly fallback: ReturnType<typeof createFallback>;
  readonly rdap: Rdap | null;
}

interface Answer {
  readonly lookUp: LookUpPlace;
  /** Drops cached answers; to be called when a source has loaded other data. */
  readonly forget: () => void;
}

function createAnswer({ city, asn, isp, bundledCity, bundledAsn, fallback, rdap }: Sources): Answer {
  const all = [city, asn, isp, bundledCity, bundledAsn].filter((source) => source !== null);
  const inOrder = (sources: readonly (Source | null)[]) =>
    sources.filter((source) => source !== null).map((source) => ({ source, bit: 1 << all.indexOf(source) }));
  const locationSources = inOrder([city, isp, asn, bundledCity]);
  const networkSources = inOrder([asn, isp, city, bundledAsn]);
  const fallbackBit = 1 << all.length;
  const rdapBit = fallbackBit << 1;
  const credits = createCredits([...all, fallback, ...(rdap === null ? [] : [rdap])]);
  const recent = new LRUCache<string, Place>({ max: RECENT_PLACES });

  function forget(): void {
    recent.clear();
    credits.clear();
  }

  /** The first call starts the load and proceeds without it. */
  function askFallback(address: Address): ReturnType<typeof fallback.find> {
    if (fallback.state() === 'idle') void fallback.load().then(forget);
    return fallback.find(address);
  }

  function placeOf(address: Address): Place {
    const place = { ...unknownPlace };
    let used = 0;
    for (const { source, bit } of locationSources) {
      const found = source.find(address);
      if (found !== null && addLocation(place, found.facts)) used |= bit;
      if (!lacksLocation(place)) break;
    }
    for (const { source, bit } of networkSources) {
      const found = source.find(address);
      if (found !== null && addNetwork(place, found.facts, () => prefixOfFound(address, found.prefixLength)))
        used |= bit;
      if (!lacksNetwork(place)) break;
    }
    const facts = lacksLocation(place) ? askFallback(address) : null;
    if (facts !== null && addLocation(place, facts)) used |= fallbackBit;
    const registered = rdap?.find(address) ?? null;
    if (registered !== null && addRegistration(place, registered)) used |= rdapBit;
    deriveRest(place);
    const { provider, dataDate } = credits.of(used);
    place.provider = provider;
    place.dataDate = dataDate;
    return place;
  }

  function lookUp(text: string): Place {
    const known = recent.get(text);
    if (known !== undefined) return { ...known };
    const address = parseAddress(text);
    if (address === null || isSpecial(address)) return { ...unknownPlace };
    const place = placeOf(address);
    recent.set(text, place);
    return { ...place };
  }

  return { lookUp, forget };
}

/** Null for length 0, which means that the file does not divide this family into networks. */
function prefixOfFound(address: Address, length: number): string | null {
  return length === 0 ? null : networkText(address.bytes, length);
}
