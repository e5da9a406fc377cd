import { networkText } from '@vantage/contract/address';
import { LRUCache } from 'lru-cache';

import type { Address } from '../address.ts';
import type { Credited } from '../credits.ts';
import type { Facts } from '../facts.ts';
import type { GeoLog } from '../geo-log.ts';
import { readRegistration, type Registration } from './rdap-answer.ts';
import { fetchBounded } from './rdap-fetch.ts';

export interface RdapOptions {
  /**
   * Base of the service, for example `https://rdap.org/`; queries go to `ip/<address>` below it (RFC 9082 section
   * 3.1.1).
   */
  readonly baseUrl: string;
  readonly log: GeoLog;
  /** Timeout of a query, including redirects; default: `TIMEOUT_MS`. */
  readonly timeoutMs?: number | undefined;
  /** Creates the signal that aborts a query; by default a timeout. */
  readonly deadline?: ((timeoutMs: number) => AbortSignal) | undefined;
  /** Milliseconds, from any origin. */
  readonly now?: (() => number) | undefined;
}

/** Cached registration data of networks, queried by RDAP over HTTP. */
export interface Rdap extends Credited {
  /**
   * Queries the network of an address unless it is known, a recent query had no result (`FAILED_MS`, `UNKNOWN_MS`), the
   * server requested a pause, or `MAX_UNDER_WAY` queries are in progress.
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

/** Limit of concurrent queries; beyond it, answers lack registration data. */
const MAX_UNDER_WAY = 4;
const NETWORKS_KEPT = 2_048;

/** @throws {TypeError} if the base is no http or https URL */
export function createRdap(options: RdapOptions): Rdap {
  const registrations = new Registrations(options);
  return {
    prepare: (address) => registrations.prepare(address),
    find: (address) => {
      const registration = registrations.find(address);
      if (registration === null) return null;
      const { prefix, org, countryCode } = registration;
      return { prefix, facts: { ...NO_FACTS, org, countryCode } };
    },
    attribution: () => `registrations by RDAP (${registrations.base.host})`,
    // Registration data is as of its query, and has no other date.
    date: () => null,
  };
}

/** Registrations of networks, and the queries in progress. */
class Registrations {
  readonly base: URL;
  private readonly options: RdapOptions;
  private readonly now: () => number;
  private readonly networks = new LRUCache<string, { readonly registration: Registration; readonly until: number }>({
    max: 2 * NETWORKS_KEPT,
  });
  /** Times until which an address is not queried again, because its query had no result. */
  private readonly inVain = new LRUCache<string, number>({ max: NETWORKS_KEPT });
  private readonly underWay = new Map<string, Promise<boolean>>();
  /** Lengths of the known prefixes, longest first. */
  private readonly lengths: Readonly<Record<4 | 6, Set<number>>> = { 4: new Set(), 6: new Set() };
  /** Time until which the server requested a pause. */
  private silentUntil = 0;

  constructor(options: RdapOptions) {
    const { baseUrl, now = () => performance.now() } = options;
    this.options = options;
    this.now = now;
    this.base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
    if (this.base.protocol !== 'https:' && this.base.protocol !== 'http:')
      throw new TypeError('RDAP is spoken over http and https');
  }

  async prepare(address: Address): Promise<boolean> {
    if (this.find(address) !== null || this.now() < this.silentUntil) return false;
    if ((this.inVain.get(address.text) ?? -Infinity) > this.now()) return false;
    const same = this.underWay.get(address.text);
    if (same !== undefined) return same;
    if (this.underWay.size >= MAX_UNDER_WAY) return false;
    const asking = this.query(address).finally(() => this.underWay.delete(address.text));
    this.underWay.set(address.text, asking);
    return asking;
  }

  find(address: Address): Registration | null {
    for (const length of this.lengths[address.family]) {
      const known = this.networks.get(networkText(address.bytes, length));
      if (known !== undefined && known.until > this.now()) return known.registration;
    }
    return null;
  }

  private async query(address: Address): Promise<boolean> {
    const { log, timeoutMs = TIMEOUT_MS, deadline = (ms) => AbortSignal.timeout(ms) } = this.options;
    const asked = await fetchBounded(new URL(`ip/${address.text}`, this.base), deadline(timeoutMs)).catch(
      (error: unknown) => ({ kind: 'failed', reason: Error.isError(error) ? error.message : String(error) }) as const,
    );
    if (asked.kind === 'answer' && this.keep(address, asked.json)) return true;
    if (asked.kind === 'busy') {
      this.silentUntil = this.now() + asked.seconds * 1_000;
      return false;
    }
    if (asked.kind === 'failed') log.warn({ reason: asked.reason, server: this.base.host }, 'RDAP question failed');
    this.inVain.set(address.text, this.now() + (asked.kind === 'failed' ? FAILED_MS : UNKNOWN_MS));
    return false;
  }

  /** @returns false if the answer is no registration of the address */
  private keep(address: Address, answer: unknown): boolean {
    const registration = readRegistration(answer, address);
    if (registration === null) return false;
    this.networks.set(registration.prefix, { registration, until: this.now() + KNOWN_MS });
    addLength(this.lengths[address.family], registration.prefixLength);
    return true;
  }
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
