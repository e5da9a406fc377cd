import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Failure } from '@vantage/contract';
import { unpackPackages } from '@vantage/test-support/debian-packages';

import { end, startGatewayService, type GatewayService, type StartedAgent } from '../test/gateway-service.ts';
import { startRelay, type Relay } from '../test/relay.ts';

/** Only packets to addresses of this network are counted; each probe of a test has a separate one as its target. */
const COUNTED = '127.9.6.0/24';
const ROUNDS = 60;
/**
 * Bound of the time from the end of the command to the last packet, for a busy machine too. Each of the checks would
 * go on for longer.
 */
const WITHIN_MS = 6_000;
/** Longer than any pause between two packets of a check. */
const QUIET_MS = 2_500;
const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

let service: GatewayService;
let capture: ChildProcess;
/** The beginning of a line of the capture that is not complete yet. */
let captured = '';
/** Times at which packets were sent to an address, milliseconds since the epoch. */
const sentTo = new Map<string, number[]>();
/** A target that sends a byte every 100 ms. */
let target: Server;
const asked: string[] = [];
const relays: Relay[] = [];

beforeAll(async () => {
  target = createServer(({ url = '' }, response) => {
    asked.push(url);
    const timer = setInterval(() => response.write('x'), 100);
    response.on('close', () => clearInterval(timer));
  }).listen(0, '0.0.0.0');
  await once(target, 'listening');
  service = await startGatewayService();
  service.route(await service.startCoordinator({ RATE_LIMIT_CHECK: '1000000' }));
  const { program, environment } = await unpackPackages('tcpdump');
  const words = ['-n', '-l', '-tt', '--immediate-mode', '-Z', 'root', '-i', 'lo', `dst net ${COUNTED}`];
  capture = spawn(program('tcpdump'), words, { env: { ...process.env, ...environment } });
  capture.stdout!.on('data', readCapture);
  await once(capture.stderr!, 'data');
});

afterAll(async () => {
  capture?.kill();
  await service?.stop();
  for (const relay of relays) relay.close();
  target?.closeAllConnections();
  target?.close();
});

/** Reads each line once: the tests poll for packets, and there are thousands. */
function readCapture(text: Buffer): void {
  const lines = (captured + text.toString()).split('\n');
  captured = lines.pop()!;
  for (const line of lines) {
    const [, host] = / > (127\.9\.6\.\d+)[.:]/.exec(line) ?? [];
    if (host === undefined) continue;
    const times = sentTo.get(host) ?? [];
    times.push(Number.parseFloat(line) * 1_000);
    sentTo.set(host, times);
  }
}

const packetsTo = (host: string): readonly number[] => sentTo.get(host) ?? [];

/** Waits until more packets than this are sent to an address. */
async function untilSent(host: string, more = 2): Promise<void> {
  const before = packetsTo(host).length;
  await until(() => packetsTo(host).length > before + more);
}

/** Makes a probe. @returns the environment of its agent */
type AddProbe = (probe: string, relay: Relay) => Promise<Readonly<Record<string, string>>>;

const atGateway: AddProbe = async (probe, { proxyPort }) => ({
  VANTAGE_TOKEN: await service.invite(probe),
  VANTAGE_STATE_FOLDER: join(service.folder, `state-${probe}-${Date.now()}`),
  HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
});

const withLogin: AddProbe = async (probe, relay) => {
  const file = join(service.folder, `${probe}-${Date.now()}.env`);
  await service.adminHere('add', probe, ...record, '--env', file);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const env = Object.fromEntries(lines.map((line) => /^(\w+)=(.*)$/.exec(line)!.slice(1)));
  return { ...env, REDIS_URL: through(relay, env['REDIS_URL']), VANTAGE_URL: '' };
};

const withoutLogin: AddProbe = async (probe, relay) => {
  await service.adminHere('add', probe, ...record, '--record-only');
  return { PROBE_ID: probe, REDIS_URL: through(relay, service.redis.url), VANTAGE_URL: '' };
};

function through(relay: Relay, redisUrl: string): string {
  const url = new URL(redisUrl);
  url.port = String(relay.port);
  return url.href;
}

