import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { agentRights, agentUser, JOB_QUEUE, redisKeys } from '@vantage/contract';

import { startCoreBed, until, type CoreBed } from '../../../apps/coordinator/test/core-bed.ts';
import { quantile } from '../../bench/goals.ts';
import { MOST_KEPT } from '../../../apps/coordinator/src/probes/access/kept-jobs.ts';
import { attacks, JOB_BYTES, THIEF, type Attack } from './attacks.ts';
import type { Seen } from './bystander-process.ts';

/** Effects of an attack with an agent's login, as other clients of Redis observed them. */
export interface AttackReport {
  readonly name: string;
  readonly isFlood: boolean;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Part of it for which Redis was on a processor, p99: independent of other load on the machine. */
  readonly busyP99Ms: number;
  /** When its user was switched off, after its start; null if it was not. */
  readonly endedAfterMs: number | null;
  readonly refused: number;
  readonly firstRefusal: string | null;
}

const queue = `${redisKeys.queuePrefix(THIEF)}:${JOB_QUEUE}:`;
const activeList = `${queue}active`;
const PASSWORD = 'the-password-of-a-stolen-agent';
const SETTLES_MS = 2_000;
/** Time within which a flood must be detected and its user suspended. */
const ENDS_WITHIN_MS = 30_000;

/**
 * Runs each attack with the Redis rights that `probe:add` grants and the limits of the shipped `redis.conf`, while a coordinator works.
 *
 * @returns one report per attack, after a first one without an attack
 */
export async function tryStolenLogin(
  seconds: number,
  chosen: readonly Attack[] = attacks,
): Promise<readonly AttackReport[]> {
  const bed = await startCoreBed({ arguments: shippedLimits() }, { probeKeysMaxBytes: 256 * 1_048_576 });
  await bed.addProbe(THIEF);
  const bystander = start('bystander-process.ts', bed.server.url, String(bed.server.pid));
  try {
    await once(bystander, 'message');
    const quiet = await watch('no attack', bystander, seconds);
    const reports: AttackReport[] = [{ ...quiet, isFlood: false, endedAfterMs: null }];
    for (const attack of chosen) {
      await prepare(bed, attack);
      const thief = start('thief-process.ts', String(bed.server.port), PASSWORD, String(attacks.indexOf(attack)));
      try {
        await once(thief, 'message');
        const isFlood = attack.isFlood === true;
        const [seen, endedAfterMs] = await Promise.all([
          watch(attack.name, bystander, seconds),
          endOf(bed, attack, isFlood ? ENDS_WITHIN_MS : seconds * 1_000),
        ]);
        reports.push({ ...seen, isFlood, endedAfterMs });
      } finally {
        thief.kill('SIGKILL');
        await until(async () => !String(await bed.redis.client('LIST')).includes(`user=${agentUser(THIEF)}`));
        await sleep(SETTLES_MS);
        await ask(bystander);
      }
    }
    return reports;
  } finally {
    bystander.kill('SIGKILL');
    await bed.stop();
  }
}

async function prepare({ redis }: CoreBed, { activeJobs = MOST_KEPT, heartbeatBytes }: Attack): Promise<void> {
  await redis.hdel(redisKeys.suspended, THIEF);
  await redis.call('ACL', 'SETUSER', agentUser(THIEF), 'reset', 'on', `>${PASSWORD}`, ...agentRights(THIEF));
  await redis.del(activeList, redisKeys.results(THIEF), redisKeys.heartbeat(THIEF));
  // Ids as long as those of checks.
  const ids = Array.from({ length: activeJobs }, (_, index) => `job-${index}`.padEnd(22, '-'));
  await redis.rpush(activeList, ...ids);
  await redis.hset(`${queue}job`, 'name', 'tcp', 'data', 'x'.repeat(JOB_BYTES));
  if (heartbeatBytes !== undefined) await redis.set(redisKeys.heartbeat(THIEF), 'x'.repeat(heartbeatBytes));
}

async function watch(
  name: string,
  bystander: ChildProcess,
  seconds: number,
): Promise<Omit<AttackReport, 'isFlood' | 'endedAfterMs'>> {
  await ask(bystander);
  await sleep(seconds * 1_000);
  const { latenciesMs, busyMs, refused, firstRefusal } = await ask(bystander);
  const [p99Ms, longestMs] = [quantile(latenciesMs, 0.99), Math.max(...latenciesMs)];
  return { name, p99Ms, longestMs, busyP99Ms: quantile(busyMs, 0.99), refused, firstRefusal };
}

/** Milliseconds until the thief is switched off, or has lost the jobs that it kept; null if it is not in time. */
async function endOf({ redis }: CoreBed, { activeJobs = 0 }: Attack, withinMs: number): Promise<number | null> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < withinMs) {
    if ((await redis.hexists(redisKeys.suspended, THIEF)) === 1) return performance.now() - startedAt;
    const hasLostJobs = activeJobs > MOST_KEPT && (await redis.llen(activeList)) <= MOST_KEPT;
    if (hasLostJobs) return performance.now() - startedAt;
    await sleep(100);
  }
  return null;
}

async function ask(bystander: ChildProcess): Promise<Seen> {
  bystander.send('how was it?');
  const [seen] = (await once(bystander, 'message')) as [Seen];
  return seen;
}

function start(file: string, ...args: readonly string[]): ChildProcess {
  return fork(new URL(file, import.meta.url), args, { execArgv: ['--conditions=vantage-source'] });
}

/** The limits of the shipped settings, as arguments. */
function shippedLimits(): readonly string[] {
  const text = readFileSync(new URL('../../redis/redis.conf', import.meta.url), 'utf8');
  const names = /^(?:maxmemory|maxclients|maxmemory-\w+|proto-max-bulk-len|client-[\w-]+) /;
  return text.split('\n').flatMap((line) => {
    if (!names.test(line)) return [];
    const [name = '', ...values] = line.split(' ');
    return [`--${name}`, ...values];
  });
}
