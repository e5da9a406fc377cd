import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { agentRights, agentUser, JOB_QUEUE, redisKeys } from '@vantage/contract';

import { startCoreBed, until, type CoreBed } from '../../../apps/coordinator/test/core-bed.ts';
import { quantile } from '../../bench/goals.ts';
import { ACTIVE_JOBS, attacks, THIEF, type Attack } from './attacks.ts';
import type { Seen } from './bystander-process.ts';

/** What other clients of Redis saw while somebody with an agent's login did his worst. */
export interface AttackReport {
  readonly name: string;
  readonly isFlood: boolean;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly refused: number;
  readonly firstRefusal: string | null;
}

const PASSWORD = 'the-password-of-a-stolen-agent';
/** What a flood has to be noticed and ended. */
const SETTLES_MS = 2_000;

/**
 * Each attack for some seconds, with the rights of `probe:add` and the limits of the shipped `redis.conf`, a coordinator at work.
 * The first report is of the time without an attack.
 */
export async function tryStolenLogin(
  seconds: number,
  chosen: readonly Attack[] = attacks,
): Promise<readonly AttackReport[]> {
  const bed = await startCoreBed({ arguments: shippedLimits() }, { probeKeysMaxBytes: 256 * 1_048_576 });
  const bystander = start('bystander-process.ts', bed.server.url);
  try {
    await once(bystander, 'message');
    const reports = [await watch('no attack', false, bystander, seconds)];
    for (const attack of chosen) {
      await prepare(bed);
      const thief = start('thief-process.ts', String(bed.server.port), PASSWORD, String(attacks.indexOf(attack)));
      try {
        await once(thief, 'message');
        reports.push(await watch(attack.name, attack.isFlood === true, bystander, seconds));
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

async function prepare({ redis }: CoreBed): Promise<void> {
  const queue = `${redisKeys.queuePrefix(THIEF)}:${JOB_QUEUE}:`;
  await redis.hdel(redisKeys.switchedOff, THIEF);
  await redis.call('ACL', 'SETUSER', agentUser(THIEF), 'reset', 'on', `>${PASSWORD}`, ...agentRights(THIEF));
  await redis.del(`${queue}active`, redisKeys.results(THIEF));
  await redis.rpush(`${queue}active`, ...Array.from({ length: ACTIVE_JOBS }, (_, index) => `job-${index}`));
  await redis.hset(`${queue}job`, 'name', 'tcp', 'data', 'x'.repeat(4_096));
}

async function watch(name: string, isFlood: boolean, bystander: ChildProcess, seconds: number): Promise<AttackReport> {
  await ask(bystander);
  await sleep(seconds * 1_000);
  const { latenciesMs, refused, firstRefusal } = await ask(bystander);
  const [p99Ms, longestMs] = [quantile(latenciesMs, 0.99), Math.max(...latenciesMs)];
  return { name, isFlood, p99Ms, longestMs, refused, firstRefusal };
}

async function ask(bystander: ChildProcess): Promise<Seen> {
  bystander.send('how was it?');
  const [seen] = (await once(bystander, 'message')) as [Seen];
  return seen;
}

function start(file: string, ...args: readonly string[]): ChildProcess {
  return fork(new URL(file, import.meta.url), args, { execArgv: ['--conditions=source'] });
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
