import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, ProblemError, type CheckRequest, type Client } from '@vantage/client';
import type { Check, Failure } from '@vantage/contract';
import {
  findRedisServer,
  startRedisCluster,
  startRedisSentinel,
  type RedisCluster,
  type RedisSentinel,
} from '@vantage/redis-server';

import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { startTargets, type Targets } from '../test/targets.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;

/** True for root, and in CI, where raw sockets are required. CAP_NET_RAW would suffice, but is not looked for. */
const hasRawSockets = process.getuid?.() === 0 || process.env['CI'] !== undefined;

describe.each([
  { name: 'a cluster of three masters', kind: 'cluster' },
  { name: 'a master and a replica watched by Sentinels', kind: 'sentinel' },
] as const)('the whole service on $name', ({ kind }) => {
  const data = temporaryFolder();
  let redis: RedisCluster | RedisSentinel;
  let targets: Targets;
  let service: Service;
  let client: Client;

  beforeAll(async () => {
    [redis, targets] = await Promise.all([
      kind === 'cluster' ? startRedisCluster(executable) : startRedisSentinel(executable),
      startTargets(data.folder),
    ]);
    service = await startService(`${data.folder}/data`, ['--probes', '2', '--allow', '127.0.0.0/8'], {
      REDIS_URL: redis.url,
      SCREENSHOTS: 'off',
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
      NODE_EXTRA_CA_CERTS: targets.caFile,
      RATE_LIMIT_CHECK: '100000',
      RATE_LIMIT_RESULTS: '100000',
    });
    client = createClient({ baseUrl: service.url });
  }, 600_000);

  afterAll(async () => {
    await service?.stop();
    targets?.close();
    await redis?.stop();
    data.remove();
  });

  /** The results of a check; of another one if a server that a busy machine held up was replaced meanwhile. */
  async function check(request: CheckRequest): Promise<readonly unknown[]> {
    const done = await untilItIs(() => client.check(request), isAnswered);
    expect(done).toMatchObject({ status: 'completed', type: request.type });
    return Object.values(done.results);
  }

  it('measures by every probe, type after type', async () => {
    const requests: readonly CheckRequest[] = [
      { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort },
      { type: 'udp', host: '127.0.0.1', port: targets.udpPort },
      { type: 'dns', host: 'www.example.com' },
      { type: 'http', host: `http://127.0.0.1:${targets.httpPort}/` },
      { type: 'info', host: '127.0.0.1' },
      ...(hasRawSockets ? [{ type: 'ping', host: '127.0.0.1', options: { count: 2, interval: 200 } } as const] : []),
    ];
    // Ids are random: with this many checks each node of a cluster stores some.
    for (const request of requests) {
      for (const results of await Promise.all([check(request), check(request)])) {
        expect(results).toHaveLength(2);
        for (const result of results) expect(result).toMatchObject({ result: 'success', error: null });
      }
    }
  });

  it('lists its probes and limits its callers as on one server', async () => {
    const probes = await untilTaken(() => client.probes());
    const me = await untilTaken(() => client.me());

    expect(Object.keys(probes)).toEqual(['demo-1', 'demo-2']);
    expect(me.ip).toBe('127.0.0.1');
  });

  it('keeps what it promised when a server dies, and goes on where another can take its place', async () => {
    const request: CheckRequest = { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort };
    const done = await untilItIs(() => client.check(request), hasSucceeded);
    const started = await untilItAnswers(() => client.startCheck(request));

    if ('masterPort' in redis) {
      process.kill(redis.servers[0].pid, 'SIGKILL');
    } else {
      // This node has no replica, so nothing replaces it; it resumes after SIGCONT.
      process.kill(redis.nodes[1]!.pid, 'SIGSTOP');
      setTimeout(() => process.kill((redis as RedisCluster).nodes[1]!.pid, 'SIGCONT'), 3_000);
    }
    await untilItAnswers(() => client.startCheck(request));
    const again = await untilItAnswers(() => client.results(done.testId));
    await untilItIs(
      () => client.results(started.checkId, { waitSeconds: 25 }),
      ({ status }) => status === 'completed',
    );

    expect(again).toEqual(done);
    const next = await untilItIs(() => client.check(request), hasSucceeded);
    expect(Object.keys(next.results)).toHaveLength(2);
    if ('masterPort' in redis) expect(await redis.masterPort()).toBe(redis.servers[1].port);
  }, 600_000);
});

/** True if Redis is unavailable, or the agents are not connected to it again. */
function isAway(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 503 || error.message.includes('is online'));
}

/** Retries while Redis is unavailable, or no agent is connected to it. */
async function untilItAnswers<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isAway(error)) throw error;
      await sleep(100);
    }
  }
}

/** Repeats a request until its answer is the expected one: agents reconnect at different times. */
async function untilItIs<T>(request: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await untilItAnswers(request);
    if (isSo(answer)) return answer;
  }
}

const hasSucceeded = ({ results }: Check): boolean =>
  Object.values(results).every(({ result }) => result === 'success');

/** True if every probe has answered. */
const isAnswered = ({ results }: Check): boolean =>
  Object.values(results).every(({ error }) => (error as Failure | null)?.source !== 'probe');

/** Repeats a request after the time that the response states: a slow Redis counts as unavailable. */
async function untilTaken<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 503) throw error;
      await sleep(1_000 * (error.retryAfterSeconds ?? 1));
    }
  }
}
