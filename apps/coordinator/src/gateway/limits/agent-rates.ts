import { checkOfScreenshotJob, MAX_SCREENSHOT_BYTES } from '@vantage/contract';

import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Bounds what the agents of a gateway send together. */
export interface AgentRates {
  /**
   * @param probe a probe whose key the agent has proved to hold: each probe gets an entry in memory, so agents must
   * not be able to name arbitrary ones
   */
  readonly open: (probe: string) => AgentRate;
  /** Number of probes that are remembered. */
  readonly size: () => number;
}

/**
 * The rate of one connection. Each job credits bytes, which its connection spends first. All other bytes use the rate
 * of the probe, and beyond it one that all probes share.
 */
export interface AgentRate {
  /** @returns 0 if the connection may send on; else the milliseconds after which to call this again, with 0 bytes */
  readonly take: (bytes: number) => number;
  /** Adds the credit of a job that the agent was given. */
  readonly give: (job: string) => void;
  /** Ends a job: unused bytes beyond the credit of the remaining jobs expire. */
  readonly end: (job: string) => void;
}

const MIB = 1024 * 1024;
/** Bytes of a probe in addition to the credit of its jobs, such as those of pings and status. */
const OWN = { perSecond: 256 * 1024, burst: 256 * 1024 } as const;
/** Bytes of all probes together beyond their own rates. */
const SHARED = { perSecond: 2 * MIB, burst: 2 * MIB } as const;
/** Credit of a job: four times the largest result. */
const JOB_BYTES = 256 * 1024;
/** Credit of a screenshot job: the largest image, and a quarter more for the fixed cost of each piece. */
const SCREENSHOT_JOB_BYTES = MAX_SCREENSHOT_BYTES * 1.25;
/** Maximum unused credit, in bytes. */
const MOST_LEFT_BYTES = 16 * MIB;
/** Maximum jobs with credit; beyond it the credit of the oldest expires. */
const MOST_JOBS = 1_000;
/** Number of remembered probes from which those with an unused rate are forgotten. */
const FORGET_FROM = 1_000;
/** Longest pause before the rates are checked again: the shared rate may have tokens before the probe's own. */
const ASK_AGAIN_MS = 50;

/** @param nowMs monotonic clock, milliseconds */
export function createAgentRates(nowMs = (): number => performance.now()): AgentRates {
  const shared = createTokenBucket({ ...SHARED, nowMs });
  const own = new Map<string, TokenBucket>();
  let forgetFrom = FORGET_FROM;
  /** A full bucket is as good as a new one. */
  const forgetUnused = (): void => {
    for (const [probe, bucket] of own) if (bucket.left() >= OWN.burst) own.delete(probe);
    forgetFrom = Math.max(FORGET_FROM, 2 * own.size);
  };
  const ownOf = (probe: string): TokenBucket => {
    if (own.size >= forgetFrom) forgetUnused();
    const found = own.get(probe) ?? createTokenBucket({ ...OWN, nowMs });
    own.set(probe, found);
    return found;
  };
  return { open: (probe) => new JobsRate(ownOf(probe), shared), size: () => own.size };
}

class JobsRate implements AgentRate {
  readonly #own: TokenBucket;
  readonly #shared: TokenBucket;
  /** Credit of each job that has not ended, in bytes. */
  readonly #jobs = new Map<string, number>();
  #broughtBytes = 0;
  #leftBytes = 0;

  constructor(own: TokenBucket, shared: TokenBucket) {
    this.#own = own;
    this.#shared = shared;
  }

  readonly take = (bytes: number): number => {
    const paid = Math.min(this.#leftBytes, bytes);
    this.#leftBytes -= paid;
    if (this.#own.take(bytes - paid) === 0) return 0;
    const debt = -this.#own.left();
    const byJobs = Math.min(this.#leftBytes, debt);
    this.#leftBytes -= byJobs;
    const byAll = Math.max(0, Math.min(this.#shared.left(), debt - byJobs));
    this.#shared.take(byAll);
    return Math.min(this.#own.take(-byJobs - byAll), ASK_AGAIN_MS);
  };

  readonly give = (job: string): void => {
    if (this.#jobs.has(job)) return;
    const bytes = checkOfScreenshotJob(job) === undefined ? JOB_BYTES : SCREENSHOT_JOB_BYTES;
    this.#jobs.set(job, bytes);
    this.#broughtBytes += bytes;
    this.#leftBytes = Math.min(MOST_LEFT_BYTES, this.#leftBytes + bytes);
    const [oldest = ''] = this.#jobs.keys();
    if (this.#jobs.size > MOST_JOBS) this.end(oldest);
  };

  readonly end = (job: string): void => {
    this.#broughtBytes -= this.#jobs.get(job) ?? 0;
    this.#jobs.delete(job);
    this.#leftBytes = Math.min(this.#leftBytes, this.#broughtBytes);
  };
}
