import { createHash } from 'node:crypto';

import type { Caller } from '../caller.ts';

/** One count that a request adds to: that of a client or a network that holds it, or that of what it wants measured. */
export interface Axis {
  /** Unique among the axes of one bucket. */
  readonly key: string;
  readonly limit: number;
  /** What the request adds; 1 without it. */
  readonly cost?: number;
  /** With it the axis counts how many different members there were. */
  readonly member?: string;
}

/** All that one request adds to. */
export interface Charge {
  /** The first is the client itself. */
  readonly client: readonly Axis[];
  /** Counted where every axis of the client admits: all of them, or none. */
  readonly target: readonly Axis[];
}

/** An IPv6 client is its /64; whoever holds more of them shares wider buckets. */
const widerNetworks = [
  { bits: 56, factor: 4 },
  { bits: 48, factor: 16 },
] as const;

/**
 * The counts of one caller: of its key, or of its address.
 *
 * @param limit requests per window of one address
 */
export function callerAxes(caller: Caller, limit: number, cost = 1): readonly Axis[] {
  const { address, key } = caller;
  return key === undefined
    ? axesOf(address, limit, cost)
    : [withCost({ key: callerKey(caller), limit: limitOf(caller, limit) }, cost)];
}

/** @param limit requests per window of one address */
export function limitOf({ key }: Caller, limit: number): number {
  return key?.limit ?? limit;
}

/** Names a caller among all. No address looks like that of a key. */
export function callerKey({ address, key }: Caller): string {
  return key === undefined ? axesOf(address, 1)[0]!.key : `key:${key.id}`;
}

/**
 * The counts of one address.
 *
 * @param address canonical text, as `clientAddress` gives it
 * @param limit requests per window of one client
 * @param cost what the request counts for
 */
export function axesOf(address: string, limit: number, cost = 1): readonly Axis[] {
  if (!address.includes(':')) return [withCost({ key: address, limit }, cost)];
  const bits = addressBits(address);
  return [
    { key: network(bits, 64), limit },
    ...widerNetworks.map((wider) => ({ key: network(bits, wider.bits), limit: limit * wider.factor })),
  ].map((axis) => withCost(axis, cost));
}

function withCost(axis: Axis, cost: number): Axis {
  return cost === 1 ? axis : { ...axis, cost };
}

/** Names a caller, as the limits count it, without its address. */
export function callerDigest(caller: Caller): string {
  return createHash('sha256').update(callerKey(caller)).digest('base64url').slice(0, 16);
}

/** What all axes of one client have in common: one script counts them, so they are in one slot of a Redis Cluster. */
export function hashTag(axes: readonly Axis[]): string {
  return axes.at(-1)!.key;
}

function network(bits: bigint, prefixLength: number): string {
  const kept = (bits >> BigInt(128 - prefixLength)).toString(16);
  return `${kept.padStart(prefixLength / 4, '0')}/${prefixLength}`;
}

/** @param address valid IPv6 text without a zone */
function addressBits(address: string): bigint {
  const [head = '', tail] = dottedToGroups(address).split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...zeros, ...right].reduce((bits, group) => (bits << 16n) | BigInt(group), 0n);
}

function groups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** RFC 4291 section 2.2: the last 32 bits may be written as IPv4. */
function dottedToGroups(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...quad) => {
    const [a = 0, b = 0, c = 0, d = 0] = quad.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}
