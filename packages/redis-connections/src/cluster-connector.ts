import { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';

import type { ClusterAddress, RedisEndpoint } from './address.ts';
import { connectTo, nodeConnector, type NodeStream } from './node-connector.ts';

/** Timeout of the query to a node. */
const ANSWER_WITHIN_MS = 1_000;

/**
 * Connects to one node of a cluster, chosen at each connect: the master that holds a slot, or the configured nodes in
 * turn. A client that needs keys of one slot needs only this connection, as to a single server.
 *
 * @param slot undefined: the configured nodes in turn
 */
export function clusterConnector(
  address: ClusterAddress,
  slot: number | undefined,
  tls: ConnectionOptions | undefined,
): NonNullable<RedisOptions['Connector']> {
  /** Rotates, so that each connect starts with another node. */
  let turn = Math.floor(Math.random() * address.endpoints.length);

  return class ClusterConnector extends AbstractConnector {
    constructor() {
      super(2_000);
    }

    override async connect(): Promise<NodeStream> {
      this.connecting = true;
      turn += 1;
      let node = inTurn(address.endpoints, turn)[0]!;
      try {
        if (slot !== undefined) node = await masterOf(address, slot, turn, tls);
      } catch (error) {
        // No other node can replace it: one without the keys would refuse every command. ioredis tries again if it gets
        // a stream that fails with `firstError`.
        this.firstError = error as Error;
        this.stream = new Socket().destroy();
        return this.stream;
      }
      if (!this.connecting) throw new Error('Connection is closed.');
      this.stream = connectTo(node, tls);
      this.stream.once('error', (error) => {
        this.firstError = error;
      });
      return this.stream;
    }
  };
}

/**
 * Asks node after node for the master of the slot.
 *
 * @throws the last error if no node replies, or none knows the master
 */
async function masterOf(
  address: ClusterAddress,
  slot: number,
  turn: number,
  tls: ConnectionOptions | undefined,
): Promise<RedisEndpoint> {
  let failure: unknown = new Error('No node of the cluster knows who holds the keys.');
  for (const endpoint of inTurn(address.endpoints, turn)) {
    try {
      const master = await askFor(endpoint, slot, address, tls);
      if (master !== undefined) return master;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function askFor(
  { host, port }: RedisEndpoint,
  slot: number,
  { username, password }: ClusterAddress,
  tls: ConnectionOptions | undefined,
): Promise<RedisEndpoint | undefined> {
  const node = new Redis({
    host,
    port,
    Connector: nodeConnector(),
    retryStrategy: null,
    enableReadyCheck: false,
    disableClientInfo: true,
    connectTimeout: ANSWER_WITHIN_MS,
    commandTimeout: ANSWER_WITHIN_MS,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  });
  // The error of a command that ended with the connection does not say why the connection was lost.
  let cause: Error | undefined;
  node.on('error', (error) => {
    cause ??= error;
  });
  try {
    const ranges = await node.cluster('SLOTS');
    const [, , master] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [];
    if (master === undefined) return undefined;
    const [masterHost, masterPort]: readonly [string | null, number, ...unknown[]] = master;
    // A null host name stands for the address by which this node was reached.
    return { host: masterHost === null || masterHost === '' ? host : masterHost, port: masterPort };
  } catch (error) {
    throw cause ?? error;
  } finally {
    node.disconnect();
  }
}

function inTurn<T>(items: readonly T[], turn: number): readonly T[] {
  const from = turn % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
