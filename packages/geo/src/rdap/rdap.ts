import { networkText } from '@vantage/contract/address';
import { LRUCache } from 'lru-cache';

import type { Address } from '../address.ts';
import type { Credited } from '../credits.ts';
import type { Facts } from '../facts.ts';
import type { GeoLog } from '../geo-log.ts';
import { readRegistration, type Registration } from './rdap-answer.ts';

export interface RdapOptions {
  /** Such as `https://rdap.org/`; queries go to `ip/<address>` below it (RFC 9082 section 3.1.1). */
  readonly baseUrl: string;
  readonly log: GeoLog;
  /** Timeout of a query, including redirects; default 2 s. */
  readonly timeoutMs?: number | undefined;
  /** Creates the signal that aborts a query; by default a timeout. */
  readonly deadline?: ((timeoutMs: number) => AbortSignal) | undefined;
  /** Milliseconds, from any origin. */
  readonly now?: (() => number) | undefined;
}

/** Cached registration data of networks, queried by RDAP over HTTP. */
export interface Rdap extends Credited {
  /**
   * Queries the network of an address unless it is known, or a recent query failed.
   *
   * @returns whether `find` has new data; never rejects
   */
  readonly prepare: (address: Address) => Promise<boolean>;
  /** Returns cached data; sends no query. */
  readonly find: (address: Address) => RdapFound | null;
}

export interface RdapFound {
  readonly facts: Facts;
  readonly prefix: string;
}

const TIMEOUT_MS = 2_000;
const KNOWN_MS = 24 * 3_600_000;
const UNKNOWN_MS = 3_600_000;
const FAILED_MS = 60_000;
const MAX_BACK_OFF_S = 600;

/** Limit of concurrent queries; beyond it, answers lack registration data. */
const MAX_UNDER_WAY = 4;
const MAX_REDIRECTS = 3;
const MAX_ANSWER_BYTES = 256 * 1024;
const NETWORKS_KEPT = 2_048;

/** @throws {TypeError} if the base is no http or https URL */
export function createRdap(options: RdapOptions): Rdap {
  const { baseUrl, log, timeoutMs = TIMEOUT_MS, now = () => performance.now() } = options;
  const { deadline = (ms) => AbortSignal.timeout(ms) } = options;
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  if (base.protocol !== 'https:' && base.protocol !== 'http:')
    throw new TypeError('RDAP is spoken over http and https');
  const networks = new LRUCache<string, { readonly registration: Registration; readonly until: number }>({
    max: 2 * NETWORKS_KEPT,
  });
  const inVain = new LRUCache<string, number>({ max: NETWORKS_KEPT });
  const underWay = new Map<string, Promise<boolean>>();
  /** Lengths of the known prefixes, longest first. */
  const lengths: Readonly<Record<4 | 6, Set<number>>> = { 4: new Set(), 6: new Set() };
  let silentUntil = 0;

  function registrationOf(address: Address): Registration | null {
    for (const length of lengths[address.family]) {
      const known = networks.get(networkText(address.bytes, length));
      if (known !== undefined && known.until > now()) return known.registration;
    }
    return null;
  }

  async function ask(address: Address): Promise<boolean> {
    const asked = await fetchBounded(new URL(`ip/${address.text}`, base), deadline(timeoutMs)).catch(
      (error: unknown) => ({ kind: 'failed', reason: Error.isError(error) ? error.message : String(error) }) as const,
    );
    if (asked.kind === 'answer') {
      const registration = readRegistration(asked.json, address);
      if (registration !== null) {
        networks.set(registration.prefix, { registration, until: now() + KNOWN_MS });
        addLength(lengths[address.family], registration.prefixLength);
        return true;
      }
    }
    if (asked.kind === 'busy') {
      silentUntil = now() + asked.seconds * 1_000;
      return false;
    }
    if (asked.kind === 'failed') log.warn({ reason: asked.reason, server: base.host }, 'RDAP question failed');
    inVain.set(address.text, now() + (asked.kind === 'failed' ? FAILED_MS : UNKNOWN_MS));
    return false;
  }

  async function prepare(address: Address): Promise<boolean> {
    if (registrationOf(address) !== null || now() < silentUntil) return false;
    if ((inVain.get(address.text) ?? -Infinity) > now()) return false;
    const same = underWay.get(address.text);
    if (same !== undefined) return same;
    if (underWay.size >= MAX_UNDER_WAY) return false;
    const asking = ask(address).finally(() => underWay.delete(address.text));
    underWay.set(address.text, asking);
    return asking;
  }

  return {
    prepare,
    find: (address) => {
      const registration = registrationOf(address);
      if (registration === null) return null;
      const { prefix, org, countryCode } = registration;
      return { prefix, facts: { ...NO_FACTS, org, countryCode } };
    },
    attribution: () => `registrations by RDAP (${base.host})`,
    // Registration data has the date of its query.
    date: () => null,
  };
}

const NO_FACTS: Facts = {
  asn: null,
  asName: null,
  isp: null,
  org: null,
  city: null,
  region: null,
  country: null,
  countryCode: null,
  timezone: null,
  latitude: null,
  longitude: null,
};

function addLength(lengths: Set<number>, length: number): void {
  const sorted = [...lengths, length].toSorted((left, right) => right - left);
  lengths.clear();
  for (const one of sorted) lengths.add(one);
}

type Fetched =
  | { readonly kind: 'answer'; readonly json: unknown }
  | { readonly kind: 'unknown' }
  /** The server requests a pause (RFC 9110 section 10.2.3). */
  | { readonly kind: 'busy'; readonly seconds: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Follows redirects, with which a bootstrap server leads to the responsible registry (RFC 7480 section 5.2). */
async function fetchBounded(first: URL, signal: AbortSignal): Promise<Fetched> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: { accept: 'application/rdap+json, application/json' },
    });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.protocol !== 'https:' && url.protocol !== first.protocol) return failed('redirected to another protocol');
      continue;
    }
    if (response.status === 200) return { kind: 'answer', json: JSON.parse(await textOf(response)) };
    await response.body?.cancel();
    if (response.status === 404) return { kind: 'unknown' };
    if (response.status === 429 || response.status === 503) return { kind: 'busy', seconds: backOffOf(response) };
    return failed(`HTTP status ${response.status}`);
  }
  return failed(`more than ${MAX_REDIRECTS} redirects`);
}

function failed(reason: string): Fetched {
  return { kind: 'failed', reason };
}

function backOffOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 'none');
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), MAX_BACK_OFF_S) : MAX_BACK_OFF_S / 10;
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
