import { setTimeout as sleep } from 'node:timers/promises';

import type { Figure } from '../goals.ts';
import { startDeployment } from '../overhead/deployment.ts';
import { startTarget } from '../overhead/target.ts';
import { cpuSeconds } from './process-cpu.ts';

/** Checks before the measurement, in which V8 compiles the code. */
const WARM_UP = 300;
/** Checks during the measurement. */
const CHECKS = 700;
const EVERY_MS = 10;
const ARRIVAL_MS = 10_000;

/**
 * CPU time of an agent per tcp check at 100 per second, including job, admission and result, without its packet
 * process.
 */
export async function agentCpuPerCheck(): Promise<readonly Figure[]> {
  const target = await startTarget();
  const { client, pids, stop } = await startDeployment({ probes: 1 });
  const agent = pids.agents[0]!;
  const run = async (checks: number): Promise<void> => {
    const arrivals = target.arrivals(checks);
    const started = performance.now();
    const options = { attempts: 1 };
    const request = { type: 'tcp', host: '127.0.0.1', port: target.port, probes: ['bench-1'], options } as const;
    const posted: Promise<unknown>[] = [];
    for (let sent = 0; sent < checks; sent += 1) {
      await sleep(Math.max(0, started + sent * EVERY_MS - performance.now()));
      posted.push(client.startCheck(request));
    }
    await Promise.all(posted);
    const all = await Promise.race([arrivals.then(() => true), sleep(ARRIVAL_MS, false)]);
    if (!all) throw new Error(`The agent did not make all of its ${checks} connections.`);
    // Time for the agent to send its last results.
    await sleep(500);
  };
  try {
    await run(WARM_UP);
    const before = cpuSeconds(agent);
    await run(CHECKS);
    const value = ((cpuSeconds(agent) - before) * 1e6) / CHECKS;
    return [{ name: 'CPU of an agent for a tcp check, queue and idle time included', value, unit: 'µs' }];
  } finally {
    await stop();
    target.close();
  }
}
