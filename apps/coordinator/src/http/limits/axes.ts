import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { addressBytes } from '@vantage/contract/address';
import type { Express } from 'express';

import type { KeyRing } from '../../keys/key-ring.ts';
import { findKey, type Caller } from '../caller.ts';
import { unprocessedAddress } from '../client-address.ts';

/** A counter that a request increments: for a client, a network that contains it, or a target. */
export interface Axis {
  /** Identifies the counter within a bucket. */
  readonly key: string;
  readonly limit: number;
  /** Increment; default 1. */
  readonly cost?: number;
  /** If set, distinct members are counted instead. */
  readonly member?: string;
}

/** All counters that a request increments. */
export interface Charge {
  /** The first one is the client itself. */
  readonly client: readonly Axis[];
  /** The request is counted on all of these or on none, and only if every client axis admits it. */
  readonly target: readonly Axis[];
  /** Key that Redis writes if all axes admit the request; a count in memory writes none. */
  readonly grant?: string | undefined;
}

/** An IPv6 client is a /64; the larger networks around it have larger limits. */
const widerNetworks = [
  { bits: 56, factor: 4 },
  { bits: 48, factor: 16 },
] as const;

/**
 * The axes of a client: one for its key, or those of its address.
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

/** Identifies a client. Addresses and keys never collide. */
export function callerKey({ address, key }: Caller): string {
  return key === undefined ? axesOf(address, 1)[0]!.key : `key:${key.id}`;
}

/**
 * The axes of an address: one for an IPv4 address, one per prefix length for an IPv6 address.
 *
 * @param address canonical text
 * @param limit requests per window of one client
 * @param cost what the request adds to each axis
 */
export function axesOf(address: string, limit: number, cost = 1): readonly Axis[] {
  if (!address.includes(':')) return [withCost({ key: address, limit }, cost)];
  const bytes = Buffer.from(addressBytes(address));
  return [
    { key: network(bytes, 64), limit },
    ...widerNetworks.map((wider) => ({ key: network(bytes, wider.bits), limit: limit * wider.factor })),
  ].map((axis) => withCost(axis, cost));
}

function withCost(axis: Axis, cost: number): Axis {
  return cost === 1 ? axis : { ...axis, cost };
}

/** Pseudonym of a client as limits count it. */
export function callerDigest(caller: Caller): string {
  return hash('sha256', callerKey(caller), 'base64url').slice(0, 16);
}

/**
 * Hash tag common to the axes of a client, because one script counts them all: they must be in one slot of a Redis
 * Cluster.
 */
export function hashTag(axes: readonly Axis[]): string {
  return axes.at(-1)!.key;
}

/** The leading bits in hexadecimal, with their number; `prefixLength` is a multiple of four. */
function network(address: Buffer, prefixLength: number): string {
  return `${address.toString('hex').slice(0, prefixLength / 4)}/${prefixLength}`;
}

/**
 * Identifies the client of a request that Express has not processed yet, as the limits do. Requests without a valid
 * address are one client.
 */
export function unprocessedClient(app: Express, keys: Pick<KeyRing, 'find'>, request: IncomingMessage): string {
  const found = findKey(request, keys);
  const key = typeof found === 'object' && 'key' in found ? found.key : undefined;
  return callerKey({ address: unprocessedAddress(app, request) ?? '', key });
}
