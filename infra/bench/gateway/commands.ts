import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RedisServer } from '@vantage/redis-server';

import { median, type Figure } from '../goals.ts';
import { invitation, openAdmin, untilStatus } from './admin.ts';
import { startCoordinator } from './service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TIMES = 3;

/**
 * Time from running the command that `probe:invite` prints to a healthy probe, and from `probe:suspend` to an offline
 * one.
 */
export async function commands(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const coordinator = await startCoordinator(redis);
  const { url } = coordinator;
  const folder = mkdtempSync(join(tmpdir(), 'vantage-bench-'));
  const admin = openAdmin(redis.url, url);
  const [startS, suspendS]: [number[], number[]] = [[], []];
  try {
    for (let time = 0; time < (quick ? 1 : TIMES); time += 1) {
      const probe = `new-${time}`;
      const { bareHost } = await invitation(admin, probe);
      const begin = performance.now();
      // The shell leads a process group: npm does not pass on every signal.
      const child = spawn('sh', ['-c', bareHost], {
        cwd: ROOT,
        stdio: 'ignore',
        detached: true,
        env: { PATH: process.env['PATH'], HOME: folder, VANTAGE_STATE_FOLDER: join(folder, probe) },
      });
      try {
        await untilStatus(url, probe, 'healthy');
        startS.push((performance.now() - begin) / 1_000);
        const asked = performance.now();
        await admin('suspend', probe);
        await untilStatus(url, probe, 'offline');
        suspendS.push((performance.now() - asked) / 1_000);
      } finally {
        process.kill(-child.pid!, 'SIGKILL');
      }
    }
  } finally {
    await coordinator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const of = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(', ');
  return [
    {
      name: 'from the command for a bare host to a healthy probe',
      value: median(startS),
      unit: 's',
      atMost: 10,
      comparison: of(startS),
    },
    {
      name: 'from probe:suspend to an offline probe',
      value: Math.max(...suspendS),
      unit: 's',
      atMost: 1,
      comparison: of(suspendS),
    },
  ];
}
