import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { canMount, smallDisk } from '../test/small-disk.ts';

const WAIT_LIMIT_MS = 240_000;
/** The service promises two seconds; the rest is for a busy machine. */
const ANSWERS_WITHIN_MS = 20_000;

(canMount ? describe : describe.skip)('a service whose disk is full', () => {
  const data = temporaryFolder();
  const disk = smallDisk(data.folder, 24);
  let service: Service;

  beforeAll(async () => {
    const env = { RATE_LIMIT_CHECK: '100000', METRICS_PORT: '0', RATE_LIMIT_TARGET: '100000' };
    const flags = ['--allow', '127.0.0.0/8', '--probes', '1'];
    service = await startService(
      `${data.folder}/data`,
      flags,
      { ...env, RATE_LIMIT_TARGET_PORTS: '100000' },
      disk.prefix,
    );
  }, WAIT_LIMIT_MS);

  afterAll(async () => {
    await service?.stop();
    data.remove();
  }, WAIT_LIMIT_MS);

  const answer = (path: string, body?: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const check = (): Promise<Response> => answer('/check', { type: 'tcp', host: '127.0.0.1', port: 9 });
  const log = (name: string): readonly string[] =>
    readFileSync(`/proc/${service.pid}/root${data.folder}/data/logs/${name}.log`, 'utf8').trim().split('\n');

  async function checkUntil(status: number): Promise<Response> {
    for (;;) {
      const response = await check();
      if (response.status === status) return response;
      await sleep(100);
    }
  }

  async function untilPrinted(words: string): Promise<void> {
    while (!service.printed().includes(words)) await sleep(50);
  }

  it(
    'refuses checks, answers all else, reports it in the terminal, and recovers when there is space',
    async () => {
      const before = service.running();
      expect((await check()).status).toBe(202);

      disk.fill(service.pid);
      const refused = (await (await checkUntil(503)).json()) as { readonly detail: string };
      let ready = await answer('/readyz');
      while (ready.status !== 503) ready = await answer('/readyz');
      const missing = ((await ready.json()) as { readonly detail: string }).detail;
      const statuses: number[][] = [];
      for (let asked = 0; asked < 30; asked += 1)
        statuses.push([(await answer('/healthz')).status, (await check()).status]);
      await untilPrinted(' is full');
      disk.free(service.pid);
      const { checkId } = (await (await checkUntil(202)).json()) as { readonly checkId: string };
      const done = await (await answer(`/check/${checkId}/results?wait=25`)).json();
      await untilPrinted('has room again');

      expect(statuses).toEqual(Array.from({ length: 30 }, () => [200, 503]));
      expect(refused.detail).toBe('The store of the service answers, but refuses writes now. Nothing was accepted.');
      expect(missing).toMatch(/^Redis refuses writes: MISCONF .*No space left on device\.(?: No probe is healthy\.)?$/);
      expect(done).toMatchObject({ status: 'completed', results: { 'demo-1': { state: 'closed' } } });
      expect(service.running()).toEqual(before);
      expect(service.printed()).not.toContain('restarting it');
    },
    WAIT_LIMIT_MS,
  );

  it(
    'answers checks without an inode, reports it in the terminal, and lets Redis shorten its file afterwards',
    async () => {
      const before = service.running();
      const appendOnlyFiles = (): readonly string[] =>
        readdirSync(`/proc/${service.pid}/root${data.folder}/data/redis/appendonlydir`);
      const files = appendOnlyFiles();

      disk.fillInodes(service.pid);
      await untilPrinted('has no inodes left');
      const statuses: number[] = [];
      for (let asked = 0; asked < 10; asked += 1) statuses.push((await check()).status);
      process.kill(before.redis!.pid, 'SIGKILL');
      await untilPrinted('Redis exited; restarting it.');
      const { checkId } = (await (await checkUntil(202)).json()) as { readonly checkId: string };
      const done = await (await answer(`/check/${checkId}/results?wait=25`)).json();
      disk.freeInodes(service.pid);
      await untilPrinted('has inodes again');

      expect(statuses).toEqual(Array.from({ length: 10 }, () => 202));
      expect(done).toMatchObject({ status: 'completed', results: { 'demo-1': { state: 'closed' } } });
      while (isDeepStrictEqual(appendOnlyFiles(), files)) await sleep(100);
    },
    WAIT_LIMIT_MS,
  );

  it(
    'counts the lines of its log that were lost, in the log and in the metrics',
    async () => {
      const reports = log('coordinator').flatMap((line) => {
        const entry = parse(line);
        return entry?.msg === 'log lines dropped' ? [entry] : [];
      });
      const metricsPort = log('coordinator')
        .map(parse)
        .find((entry) => entry?.metricsPort !== undefined)?.metricsPort;
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const counted = Number(/^vantage_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);

      expect(reports.length).toBeGreaterThan(0);
      expect(reports.every(({ cause }) => cause === 'ENOSPC')).toBe(true);
      // Each refused check logs two lines.
      expect(counted).toBeGreaterThanOrEqual(30);
      expect(reports.reduce((sum, { dropped = 0 }) => sum + dropped, 0)).toBe(counted);
    },
    WAIT_LIMIT_MS,
  );
});

(canMount ? it : it.skip)(
  'a service that is started on a full disk says so and ends',
  async () => {
    const { folder, remove } = temporaryFolder();

    await expect(startService(`${folder}/data`, [], {}, smallDisk(folder, 8).fullPrefix)).rejects.toThrow(
      /The disk of .*data is full\.\nMake room/,
    );
    remove();
  },
  WAIT_LIMIT_MS,
);

(canMount ? it : it.skip)(
  'a service that is started on a disk without inodes says so and ends',
  async () => {
    const { folder, remove } = temporaryFolder();

    await expect(startService(`${folder}/data`, [], {}, smallDisk(folder, 8, 10).prefix)).rejects.toThrow(
      /The disk of .*data has no inodes left\.\nRemove files/,
    );
    remove();
  },
  WAIT_LIMIT_MS,
);

interface Entry {
  readonly msg?: string;
  readonly dropped?: number;
  readonly cause?: string;
  readonly metricsPort?: number;
}

/** A line that was being written when the disk became full is incomplete. */
function parse(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
}
