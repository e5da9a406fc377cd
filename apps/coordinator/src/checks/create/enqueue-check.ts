import { JOB_QUEUE, redisKeys, type Job } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { CLOCK_STEP_MS } from '../../redis/clock.ts';
import { defineScript, replyError, runScript } from '../../redis/scripts.ts';
import { recordFields, watchedScreenshot, writeCheck, type NewCheck } from '../store/records/new-check.ts';
import { recordLua } from '../store/records/check-scripts.ts';
import { JOB_OPTIONS, type JobQueues } from '../store/job-queues.ts';

/** A job of a new check: the measurement by one probe, or the screenshot, which one of the probes takes. */
export interface NewJob {
  readonly probe: string;
  /** The job id of BullMQ. */
  readonly id: string;
  readonly job: Job;
}

/**
 * Writes a new check, then enqueues its jobs. Completion at the deadline depends on this order: if the coordinator dies
 * in between, expiry finds the deadline and the record.
 *
 * @returns after all replies; a failure of one probe's queue affects its job only
 * @throws ClockSteppedBack, not on a Cluster, if the time of creation is ahead of the clock of Redis by more than
 * `CLOCK_STEP_MS`; nothing was written
 * @throws NotGranted, not on a Cluster, if the grant of the check is missing; nothing was written
 * @throws if Redis fails a write or its reply is lost; parts of the check may have been written
 */
export type StartCheck = (check: NewCheck, jobs: readonly NewJob[]) => Promise<Started>;

export interface Started {
  /** False if the check was started before. */
  readonly isNew: boolean;
  /** The outcome of each job, in order. */
  readonly jobs: readonly PromiseSettledResult<unknown>[];
}

/** The check needs a grant that the rate-limit script has not written; nothing was written. */
export class NotGranted extends Error {
  constructor() {
    super('The check was not admitted.');
    this.name = 'NotGranted';
  }
}

/** The clock of Redis was stepped back since it was last read: with these times the check would end late. */
export class ClockSteppedBack extends Error {
  constructor() {
    super('The clock of Redis was stepped back.');
    this.name = 'ClockSteppedBack';
  }
}

export function createStartCheck(redis: Redis, queues: Pick<JobQueues, 'add'>, retentionMs: number): StartCheck {
  return isCluster(redis) ? startApart(redis, queues, retentionMs) : startTogether(redis, retentionMs);
}

/** Argument of `startScript`, as JSON. Timestamps are milliseconds since the epoch. */
interface Start {
  readonly id: string;
  /** True to do nothing if the check exists. */
  readonly once: boolean;
  /** Key of the grant: it must exist, and the script deletes it. Undefined if the check is admitted already. */
  readonly grant: string | undefined;
  readonly deadline: number;
  /** Lifetime of the record, milliseconds. */
  readonly ttl: number;
  /** Member of the sorted set `screenshots`; undefined if no screenshot is pending. */
  readonly watched: string | undefined;
  /** Fields of the record: alternating names and values. */
  readonly fields: readonly (string | number)[];
  readonly probes: readonly string[];
  /** Notification for gateways: ids of the probes that may be at one, separated by spaces; empty if none may. */
  readonly announced: string;
  /** Creation time of the jobs, milliseconds since the epoch. */
  readonly now: number;
  readonly jobs: readonly {
    readonly id: string;
    readonly name: string;
    /** Job data as JSON. */
    readonly data: string;
    /** The options of the job as JSON. */
    readonly opts: string;
    /** Key prefix of the queue of each probe that gets this job. */
    readonly queues: readonly string[];
  }[];
}

/**
 * Starts a check in one script, which costs less than separate commands. The jobs are BullMQ's, and a test compares
 * them with those of `Queue.add`; the events, the counter and the settings that `Queue.add` writes too are left out:
 * nothing reads them. If an agent has broken its queue, only the job of that queue fails.
 *
 * The keys of the queues are not declared, so the script works on single servers only.
 *
 * KEYS deadlines, check, results, screenshots. ARGV JSON of a `Start`. Returns '' or an error for each queue of each
 * job; 'there' if the check was started before; 'stepped' if the clock was stepped back; 'refused' if the grant is
 * missing.
 */
