import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { agentRights, agentUser, JOB_QUEUE, redisKeys } from '@vantage/contract';

import { until, type CoreBed } from '../../../apps/coordinator/test/core-bed.ts';
import { quantile } from '../../bench/goals.ts';
import { MOST_QUEUED } from '../../../apps/coordinator/src/checks/create/probe-capacity.ts';
import { removeProbeKeys } from '../../../apps/coordinator/src/probes/registry/probe-keys.ts';
import { attacksOf, JOB_BYTES, type Attack } from './attacks.ts';
import type { Seen } from './bystander-process.ts';
import { startShippedBed } from './shipped-bed.ts';

/** Effects of an attack with an agent's login, as other clients of Redis observed them. */
export interface AttackReport {
  readonly name: string;
  readonly isExcess: boolean;
  /** p99 latency of a bystander’s `SET`, milliseconds. */
  readonly p99Ms: number;
  readonly longestMs: number;
  /**
   * p99 of the CPU time of Redis’ main thread while a `SET` was pending, milliseconds: depends less on other load of
   * the machine.
   */
  readonly busyP99Ms: number;
  /**
   * Time from the start of the attack until its user was suspended, milliseconds; null if it was not suspended in time.
   */
  readonly endedAfterMs: number | null;
  readonly refused: number;
  readonly firstRefusal: string | null;
}

const PASSWORD = 'the-password-of-a-stolen-agent';
const SETTLES_MS = 2_000;
/** Longest wait for the end of an attack. */
const ENDS_WITHIN_MS = 30_000;

/**
 * Runs each attack over TLS with the Redis rights that `probe:add` grants and the limits of the shipped `redis.conf`,
 * while a coordinator works. An attack lasts this many seconds; one with `isExcess` lasts until a coordinator ends it,
 * or `ENDS_WITHIN_MS`.
 *
 * @returns one report per chosen attack, after a first one without an attack
 */
export async function tryStolenLogin(
  seconds: number,
  isChosen: (attack: Attack) => boolean = () => true,
): Promise<readonly AttackReport[]> {
  const { bed, tlsPort, caFile, stop } = await startShippedBed();
  const tlsUrl = `rediss://127.0.0.1:${tlsPort}`;
  const bystander = start('bystander-process.ts', tlsUrl, caFile, String(bed.server.pid));
  try {
    await once(bystander, 'message');
    const quiet = await watch('no attack', bystander, sleep(seconds * 1_000));
    const reports: AttackReport[] = [{ ...quiet, isExcess: false, endedAfterMs: null }];
    for (const index of attacksOf('').keys()) {
      // Each attack uses another probe, because the suspicion that one raises must not count against the next.
      const probe = `thief-${index}`;
      const attack = attacksOf(probe)[index]!;
      if (!isChosen(attack)) continue;
      await prepare(bed, probe, attack);
      const thief = start('thief-process.ts', String(tlsPort), caFile, probe, PASSWORD, String(index));
      try {
        await once(thief, 'message');
        reports.push(await measure(bed, probe, attack, bystander, seconds * 1_000));
      } finally {
        thief.kill('SIGKILL');
        await until(async () => !String(await bed.redis.client('LIST')).includes(`user=${agentUser(probe)}`));
        await removeProbeKeys([bed.redis], probe);
        await sleep(SETTLES_MS);
        await ask(bystander);
      }
    }
    return reports;
  } finally {
    bystander.kill('SIGKILL');
    await stop();
  }
}

async function prepare(bed: CoreBed, probe: string, { heartbeatBytes }: Attack): Promise<void> {
  const { redis } = bed;
  const queue = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  await bed.addProbe(probe);
  await redis.call('ACL', 'SETUSER', agentUser(probe), 'reset', 'on', `>${PASSWORD}`, ...agentRights(probe));
  // As many jobs as coordinators allow the probe to keep, with ids as long as those of checks.
  const ids = Array.from({ length: MOST_QUEUED }, (_, index) => `job-${index}`.padEnd(22, '-'));
  await Promise.all(ids.map((id) => redis.hset(redisKeys.checkResults(id), probe, '')));
  await redis.rpush(`${queue}active`, ...ids);
  await redis.hset(`${queue}job`, 'name', 'tcp', 'data', 'x'.repeat(JOB_BYTES));
  if (heartbeatBytes !== undefined) await redis.set(redisKeys.heartbeat(probe), 'x'.repeat(heartbeatBytes));
}

/** Watches an attack for `lastsMs`, or, if coordinators must end it, until one does, for at most `ENDS_WITHIN_MS`. */
async function measure(
  bed: CoreBed,
  probe: string,
  attack: Attack,
  bystander: ChildProcess,
  lastsMs: number,
): Promise<AttackReport> {
  const isExcess = attack.isExcess === true;
  const end = endOf(bed, probe, isExcess ? ENDS_WITHIN_MS : lastsMs);
  const seen = await watch(attack.name, bystander, isExcess ? end : sleep(lastsMs));
  return { ...seen, isExcess, endedAfterMs: await end };
}

async function watch(
  name: string,
  bystander: ChildProcess,
  meanwhile: Promise<unknown>,
): Promise<Omit<AttackReport, 'isExcess' | 'endedAfterMs'>> {
  await ask(bystander);
  await meanwhile;
  const { latenciesMs, busyMs, refused, firstRefusal } = await ask(bystander);
  const [p99Ms, longestMs] = [quantile(latenciesMs, 0.99), Math.max(...latenciesMs)];
  return { name, p99Ms, longestMs, busyP99Ms: quantile(busyMs, 0.99), refused, firstRefusal };
}

/** Milliseconds until the user of the attack is suspended; null if that takes longer than `withinMs`. */
async function endOf({ redis }: CoreBed, probe: string, withinMs: number): Promise<number | null> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < withinMs) {
    if ((await redis.hexists(redisKeys.suspended, probe)) === 1) return performance.now() - startedAt;
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
