import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';
import { unpackPackages } from '@vantage/test-support/debian-packages';

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
  const flags = ['--allow', '127.0.0.0/8', '--rate-limit', '100000'];
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

/** Target of the checks whose packets are counted. */
const COUNTED = '127.9.7.3';
/** Target of the checks that run meanwhile. */
const OTHER = '127.9.7.4';
const ROUNDS = 60;

describe.each([
  ['at Redis', atRedis],
  ['at a gateway', atGateway],
])('a check that ends with its streams, of an agent %s', (_where, open) => {
  let bed: Bed;
  let capture: ChildProcess;
  let captured = '';
  let abandonedByOne: Promise<Result>;
  let unfollowed: Promise<Result>;

  beforeAll(async () => {
    bed = await open();
    const { program, environment } = await unpackPackages('tcpdump');
    const words = ['-n', '-l', '--immediate-mode', '-Z', 'root', '-i', 'lo', `icmp and dst host ${COUNTED}`];
    capture = spawn(program('tcpdump'), words, { env: { ...process.env, ...environment } });
    const listens = once(capture.stderr!, 'data');
    capture.stdout!.on('data', (text: Buffer) => (captured += text.toString()));
    await listens;
    abandonedByOne = leaveOneOfTwo();
    unfollowed = start(6, OTHER).then(completed);
    // The test that awaits this reports the failure.
    for (const result of [abandonedByOne, unfollowed]) result.catch(() => undefined);
  });

  afterAll(async () => {
    capture?.kill();
    await bed?.stop();
  });

  const packets = (): number => captured.split('\n').filter((line) => line.includes('echo request')).length;

  async function start(rounds: number, host: string): Promise<string> {
    const body = { type: 'traceroute', host, limit: 1, options: { rounds, endWithStream: true } };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${bed.urls[0]}/check`, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { readonly checkId: string }).checkId;
  }

  /** Follows the check until it has three rounds or more. @returns a function that leaves it */
  async function follow(url: string, id: string): Promise<() => void> {
    const leaving = new AbortController();
    const response = await fetch(`${url}/check/${id}/events`, { signal: leaving.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = ''; !/"rounds":[3-9]/.test(read);) read += (await reader.read()).value ?? '';
    // The rest of the stream must be read, because an unread stream stops.
    const drain = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    drain().catch(() => undefined);
    return () => leaving.abort();
  }

  async function completed(id: string): Promise<Result> {
    for (;;) {
      const response = await fetch(`${bed.urls[0]}/check/${id}/results?wait=25`);
      const check = (await response.json()) as Check;
      if (check.status === 'completed') return Object.values(check.results)[0] as unknown as Result;
    }
  }

  /** Two clients follow a check of 12 rounds, and one leaves it. */
  async function leaveOneOfTwo(): Promise<Result> {
    const id = await start(12, OTHER);
    const [leave, stay] = (await Promise.all(bed.urls.map((url) => follow(url, id)))) as [() => void, () => void];
    leave();
    const result = await completed(id);
    stay();
    return result;
  }

  it('sends no packet more when the last stream was left', async () => {
    const id = await start(ROUNDS, COUNTED);
    const leaves = await Promise.all(bed.urls.map((url) => follow(url, id)));
    for (const leave of leaves) leave();
    const result = await completed(id);
    const sent = packets();
    await sleep(2_500);

    expect(result).toMatchObject({ result: 'success', reached: true, roundsEnded: 'stream_closed' });
    expect(result.rounds).toBeGreaterThan(2);
    expect(result.rounds).toBeLessThan(ROUNDS);
    expect(packets()).toBe(sent);
  });

  it('goes on for the clients that are left', async () => {
    const result = await abandonedByOne;

    expect(result.rounds).toBe(12);
    expect(result).not.toHaveProperty('roundsEnded');
  });

  it('runs to its end if no client has followed it', async () => {
    const result = await unfollowed;

    expect(result.rounds).toBe(6);
    expect(result).not.toHaveProperty('roundsEnded');
  });
});
