import type { AgentHello, AgentStatus, Heartbeat } from '@vantage/contract';

import type { JobFeed } from '../jobs/job-feed.ts';

const STUCK = 'It does not end its jobs: one is long past its deadline.';
/** Most `degraded` reasons in the heartbeat of a stuck agent. */
const MOST_REASONS = 16;

/** Composes the heartbeat of an agent: the same object until a new status arrives or the state of its jobs changes. */
export class AgentHeartbeat {
  private readonly hello: AgentHello;
  private readonly feed: Pick<JobFeed, 'running' | 'taken' | 'isStuck'>;
  private heartbeat: Heartbeat | undefined;
  private heartbeatOf: readonly [status: AgentStatus, isStuck: boolean] | undefined;

  constructor(hello: AgentHello, feed: Pick<JobFeed, 'running' | 'taken' | 'isStuck'>) {
    this.hello = hello;
    this.feed = feed;
  }

  of(status: AgentStatus): Heartbeat {
    const { release: version, instance, credit: capacity } = this.hello;
    const [running, taken] = [Math.min(this.feed.running(), capacity), this.feed.taken()];
    const isStuck = this.feed.isStuck();
    const isSame = this.heartbeatOf?.[0] === status && this.heartbeatOf[1] === isStuck;
    const last = this.heartbeat;
    if (isSame && last?.load.running === running && last.taken === taken) return last;
    const degraded = isStuck ? [STUCK, ...status.degraded.slice(0, MOST_REASONS - 1)] : status.degraded;
    this.heartbeatOf = [status, isStuck];
    this.heartbeat = { v: 1, version, instance, ...status, degraded, load: { running, capacity }, taken };
    return this.heartbeat;
  }
}
