import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { RedisServer } from '@vantage/redis-server';

import { median, type Figure } from '../goals.ts';
import { invitation, openAdmin, untilStatus } from './admin.ts';
import { startCoordinator } from './service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCKERFILE = 'infra/docker/probe-agent.Dockerfile';
const TIMES = 3;

/**
 * Time from running the `docker run` that `probe:invite` prints to a healthy probe. The image is that of this checkout,
 * which is built first, or the one that `VANTAGE_AGENT_IMAGE` names.
 */
export async function container(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const given = process.env['VANTAGE_AGENT_IMAGE'];
  const image = given ?? docker('build', '--quiet', '--file', DOCKERFILE, '.');
  const coordinator = await startCoordinator(redis);
  const admin = openAdmin(redis.url, coordinator.url, image);
  const startS: number[] = [];
  try {
    for (let time = 0; time < (quick ? 1 : TIMES); time += 1) {
      const probe = `bench-${process.pid}-${time}`;
      const { container: command } = await invitation(admin, probe);
      const begin = performance.now();
      try {
        execFileSync('sh', ['-c', command], { encoding: 'utf8' });
        await untilHealthy(coordinator.url, probe);
        startS.push((performance.now() - begin) / 1_000);
      } finally {
        docker('rm', '--force', `vantage-${probe}`);
        docker('volume', 'rm', '--force', `vantage-${probe}`);
      }
    }
  } finally {
    await coordinator.stop();
  }
  return [
    {
      name: 'from the command for a container to a healthy probe',
      value: median(startS),
      unit: 's',
      atMost: 10,
      comparison: startS.map((value) => value.toFixed(2)).join(', '),
    },
  ];
}

/** Rejects with the container's log if its program ends, for example because a module is missing. */
async function untilHealthy(url: string, probe: string): Promise<void> {
  let isHealthy = false;
  const healthy = untilStatus(url, probe, 'healthy').then(() => (isHealthy = true));
  await Promise.race([healthy, untilRestarted(`vantage-${probe}`, () => isHealthy)]);
}

async function untilRestarted(name: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const restarts = docker('inspect', '--format', '{{.RestartCount}}', name);
    if (restarts !== '0') throw new Error(`the agent ended:\n${docker('logs', '--tail', '20', name)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function docker(...args: readonly string[]): string {
  return execFileSync('docker', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