export const startScript = defineScript(
  '',
  `
${recordLua}
local start = cjson.decode(ARGV[1])
if start.once and redis.call('EXISTS', KEYS[2]) == 1 then return 'there' end
local time = redis.call('TIME')
if start.now - time[1] * 1000 - time[2] / 1000 > ${CLOCK_STEP_MS} then return 'stepped' end
if start.grant and redis.call('DEL', start.grant) == 0 then return 'refused' end
redis.call('ZADD', KEYS[1], start.deadline, start.id)
writeRecord(KEYS[2], KEYS[3], start.ttl, start.probes, start.fields)
if start.watched then redis.call('ZADD', KEYS[4], start.deadline, start.watched) end

local now = string.format('%.0f', start.now)
local function add(queue, job)
  local key = queue .. job.id
  if redis.call('EXISTS', key) == 1 then return end
  -- The list first: if it is broken, nothing is left of the job.
  redis.call('LPUSH', queue .. 'wait', job.id)
  redis.call('HSET', key, 'name', job.name, 'data', job.data, 'opts', job.opts, 'timestamp', now, 'delay', 0, 'priority', 0)
  -- Wakes a worker of BullMQ if one reads the queue; agents do not need it.
  redis.pcall('ZADD', queue .. 'marker', 0, '0')
end
local said = {}
for _, job in ipairs(start.jobs) do
  for _, queue in ipairs(job.queues) do
    local isAdded, why = pcall(add, queue, job)
    said[#said + 1] = isAdded and '' or (type(why) == 'table' and why.err or tostring(why))
  end
end
-- Wakes waiting gateways. Not an error if the Redis user may not publish here: gateways also poll.
if start.announced ~= '' then redis.pcall('PUBLISH', '${redisKeys.jobsAdded}', start.announced) end
return said
`,
);

function startTogether(redis: Redis, retentionMs: number): StartCheck {
  return async (check, jobs) => {
    const { id, createdAt, deadlineAt, probes, atGateways = probes } = check;
    const keys = [redisKeys.deadlines, redisKeys.check(id), redisKeys.checkResults(id), redisKeys.screenshots];
    const start: Start = {
      id,
      once: check.once === true,
      grant: check.grant,
      deadline: deadlineAt,
      ttl: deadlineAt - createdAt + retentionMs,
      watched: watchedScreenshot(check),
      fields: recordFields(check),
      probes,
      announced: atGateways.join(' '),
      now: createdAt,
      jobs: gather(jobs),
    };
    const said = (await runScript(redis, startScript, keys, [JSON.stringify(start)])) as
      | readonly string[]
      | 'there'
      | 'stepped'
      | 'refused';
    if (said === 'stepped') throw new ClockSteppedBack();
    if (said === 'refused') throw new NotGranted();
    const done = { status: 'fulfilled' as const, value: undefined };
    if (said === 'there') return { isNew: false, jobs: jobs.map(() => done) };
    const outcomes = said.map((error) =>
      error === '' ? done : { status: 'rejected' as const, reason: replyError(error) },
    );
    return { isNew: true, jobs: outcomes };
  };
}

/** Groups consecutive jobs with the same data, so that it is sent once. */
function gather(jobs: readonly NewJob[]): Start['jobs'] {
  const gathered: { readonly first: NewJob; readonly queues: string[] }[] = [];
  for (const one of jobs) {
    const queue = `${redisKeys.queuePrefix(one.probe)}:${JOB_QUEUE}:`;
    const last = gathered.at(-1);
    if (last?.first.job === one.job && last.first.id === one.id) last.queues.push(queue);
    else gathered.push({ first: one, queues: [queue] });
  }
  return gathered.map(({ first: { id, job }, queues }) => ({
    id,
    name: job.type,
    data: JSON.stringify(job),
    opts: JSON.stringify({ ...JOB_OPTIONS, jobId: id }),
    queues,
  }));
}

/**
 * Starts checks on Redis Cluster, whose servers execute commands in no common order: jobs are added only after the
 * reply to the writing of the record.
 */
export function startApart(redis: Redis, queues: Pick<JobQueues, 'add'>, retentionMs: number): StartCheck {
  return async (check, jobs) => {
    const isThere = check.once === true && (await redis.exists(redisKeys.check(check.id))) === 1;
    if (!isThere) await writeCheck(redis, check, retentionMs);
    const outcomes = await Promise.allSettled(jobs.map(({ probe, id, job }) => queues.add(probe, job, id)));
    return { isNew: !isThere, jobs: outcomes };
  };
}
