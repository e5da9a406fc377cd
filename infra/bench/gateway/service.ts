import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, type RedisServer } from '@vantage/redis-server';

import { nodeFlags } from '../../../apps/standalone/src/node-flags.ts';
import { end, startProcess } from '../load/processes.ts';

const COORDINATOR = new URL('../../../apps/coordinator/src/main.ts', import.meta.url);
const MANY = '1000000000';

/** A coordinator with its gateway. */
export interface Coordinator {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly stop: () => Promise<void>;
}

/**
 * @param publicUrl service URL to which agents connect; by default the coordinator's own
 * @param host address at which the coordinator listens
 */
export async function startCoordinator(
  redis: RedisServer,
  publicUrl?: string,
  host = '127.0.0.1',
): Promise<Coordinator> {
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const env = {
    HOST: host,
    PORT: String(port),
    PUBLIC_URL: publicUrl ?? url,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    // The front and some simulated agents state client addresses in `X-Forwarded-For`.
    TRUSTED_PROXIES: '1',
    RATE_LIMIT_PROBES: MANY,
    RATE_LIMIT_CHECK: MANY,
    RATE_LIMIT_RESULTS: MANY,
    RATE_LIMIT_TARGET: MANY,
    RATE_LIMIT_TARGET_PORTS: MANY,
    RATE_LIMIT_CLIENT_TARGETS: MANY,
    TARGET_ALLOW: '127.0.0.0/8',
  };
  const child = startProcess(COORDINATOR, [], env, nodeFlags.coordinator);
  await untilListening(url);
  return { url, port, child, stop: () => end(child) };
}

async function untilListening(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    if (response?.ok === true) return;
    await sleep(100);
  }
}

/**
 * An address that forwards each new connection to the coordinator of the latest `route`, as a reverse proxy does, with
 * another client address each time: gateways limit attempts by address.
 */
export interface Front {
  readonly url: string;
  readonly route: (port: number) => void;
  /** When each connection arrived, milliseconds of `performance.now()`. */
  readonly connects: () => readonly number[];
  readonly close: () => void;
}

export async function startFront(): Promise<Front> {
  const sockets = new Set<Socket>();
  const connects: number[] = [];
  let target = 0;
  const server = createServer((client) => {
    connects.push(performance.now());
    const upstream = connect(target, '127.0.0.1');
    const number = connects.length;
    client.once('data', (head: Buffer) => {
      const [request = '', ...rest] = head.toString('latin1').split('\r\n');
      const forwarded = `X-Forwarded-For: 10.0.${(number >> 8) & 255}.${number & 255}`;
      upstream.write([request, forwarded, ...rest].join('\r\n'), 'latin1');
      client.on('data', (chunk) => upstream.write(chunk));
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    route: (port) => {
      target = port;
    },
    connects: () => connects,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const tcpTarget = { type: 'tcp', host: '127.0.0.1', port: 9 };

/** Starts a check on one probe, by default of type tcp, and returns its id. */
export async function startCheck(url: string, probe: string, target: object = tcpTarget): Promise<string> {
  const body = JSON.stringify({ ...target, probes: [probe] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/check`, { method: 'POST', body, headers });
  if (response.status !== 202) throw new Error(`POST /check: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { readonly checkId: string }).checkId;
}

/** Waits until a check is completed and returns the outcome of its probe, such as `success`. */
export async function outcomeOf(url: string, check: string, probe: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/check/${check}/results?wait=25`);
    const { status, results } = (await response.json()) as {
      readonly status: string;
      readonly results: Readonly<
        Record<string, { readonly result: string; readonly error?: { readonly code: string } }>
      >;
    };
    if (status !== 'completed') continue;
    const found = results[probe];
    return found?.error?.code ?? found?.result ?? 'none';
  }
}
