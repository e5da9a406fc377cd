import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Check } from '@vantage/contract';
import { freePort } from '@vantage/redis-server';
import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startGatewayService, type Coordinator, type GatewayService } from '../test/gateway-service.ts';

let service: GatewayService;
/** A target that answers after a moment, and counts the requests of each path. */
let target: Server;
let targetUrl: string;
const asked = new Map<string, number>();
const settings = { RATE_LIMIT_CHECK: '1000000', RATE_LIMIT_TARGET: '1000000', RATE_LIMIT_TARGET_PORTS: '1000000' };

beforeAll(async () => {
  target = createServer((request, response) => {
    const path = request.url ?? '';
    asked.set(path, (asked.get(path) ?? 0) + 1);
    setTimeout(() => response.end('hello'), 300);
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  service = await startGatewayService();
});

afterAll(async () => {
  await service.stop();
  target.closeAllConnections();
  target.close();
});

async function isUp(probe: string): Promise<boolean> {
  return ['healthy', 'degraded'].includes((await service.probes())[probe]?.status ?? '');
}

async function stop({ process: child }: Pick<Coordinator, 'process'>): Promise<number | null> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [status] = (await ended) as [number | null];
  return status;
}

/** Maximum number of checks that have not reached the target: with more, a slow machine would fall behind further and further. */
const MOST_OPEN = 8;

/** Starts a check every 100 ms. On a busy machine one may be refused; an accepted one must not be lost. */
function startLoad(probe: string): { readonly checks: Map<string, string>; readonly end: () => Promise<void> } {
  const checks = new Map<string, string>();
  const starting: Promise<void>[] = [];
  const timer = setInterval(() => {
    if (starting.length - asked.size >= MOST_OPEN) return;
    const path = `/${starting.length}`;
    const started = service.startCheck({ type: 'http', host: `${targetUrl}${path}`, probes: [probe] });
    starting.push(
      started.then(
        (check) => void checks.set(path, check),
        () => undefined,
      ),
    );
  }, 100);
  return {
    checks,
    end: async () => {
      clearInterval(timer);
      await Promise.all(starting);
    },
  };
}

describe('an agent at a gateway', () => {
  it('is upgraded while its gateway stops: each check has one result, and its target one request', async () => {
    const [first, second] = await Promise.all([service.startCoordinator(settings), service.startCoordinator(settings)]);
    service.route(second);
    const state = { VANTAGE_STATE_FOLDER: join(service.folder, 'state-up-1') };
    service.route(first);
    const older = service.startAgent({ VANTAGE_TOKEN: await service.invite('up-1'), ...state });
    await until(() => isUp('up-1'));
    const load = startLoad('up-1');
    await until(() => load.checks.size >= 5);
    const newer = service.startAgent(state);
    await until(() => older.log().includes('has taken over'));
    service.route(second);
    const statuses = await Promise.all([stop(older), stop(first)]);
    await until(() => newer.log().split('"connected to the gateway"').length > 2);
    const enough = load.checks.size + 10;
    await until(() => load.checks.size >= enough);
    await load.end();
    const results = await Promise.all([...load.checks.values()].map((check) => service.completed(check)));

    expect(statuses).toEqual([0, 0]);
    expect(results.map((check) => check.results['up-1']?.['result'])).toEqual(results.map(() => 'success'));
    expect([...load.checks.keys()].map((path) => [path, asked.get(path)])).toEqual(
      [...load.checks.keys()].map((path) => [path, 1]),
    );
  });
});

describe('an agent at a gateway works through a proxy', () => {
  const ways: readonly (readonly [name: string, probe: string, pass: Pass])[] = [
    ['collects bytes and sends them together', 'lumps-1', collect],
    ['sends each byte alone', 'bytes-1', sendSingly],
  ];
  const proxies: { readonly close: () => void }[] = [];
  /** A check by the agent behind each proxy. */
  const checks = new Map<string, Promise<Check>>();

  // Started together: each check mostly waits for its proxy.
  beforeAll(() => {
    for (const [name, probe, pass] of ways) {
      const check = checkThrough(probe, pass);
      // The test that awaits this reports the failure.
      check.catch(() => undefined);
      checks.set(name, check);
    }
  });

  afterAll(() => {
    for (const proxy of proxies) proxy.close();
  });

  async function checkThrough(probe: string, pass: Pass): Promise<Check> {
    const port = await freePort();
    const proxy = await startProxy(await freePort(), port, pass);
    proxies.push(proxy);
    service.route(await service.startCoordinator({ ...settings, PUBLIC_URL: proxy.url, PORT: String(port) }));
    const env = { VANTAGE_URL: proxy.url, VANTAGE_STATE_FOLDER: join(service.folder, `state-${probe}`) };
    service.startAgent({ VANTAGE_TOKEN: await service.invite(probe), ...env });
    await until(() => isUp(probe));
    const check = await service.startCheck({ type: 'http', host: `${targetUrl}/${probe}`, probes: [probe] });
    return service.completed(check);
  }

  it.each(ways)('that %s, the first ones after the upgrade too', async (name, probe) => {
    const { results } = (await checks.get(name))!;

    expect(results[probe]).toMatchObject({ result: 'success', statusCode: 200 });
  });
});

type Pass = (to: Socket) => (bytes: Buffer) => void;

/** Buffers bytes before it passes them on, as proxies with response buffering do. */
function collect(to: Socket): (bytes: Buffer) => void {
  let kept: Buffer[] = [];
  return (bytes) => {
    if (kept.length === 0) {
      setTimeout(() => {
        to.write(Buffer.concat(kept));
        kept = [];
      }, 200);
    }
    kept.push(bytes);
  };
}

function sendSingly(to: Socket): (bytes: Buffer) => void {
  to.setNoDelay(true);
  let sent: Promise<unknown> = Promise.resolve();
  return (bytes) => {
    sent = sent.then(async () => {
      for (const byte of bytes) {
        to.write(Buffer.of(byte));
        await sleep(0);
      }
    });
  };
}

async function startProxy(port: number, to: number, pass: Pass): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', pass(other));
      from.on('error', () => undefined);
      from.on('close', () => other.destroy());
    }
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
