import { seeded } from '@vantage/test-support/random/seeded';
import { FIRST, TARGET_NAME, type Network } from '../../../packages/diagnostics/test/balanced-network.ts';
import type { FakeAnswer, FakeSent } from '../../../packages/diagnostics/test/fake-packets.ts';
import { arrived, expired, router, unreachable } from '../../../packages/diagnostics/test/trace-network.ts';

/** Token bucket that limits the answers of a node. */
export interface Limit {
  readonly burst: number;
  readonly perSecond: number;
}

/** Faults of a network. */
export interface Impairments {
  /** Nodes that forward nothing. */
  readonly holes?: readonly string[];
  /** Nodes that neither forward nor answer. */
  readonly gone?: readonly string[];
  /** True for nodes that do not forward a flow and say so (communication administratively prohibited). */
  readonly refuses?: (name: string, flow: number) => boolean;
  /** True for nodes that silently do not forward a flow. */
  readonly drops?: (name: string, flow: number) => boolean;
  /** Nodes with a private address, which results hide. */
  readonly hidden?: (name: string) => boolean;
  /** Nodes that forward and do not answer. */
  readonly silent?: (name: string) => boolean;
  /** Probability that a packet is lost on its way into a node. */
  readonly loss?: (name: string) => number;
  readonly limits?: (name: string) => Limit | undefined;
  /** Milliseconds by which a node lengthens the round trip of the packets that it gets. */
  readonly slow?: (name: string) => number;
  /** After this many packets of the trace, nothing gets beyond this node. */
  readonly breaks?: { readonly after: number; readonly at: string };
  /** True if the target answers no echo request of the search for the path MTU; the other impairments spare these. */
  readonly isOut?: boolean;
  /** After this many packets the flows change their paths. */
  readonly rehashes?: number;
}

const MTU_SEARCH_BYTES = 200;

/** The answer of the target by the protocol of the packet. */
function atTarget(sent: FakeSent, rttMs: number): FakeAnswer {
  return sent.protocol === 'udp' ? { ...unreachable(sent, 3, sent.destination), rttMs } : arrived(sent, rttMs);
}

/** The address of a node by the order of names in the network. */
export function addressOf(network: Network, name: string): string {
  const names = [...new Set([FIRST, ...Object.entries(network).flatMap(([from, { next }]) => [from, ...next])])];
  return router(names.indexOf(name) + 1);
}

/** Answers packets like the network; every random choice follows from the seed. */
export function impairedNetwork(
  network: Network,
  impairments: Impairments,
  seed: number,
): (sent: FakeSent) => readonly FakeAnswer[] {
  const { holes = [], gone = [], refuses, hidden, loss, slow, breaks, rehashes = Infinity } = impairments;
  const from = (name: string): string =>
    hidden?.(name) === true ? addressOf(network, name).replace(/^203\.0\.113/, '10.0.0') : addressOf(network, name);
  const random = seeded(seed);
  const choices = new Map<string, number>();
  let sentCount = 0;
  const nextOf = (name: string, flow: number): string => {
    const { next, by } = network[name]!;
    const drawn = Math.floor(random() * next.length);
    const key = `${name} ${flow} ${sentCount > rehashes}`;
    const choice = by === 'packet' ? drawn : (choices.get(key) ?? drawn);
    choices.set(key, choice);
    return next[choice]!;
  };
  const answers = answerer(impairments);
  return (sent) => {
    if (sent.packet.length >= MTU_SEARCH_BYTES) return impairments.isOut === true ? [] : [arrived(sent)];
    sentCount += 1;
    const isBroken = breaks !== undefined && sentCount > breaks.after;
    let name = FIRST;
    let rttMs = sent.ttl;
    for (let hop = 1; ; hop += 1) {
      rttMs += slow?.(name) ?? 0;
      if (gone.includes(name) || random() < (loss?.(name) ?? 0)) return [];
      if (name === TARGET_NAME) return answers(name) ? [atTarget(sent, rttMs)] : [];
      if (hop === sent.ttl) return answers(name) ? [expired(sent, from(name), rttMs)] : [];
      if (refuses?.(name, sent.identifier) === true) return answers(name) ? [unreachable(sent, 13, from(name))] : [];
      if (impairments.drops?.(name, sent.identifier) === true) return [];
      if (holes.includes(name) || (isBroken && breaks.at === name)) return [];
      name = nextOf(name, sent.identifier);
    }
  };
}

/**
 * Returns a function that decides whether a node answers a packet sent now: never if it is silent, otherwise as the
 * token bucket of its limit allows.
 */
function answerer({ silent, limits }: Impairments): (name: string) => boolean {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (name) => {
    const limit = limits?.(name);
    if (silent?.(name) === true) return false;
    if (limit === undefined) return true;
    const now = performance.now();
    const bucket = buckets.get(name) ?? { tokens: limit.burst, atMs: now };
    bucket.tokens = Math.min(limit.burst, bucket.tokens + ((now - bucket.atMs) / 1_000) * limit.perSecond);
    bucket.atMs = now;
    buckets.set(name, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };
}
