import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { freeServerPort } from '@vantage/test-support/daemon';

import { nodeFlags } from '../../../apps/standalone/src/node-flags.ts';
import { median, type Figure } from '../goals.ts';
import type { Stage } from './stage.ts';

const STARTS = 5;
const WITHIN_MS = 60_000;
const GOAL_MS = 1_000;

/** Time from the start of a built program to its first positive answer to a health check. */
export async function timesToHealthy({ deployment, agentNode }: Stage): Promise<readonly Figure[]> {
  const redis = { REDIS_URL: `redis://127.0.0.1:${deployment.redisPort}`, LOG_LEVEL: 'warn' };
  const agent = await times(STARTS, async (port) => {
    const env = { ...redis, PROBE_ID: 'bench-start', METRICS_PORT: String(port), SCREENSHOTS: 'off' };
    return timeToHealthy('probe-agent', env, `http://127.0.0.1:${port}/readyz`, agentNode);
  });
  const coordinator = await times(STARTS, async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const env = { ...redis, HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: url };
    return timeToHealthy('coordinator', env, `${url}/healthz`, agentNode);
  });
  return [
    { name: 'start of an agent to healthy', value: agent, unit: 'ms', atMost: GOAL_MS },
    { name: 'start of a coordinator to healthy', value: coordinator, unit: 'ms', atMost: GOAL_MS },
  ];
}

async function times(count: number, once: (port: number) => Promise<number>): Promise<number> {
  const each: number[] = [];
  for (let run = 0; run < count; run += 1) each.push(await once(await freeServerPort()));
  return median(each);
}

async function timeToHealthy(
  app: keyof typeof nodeFlags,
  env: Readonly<Record<string, string>>,
  url: string,
  execPath: string,
): Promise<number> {
  const started = performance.now();
  const child = fork(new URL(`../../../apps/${app}/dist/main.js`, import.meta.url), [], {
    env: { PATH: process.env['PATH'], ...env },
    execPath,
    execArgv: [...nodeFlags[app]],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    while (!(await isHealthy(url))) {
      if (performance.now() - started > WITHIN_MS) throw new Error(`${app} is not healthy within ${WITHIN_MS} ms.`);
      await sleep(5);
    }
    return performance.now() - started;
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

function isHealthy(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
