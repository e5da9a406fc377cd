import { TARGET_UNIT, type Admission, type Admit } from '@vantage/contract';
import { addressBytes, mappedIpv4, networkText } from '@vantage/contract/address';
import { LRUCache } from 'lru-cache';

/** Length of the sliding window. */
const WINDOW_MS = 60_000;
/** Length of a slice of the window; a slice counts until it has left the window completely. */
const SLICE_MS = 1_000;

/** Limit of counted networks; the least recently used one is evicted. */
const MAX_NETWORKS = 20_000;

/** Limits measurements per network, across target names. */
export interface NetworkLimit {
  /**
   * Charges a run to the network of an address; false if over the limit. A cost above the limit is accepted if the
   * network was idle for a minute.
   */
  readonly take: (address: string, cost?: number) => boolean;
}

/**
 * @param limit cost of runs per minute and /24 of IPv4 or /48 of IPv6
 * @param now monotonic, milliseconds
 */
export function createNetworkLimit(limit: number, now: () => number = () => performance.now()): NetworkLimit {
  // `maxSize`, because `max` would allocate memory for all entries at once.
  const networks = new LRUCache<string, Counted>({ maxSize: MAX_NETWORKS, sizeCalculation: () => 1 });
  return {
    take: (address, cost = 1) => {
      const key = networkOf(address);
      const counted = networks.get(key) ?? { total: 0, slices: new Map<number, number>() };
      const slice = Math.floor(now() / SLICE_MS);
      dropBefore(counted, slice - WINDOW_MS / SLICE_MS);
      if (counted.total > 0 && counted.total + cost > limit) return false;
      counted.slices.set(slice, (counted.slices.get(slice) ?? 0) + cost);
      counted.total += cost;
      networks.set(key, counted);
      return true;
    },
  };
}

/** Costs of a network by slice, oldest first, and their sum. */
interface Counted {
  total: number;
  readonly slices: Map<number, number>;
}

function dropBefore(counted: Counted, first: number): void {
  for (const [slice, cost] of counted.slices) {
    if (slice >= first) return;
    counted.slices.delete(slice);
    // Sums of fractions are not exact: without any slice the total must be exactly zero.
    counted.total = counted.slices.size === 0 ? 0 : counted.total - cost;
  }
}

/**
 * Wraps the admission of one run: each admitted network is charged once.
 *
 * @param cost of the run
 * @param againAfterMs for a caller without separate runs, such as screenshots: a network is charged again after this
 *   time
 */
export function limitNetworks(
  admit: Admit,
  limit: NetworkLimit,
  {
    cost = 1,
    againAfterMs = Number.POSITIVE_INFINITY,
  }: { readonly cost?: number; readonly againAfterMs?: number } = {},
): Admit {
  const counted = new Map<string, number>();
  return async (request, signal) => {
    const admission = await admit(request, signal);
    // An info check sends nothing to its target.
    if (!admission.admitted || request.purpose === 'info') return admission;
    const network = networkOf(admission.target.address);
    if (performance.now() - (counted.get(network) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return admission;
    if (!limit.take(admission.target.address, cost)) return refused(admission.target);
    if (counted.size >= MAX_NETWORKS) counted.clear();
    counted.set(network, performance.now());
    return admission;
  };
}

/**
 * Charges bytes as they are transferred, for traffic unknown in advance.
 *
 * @returns a function that charges bytes to an address, and returns false if its network is over the limit
 */
export function countBytes(limit: NetworkLimit): (address: string, bytes: number) => boolean {
  const uncounted = new Map<string, number>();
  return (address, bytes) => {
    const network = networkOf(address);
    const sum = (uncounted.get(network) ?? 0) + bytes;
    const cost = Math.floor(sum / TARGET_UNIT.bytes);
    if (uncounted.size >= MAX_NETWORKS) uncounted.clear();
    uncounted.set(network, sum - cost * TARGET_UNIT.bytes);
    return cost === 0 || limit.take(address, cost);
  };
}

function refused({ address, addresses, resolveMs }: (Admission & { admitted: true })['target']): Admission {
  const message = `This probe has measured ${networkOf(address)} as often in the last minute as it may.`;
  const failure = { code: 'target_rate_limited', phase: 'resolve', source: 'probe', message } as const;
  return { admitted: false, failure, addresses, resolveMs };
}

/** `192.0.2.0/24` or `2001:db8:1::/48`; an IPv4-mapped address counts as IPv4. */
export function networkOf(address: string): string {
  const bytes = addressBytes(address);
  const ipv4 = bytes.length === 4 ? bytes : mappedIpv4(bytes);
  return ipv4 === undefined ? networkText(bytes, 48) : networkText(ipv4, 24);
}
