import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';
import { unpackPackages } from '@vantage/test-support/debian-packages';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';

import { startGatewayService, type GatewayService } from '../test/gateway-service.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

interface Bed {
  /** URLs of the coordinators: twice the same one if there is only one. */
  readonly urls: readonly [string, string];
  readonly stop: () => Promise<unknown>;
}

/** Starts a service with one coordinator, whose agents connect to Redis. */
async function atRedis(): Promise<Bed> {
  const data = temporaryFolder();
  const flags = ['--probes', '1', '--allow', '127.0.0.0/8', '--rate-limit', '100000'];
  const service: Service = await startService(`${data.folder}/data`, flags);
  const stop = async (): Promise<void> => {
    await service.stop();
    data.remove();
  };
  return { urls: [service.url, service.url], stop };
}

/** Starts two coordinators, and an agent that connects to the gateway of one of them. */
async function atGateway(): Promise<Bed> {
  const service: GatewayService = await startGatewayService();
  const [first, second] = [await service.startCoordinator(), await service.startCoordinator()];
  service.route(first);
  const token = await service.invite('away-1');
  service.startAgent({ VANTAGE_TOKEN: token, VANTAGE_STATE_FOLDER: `${service.folder}/away` });
  for (let status = ''; status !== 'healthy'; await sleep(200)) {
    status = (await service.probes())['away-1']?.status ?? '';
  }
  const urls = [first, second].map(({ port }) => `http://127.0.0.1:${port}`) as unknown as Bed['urls'];
  return { urls, stop: service.stop };
}

interface Result {
  readonly result: string;
  readonly rounds?: number;
  readonly roundsEnded?: string;
}

/** Target of the checks that run meanwhile. */
const OTHER = '127.9.7.4';
const ROUNDS = 60;

interface Outcome {
  /** Result of a check whose last client left. */
  readonly left: Result;
  /** Times at which the check sent packets after its end, milliseconds after it. */
  readonly late: readonly number[];
  /** Result of a check of 8 rounds that one of two clients left. */
  readonly leftByOne: Result;
  /** Result of a check of 6 rounds that no client followed. */
  readonly unfollowed: Result;
}

/** @param host target of the check whose packets are counted */
async function measure(open: () => Promise<Bed>, host: string): Promise<Outcome> {
  const [bed, capture] = await Promise.all([open(), startCapture(host)]);
  try {
    const others = Promise.all([leaveOneOfTwo(bed), start(bed, 6, OTHER).then((id) => completed(bed, id))]);
    // Awaited below.
    others.catch(() => undefined);
    const id = await start(bed, ROUNDS, host);
    const leaves = await Promise.all(bed.urls.map((url) => follow(url, id)));
    for (const leave of leaves) leave();
    const left = await completed(bed, id);
    const endedMs = Date.now();
    await sleep(2_500);
    const late = capture.sentMs().flatMap((ms) => (ms > endedMs ? [ms - endedMs] : []));
    const [leftByOne, unfollowed] = await others;
    return { left, late, leftByOne, unfollowed };
  } finally {
    capture.stop();
    await bed.stop();
  }
}

/** Captures packets with the times of the kernel, since the capture itself may be held up. */
async function startCapture(
  host: string,
): Promise<{ readonly sentMs: () => readonly number[]; readonly stop: () => void }> {
  const { program, environment } = await unpackPackages('tcpdump');
  const words = ['-n', '-l', '-tt', '--immediate-mode', '-Z', 'root', '-i', 'lo', `icmp and dst host ${host}`];
  const capture = spawn(program('tcpdump'), words, { env: { ...process.env, ...environment } });
  let captured = '';
  const listens = once(capture.stderr, 'data');
  capture.stdout.on('data', (text: Buffer) => (captured += text.toString()));
  await listens;
  const sentMs = (): readonly number[] =>
    captured.split('\n').flatMap((line) => (line.includes('echo request') ? [Number.parseFloat(line) * 1_000] : []));
  return { sentMs, stop: () => capture.kill() };
}

async function start({ urls }: Bed, rounds: number, host: string): Promise<string> {
  const body = { type: 'traceroute', host, limit: 1, options: { rounds, endWithStream: true } };
  const headers = { 'content-type': 'application/json' };
  const response = await fetchAccepted(`${urls[0]}/check`, { method: 'POST', headers, body: JSON.stringify(body) });
  return ((await response.json()) as { readonly checkId: string }).checkId;
}

/** Follows the check until it has three rounds or more. @returns a function that leaves it */
async function follow(url: string, id: string): Promise<() => void> {
  const leaving = new AbortController();
  const response = await fetchAccepted(`${url}/check/${id}/events`, { signal: leaving.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = ''; !/"rounds":[3-9]/.test(read);) read += (await reader.read()).value ?? '';
  // The rest of the stream must be read, because an unread stream stops.
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  drain().catch(() => undefined);
  return () => leaving.abort();
}

async function completed({ urls }: Bed, id: string): Promise<Result> {
  for (;;) {
    const response = await fetchAccepted(`${urls[0]}/check/${id}/results?wait=25`);
    const check = (await response.json()) as Check;
    if (check.status === 'completed') return Object.values(check.results)[0] as unknown as Result;
  }
}

/** Two clients follow a check of 8 rounds, and one leaves it. */
async function leaveOneOfTwo(bed: Bed): Promise<Result> {
  const id = await start(bed, 8, OTHER);
  const [leave, stay] = (await Promise.all(bed.urls.map((url) => follow(url, id)))) as [() => void, () => void];
  leave();
  const result = await completed(bed, id);
  stay();
  return result;
}

const beds: readonly (readonly [where: string, open: () => Promise<Bed>, host: string])[] = [
  ['at Redis', atRedis, '127.9.7.3'],
  ['at a gateway', atGateway, '127.9.7.5'],
];
const outcomes = new Map<string, Promise<Outcome>>();

// Both at once: most of the time passes between packets.
beforeAll(() => {
  for (const [where, open, host] of beds) {
    const outcome = measure(open, host);
    // The tests that await this report the failure.
    outcome.catch(() => undefined);
    outcomes.set(where, outcome);
  }
});

afterAll(() => Promise.allSettled(outcomes.values()));

describe.each(beds)('a check that ends with its streams, of an agent %s', (where) => {
  it('sends no packet more when the last stream was left', async () => {
    const { left, late } = (await outcomes.get(where))!;

    expect(left).toMatchObject({ result: 'success', reached: true, roundsEnded: 'stream_closed' });
    expect(left.rounds).toBeGreaterThan(2);
    expect(left.rounds).toBeLessThan(ROUNDS);
    expect(late).toEqual([]);
  });

  it('goes on for the clients that are left', async () => {
    const { leftByOne } = (await outcomes.get(where))!;

    expect(leftByOne.rounds).toBe(8);
    expect(leftByOne).not.toHaveProperty('roundsEnded');
  });

  it('runs to its end if no client has followed it', async () => {
    const { unfollowed } = (await outcomes.get(where))!;

    expect(unfollowed.rounds).toBe(6);
    expect(unfollowed).not.toHaveProperty('roundsEnded');
  });
});