/** A probe with its agent and its own targets. */
interface Trial {
  readonly probe: string;
  readonly host: string;
  /** Further targets that no other probe has, from 1. */
  readonly otherHost: (number: number) => string;
  readonly relay: Relay;
  readonly agent: StartedAgent;
  readonly status: () => Promise<string>;
  readonly reason: () => Promise<string>;
  /** Writes the record of the probe again, after its removal. */
  readonly add: () => Promise<unknown>;
  readonly start: (check: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly startTrace: (host?: string) => Promise<string>;
  readonly codeOf: (check: string) => Promise<string | undefined>;
}

const transports: readonly (readonly [name: string, add: AddProbe])[] = [
  ['gateway', atGateway],
  ['login', withLogin],
  ['open', withoutLogin],
];
let trials = 0;

async function openTrial(name: string, add: AddProbe): Promise<Trial> {
  trials += 1;
  const own = trials;
  const otherHost = (number: number): string => `127.9.6.${10 * number + own}`;
  const [probe, host] = [`${name}-${own}`, otherHost(0)];
  const relay = await startRelay(Number(new URL(service.redis.url).port));
  relays.push(relay);
  const agent = service.startAgent({ CONCURRENCY: '5', ...(await add(probe, relay)) });
  const read = async () => (await service.probes())[probe];
  const start: Trial['start'] = (check) => service.startCheck({ host, probes: [probe], ...check });
  const trial: Trial = {
    probe,
    host,
    otherHost,
    relay,
    agent,
    start,
    add: () => add(probe, relay),
    status: async () => (await read())?.status ?? '',
    reason: async () => (await read())?.reason ?? '',
    startTrace: (to = host) => start({ type: 'traceroute', host: to, options: { rounds: ROUNDS } }),
    codeOf: async (check) => ((await service.completed(check)).results[probe]?.['error'] as Failure | null)?.code,
  };
  await until(async () => (await trial.status()) === 'healthy');
  return trial;
}

/** Opens trials with an agent at a gateway, one with a separate Redis login, and one without a login. */
const openTrials = (): Promise<readonly Trial[]> => Promise.all(transports.map(([name, add]) => openTrial(name, add)));

/** Runs a test with each trial. @returns the outcomes by transport */
async function withEach<T>(
  these: readonly Trial[],
  test: (trial: Trial) => Promise<T>,
): Promise<Readonly<Record<string, T>>> {
  const outcomes = await Promise.all(these.map(test));
  return Object.fromEntries(transports.map(([name], index) => [name, outcomes[index]!]));
}

/** Waits until the agent can work again, so that the next test can use it. */
async function untilBack({ probe, status }: Trial, isSuspended: boolean): Promise<void> {
  if (isSuspended) await service.adminHere('resume', probe);
  await until(async () => isUp(await status()));
}

/**
 * Starts a trace and waits for its packets. The last suspension may still end a trace that is started at once, before it
 * has sent any, or the probe may be found offline: then another one is started.
 */
async function startSent({ status, startTrace }: Trial, host: string): Promise<string> {
  for (;;) {
    await until(async () => isUp(await status()));
    const check = await startTrace(host).catch(() => undefined);
    if (check === undefined) {
      await sleep(100);
      continue;
    }
    let hasEnded = false;
    const ended = (): void => {
      hasEnded = true;
    };
    service.completed(check).then(ended, ended);
    const before = packetsTo(host).length;
    await until(() => hasEnded || packetsTo(host).length > before + 2);
    if (!hasEnded) return check;
  }
}

const each = <T>(value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(transports.map(([name]) => [name, value]));

/** @returns the delays of the packets that were sent more than `WITHIN_MS` after `endedMs`, milliseconds */
async function lateAfter(host: string, endedMs: number): Promise<readonly number[]> {
  const isOver = (): boolean => Date.now() > endedMs + WITHIN_MS + QUIET_MS;
  await until(() => Math.max(endedMs, packetsTo(host).at(-1) ?? 0) + QUIET_MS < Date.now() || isOver());
  return packetsTo(host).flatMap((ms) => (ms > endedMs + WITHIN_MS ? [ms - endedMs] : []));
}

const isUp = (status: string): boolean => status === 'healthy' || status === 'degraded';
const page = (host: string, path: string): string => `http://${host}:${portOf(target)}${path}`;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe('the agent of a probe', () => {
  /** The trials of all tests except the one of a removal. */
  let shared: readonly Trial[];
  let removal: Promise<unknown>;

  beforeAll(async () => {
    const [opened, removed] = await Promise.all([openTrials(), openTrials()]);
    shared = opened;
    removal = withEach(removed, async ({ probe, host, agent, add, startTrace, codeOf }) => {
      const check = await startTrace();
      await untilSent(host);
      await service.adminHere('remove', probe);
      await add();
      const outcome = [await lateAfter(host, Date.now()), await codeOf(check)];
      await end(agent.process);
      return outcome;
    });
    // The test that awaits this reports the failure.
    removal.catch(() => undefined);
  });

  it('ends the packets of its checks if it is resumed at once, which is no unstable connection', async () => {
    const outcomes = await withEach(shared, async (trial) => {
      const { probe, otherHost, codeOf, status, reason } = trial;
      const rounds: Promise<unknown>[] = [];
      for (let times = 1; times <= 3; times += 1) {
        const host = otherHost(times);
        const check = await startSent(trial, host);
        await service.adminHere('suspend', probe);
        await service.adminHere('resume', probe);
        rounds.push(lateAfter(host, Date.now()), codeOf(check));
      }
      const found = await Promise.all(rounds);
      await until(async () => isUp(await status()) && !(await reason()).includes('a moment ago'));
      return [...found, await reason()];
    });

    const round = [[], 'probe_suspended'];
    expect(outcomes).toEqual(each([...round, ...round, ...round, '']));
  });

  it('ends them when the probe is removed, also if it is added again at once', async () => {
    expect(await removal).toEqual(each([[], 'probe_removed']));
  });

  it.each([
    ['is still suspended', false],
    ['was resumed meanwhile', true],
  ])('ends them when it returns from an outage of its network and the probe %s', async (_what, isResumed) => {
    const outcomes = await withEach(shared, async (trial) => {
      const { probe, host, relay, startTrace, codeOf } = trial;
      const check = await startTrace();
      await untilSent(host);
      relay.cut();
      await service.adminHere('suspend', probe);
      const code = await codeOf(check);
      if (isResumed) await service.adminHere('resume', probe);
      await untilSent(host);
      relay.heal();
      const late = await lateAfter(host, Date.now());
      await untilBack(trial, !isResumed);
      return [late, code];
    });

    expect(outcomes).toEqual(each([[], 'probe_suspended']));
  });

  it('ends them when its process goes on after a stall in which the probe was suspended', async () => {
    const outcomes = await withEach(shared, async (trial) => {
      const { probe, host, agent, startTrace, codeOf } = trial;
      const check = await startTrace();
      await untilSent(host);
      agent.process.kill('SIGSTOP');
      await service.adminHere('suspend', probe);
      const code = await codeOf(check);
      agent.process.kill('SIGCONT');
      const late = await lateAfter(host, Date.now());
      await untilBack(trial, true);
      return [late, code];
    });

    expect(outcomes).toEqual(each([[], 'probe_suspended']));
  });

  it('ends those of checks of all types at a suspension, and has all of its slots afterwards', async () => {
    const outcomes = await withEach(shared, async (trial) => {
      const { probe, host, otherHost, start, startTrace, codeOf } = trial;
      const slow = { maxBodyBytes: 1_048_576, screenshot: false };
      const checks = await Promise.all([
        startTrace(),
        start({ type: 'traceroute', options: { protocol: 'tcp', port: portOf(target), rounds: ROUNDS } }),
        start({ type: 'ping', options: { count: 16, interval: 1_000 } }),
        start({ type: 'http', host: page(host, '/'), options: slow }),
      ]);
      await start({ type: 'udp', port: 9_999, options: { payload: '00' } });
      await untilSent(host, 20);
      await service.adminHere('suspend', probe);
      const late = await lateAfter(host, Date.now());
      const codes = await Promise.all(checks.map(codeOf));

      await untilBack(trial, true);
      const others = [4, 5].map(otherHost);
      const pages = ['a', 'b', 'c'].map((name) =>
        start({ type: 'http', host: page(host, `/${name}-${probe}`), options: slow }),
      );
      await Promise.all([...pages, ...others.map(startTrace)]);
      await until(() => asked.filter((url) => url.endsWith(probe)).length === 3);
      await until(() => others.every((other) => packetsTo(other).length > 0));
      return [late, ...codes];
    });

    expect(outcomes).toEqual(each([[], ...Array<string>(4).fill('probe_suspended')]));
  });
});
