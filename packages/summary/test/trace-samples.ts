import type { SparseResultOf } from '../src/probe-result.ts';
import { seeded, type Random } from '@vantage/test-support/random/seeded';
import { trace } from './results.ts';

type TraceResult = SparseResultOf<'traceroute'> & { readonly result: 'success' | 'failure' | 'timeout' | 'error' };

/** Token bucket of a host or router that rate-limits its answers. */
export interface Bucket {
  readonly burst: number;
  readonly perSecond: number;
}

/** A path of seven hops and its packet handling. */
export interface Network {
  readonly probes: number;
  readonly queries: number;
  readonly flows?: number;
  readonly protocol?: 'icmp' | 'udp' | 'tcp';
  /** Milliseconds between rounds of packets. */
  readonly roundMs?: number;
  /** Share of lost packets, 0 to 1, from hop `lossAt` on (by default the third). */
  readonly loss?: number;
  readonly lossAt?: number;
  /** Rate limit of the target and of the last `routers` hops before it. */
  readonly limit?: Bucket & { readonly routers: number };
  /** Probability with which each of the last `shyRouters` hops before the target (by default one hop) answers. */
  readonly shy?: number;
  readonly shyRouters?: number;
}

export const HOPS = 7;
const NAMES = ['fra-1', 'ber-1', 'muc-1', 'par-1', 'lon-1', 'nyc-1', 'lax-1', 'syd-1'] as const;

/** Results of one check, reproducible by seed. */
export function resultsOf(network: Network, seed: number): Readonly<Record<string, TraceResult>> {
  const random = seeded(seed);
  return Object.fromEntries(
    NAMES.slice(0, network.probes).map((name, index) => [name, traceOf(network, random, index)]),
  );
}

function traceOf(network: Network, random: Random, probe: number): TraceResult {
  const { queries, flows = 1, protocol = 'icmp', roundMs = 10 } = network;
  const ofHops = Array.from({ length: HOPS }, (_, index) => answering(network, index + 1, random));
  const rows = ofHops.map((answers) => {
    return Array.from({ length: queries }, (_, round) =>
      Array.from({ length: flows }, (_, flow) => answers((round + (flow + random() / 5) / flows) * roundMs)),
    );
  });
  const address = (hop: number): string => {
    if (hop === HOPS) return '203.0.113.1';
    return hop === 1 ? `198.51.100.${probe + 1}` : `192.0.2.${hop}`;
  };
  const path = rows.map((row, index) => {
    const rtts = row.flat().map((isAnswered) => (isAnswered ? String(index + 1) : '*'));
    return `${rtts.every((rtt) => rtt === '*') ? '*' : address(index + 1)} ${rtts.join(' ')}`;
  });
  const paths = Array.from({ length: flows }, (_, flow) => ({
    reached: rows.at(-1)!.some((round) => round[flow]!),
    stopReason: 'completed' as const,
    hops: rows.map((row) => row.map((round) => (round[flow]! ? 0 : null))),
  }));
  const lost = rows
    .at(-1)!
    .flat()
    .filter((isAnswered) => !isAnswered).length;
  const spaced = lost === 0 ? {} : { spaced: spacedOf(ofHops.at(-1)!, queries * roundMs) };
  return trace(path, { flows: paths, protocol, stopReason: 'completed', ...spaced });
}

/** Groups of packets to the target after the trace. */
function spacedOf(answers: (atMs: number) => boolean, afterMs: number) {
  const groups = Array.from({ length: 10 }, (_, group) =>
    Array.from({ length: 4 }, () => (answers(afterMs + (group + 1) * 1_100) ? HOPS : null)),
  );
  const rtts = groups.flat();
  return { sent: rtts.length, received: rtts.filter((rtt) => rtt !== null).length, groups };
}

/** Returns whether a hop answers the packet sent at a time. */
function answering(
  { loss = 0, lossAt = 3, limit, shy = 1, shyRouters = 1 }: Network,
  hop: number,
  random: Random,
): (atMs: number) => boolean {
  const isLimited = limit !== undefined && hop >= HOPS - limit.routers;
  const isShy = hop < HOPS && hop >= HOPS - shyRouters;
  const share = (isShy ? shy : 1) * (hop < lossAt ? 1 : 1 - loss);
  let [tokens, seenMs] = [limit?.burst ?? 0, 0];
  return (atMs) => {
    if (random() >= share) return false;
    if (!isLimited) return true;
    tokens = Math.min(limit.burst, tokens + ((atMs - seenMs) / 1_000) * limit.perSecond);
    seenMs = atMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
