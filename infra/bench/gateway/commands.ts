import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { RedisServer } from '@vantage/redis-server';

import { runProbeAdmin } from '../../../apps/coordinator/src/admin/commands.ts';
import { readAdminConfig } from '../../../apps/coordinator/src/admin/config.ts';
import { median, type Figure } from '../goals.ts';
import { startCoordinator } from './service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];
const TIMES = 3;

/**
 * Time from running the command that `probe:invite` prints to a healthy probe, and from `probe:suspend` to an offline
 * one.
 */
export async function commands(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const coordinator = await startCoordinator(redis);
  const { url } = coordinator;
  const folder = mkdtempSync(join(tmpdir(), 'vantage-bench-'));
  const admin = async (...args: readonly string[]): Promise<string> => {
    const out: string[] = [];
    const config = readAdminConfig({ REDIS_URL: redis.url, PUBLIC_URL: url });
    const code = await runProbeAdmin(args, config, { out: (line) => out.push(line), err: (line) => out.push(line) });
    if (code !== 0) throw new Error(out.join('\n'));
    return out.join('\n');
  };
  const [startS, suspendS]: [number[], number[]] = [[], []];
  try {
    for (let time = 0; time < (quick ? 1 : TIMES); time += 1) {
      const probe = `new-${time}`;
      const lines = (await admin('invite', probe, ...record)).split('\n');
      const begin = performance.now();
      // The shell leads a process group: npm does not pass on every signal.
      const child = spawn('sh', ['-c', lines.at(-1)!], {
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

async function untilStatus(url: string, probe: string, status: string): Promise<void> {
  for (;;) {
    const probes = (await (await fetch(`${url}/probes`)).json()) as Readonly<
      Record<string, { readonly status: string }>
    >;
    if (probes[probe]?.status === status) return;
    await sleep(20);
  }
}
