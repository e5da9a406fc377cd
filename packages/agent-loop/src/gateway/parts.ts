import { screenshotJobId, type AgentHello, type GatewayMessage, type GatewayWelcome } from '@vantage/contract';

import { listenAbandoned } from '../abandoned.ts';
import type { AgentLoopOptions } from '../agent-loop.ts';
import { createAgentClock, type AgentClock } from '../clock.ts';
import type { JobRunner, Work } from '../job-runner.ts';
import type { Losses } from '../losses.ts';
import { createResults, type ResultOutlet, type Results } from '../results.ts';
import { createRunningJobs } from '../running-jobs.ts';
import { createDial, type DialOptions } from './dial.ts';
import { createGivenJobs, type GivenJobs } from './given-jobs.ts';
import { createGatewayLink, type GatewayLink } from './link.ts';
import { createReconnect } from './reconnect.ts';
import { createGatewayWriter } from './result-writer.ts';
import type { AgentIdentity, Session } from './session.ts';
import { createTimeQuestions } from './time-questions.ts';
import { watchConnections } from './watch-connections.ts';

export interface GatewayLoopOptions
  extends
    DialOptions,
    Pick<AgentLoopOptions, 'concurrency' | 'drainMs' | 'open' | 'traceparentOf' | 'onHopeless' | 'log'> {
  readonly identity: AgentIdentity;
  readonly release: string;
  /** The least pause after a refusal, milliseconds. */
  readonly refusedMs?: number | undefined;
}

/** The parts of an agent that gets its jobs from a gateway. */
export interface Parts {
  readonly runner: JobRunner;
  readonly work: Work;
  readonly clock: AgentClock;
  readonly results: Results;
  readonly jobs: GivenJobs;
  readonly link: GatewayLink;
  /** False while the gateway gives no jobs because the operator has not approved the agent. */
  readonly isApproved: () => boolean;
  /** Why the connection counts as unstable; undefined if it does not. */
  readonly instability: Losses['reason'];
}

export interface PartsOptions {
  /** Changes with every start of the agent. */
  readonly instance: string;
  /** Aborted when the agent must stop now. */
  readonly interrupted: AbortSignal;
  /** Called with each new connection, once the clock is set. */
  readonly onReady: (session: Session) => void;
}

/** Number of readings of the clock after each connection: a faster reading corrects a slow one. */
const READINGS = 3;
export function createParts(
  options: GatewayLoopOptions,
  runner: JobRunner,
  { instance, interrupted, onReady }: PartsOptions,
): Parts {
  const { log, identity, release, concurrency: credit } = options;
  const session = (): Session | undefined => link.session();
  const time = createTimeQuestions(session);
  const clock = createAgentClock(time.ask);
  const writer = createGatewayWriter(session, { traceparentOf: options.traceparentOf, rttMs: clock.rttMs });
  const results = createResults({ writer, now: clock.now, log });
  const settled = trackResults(results);
  const { onAbandoned, abandoned } = listenAbandoned();
  const work = runner.prepare({ clock, outlet: settled.outlet, onAbandoned });
  const running = createRunningJobs(interrupted, log);
  const jobs = createGivenJobs({
    isExempt: work.isExempt,
    run: async (job) => {
      if (await running.run(job.id, (signal) => work.run(job, job.id, signal))) await settled.of(job.id);
    },
    done: (job) => link.send({ t: 'done', job }),
  });

  const standing = createStanding(log);
  const onMessage = (message: GatewayMessage, on: Session): void => {
    if (message.t === 'job') jobs.give(message);
    else if (message.t === 'ack') writer.acknowledged(on, message.seq);
    else if (message.t === 'nack') writer.refused(on, message.seq);
    else if (message.t === 'abandoned') abandoned(message.job);
    else if (message.t === 'time') time.answered(message.id, message.ms);
    else if (message.t === 'approved') standing.approved();
    else if (message.t === 'retire' && on === session()) standing.retired();
  };
  const ready = async (on: Session): Promise<void> => {
    const { address, port } = on.remote();
    if (options.proxy?.url !== undefined) runner.noteRedis?.(address, port);
    await setClock(clock);
    onReady(on);
    results.resume();
  };
  const connections = watchConnections({ withdraw: running.withdraw, session, onEnded: writer.lost });
  const link = createGatewayLink({
    dial: createDial(options),
    identity,
    reconnect: createReconnect(Math.random, options.refusedMs),
    log,
    onMessage,
    hello: () => ({ instance, release, credit, ...(standing.isRetired() && afterRetirement(jobs.isIdle())) }),
    onReady: (on, welcome) => {
      standing.welcomed(welcome);
      connections.welcomed(on, welcome);
      // Without the clock of Redis the connection is of no use.
      ready(on).catch(() => on.terminate());
    },
    onLost: connections.ended,
    onHopeless: () => options.onHopeless?.(),
  });
  const { isApproved } = standing;
  return { runner, work, clock, results, jobs, link, isApproved, instability: connections.instability };
}

/** State of this agent by the messages of the gateway: approved, waiting or retired. */
interface Standing {
  readonly isApproved: Parts['isApproved'];
  readonly isRetired: () => boolean;
  readonly welcomed: (welcome: Pick<GatewayWelcome, 'state'>) => void;
  readonly approved: () => void;
  readonly retired: () => void;
}

function createStanding(log: GatewayLoopOptions['log']): Standing {
  let isWaiting = false;
  let isRetired = false;
  return {
    isApproved: () => !isWaiting,
    isRetired: () => isRetired,
    welcomed: ({ state }) => {
      isWaiting = state === 'waiting';
    },
    approved: () => {
      isWaiting = false;
      log.info('the operator has approved this agent');
    },
    retired: () => {
      isRetired = true;
      log.error('another agent with the key of this state folder has taken over: ending the jobs under way');
    },
  };
}

async function setClock(clock: AgentClock): Promise<void> {
  await clock.read(true);
  for (let reading = 1; reading < READINGS; reading += 1) await clock.read();
}

function afterRetirement(isIdle: boolean): Pick<AgentHello, 'yields' | 'reports'> {
  return { yields: isIdle, reports: !isIdle };
}

/** An outlet, and `of`, which resolves when the final result or screenshot of a job is acknowledged or dropped. */
function trackResults(results: Results): {
  readonly outlet: ResultOutlet;
  readonly of: (jobId: string) => Promise<void>;
} {
  const underWay = new Map<string, Promise<void>>();
  const track = (jobId: string, written: Promise<void>): Promise<void> => {
    underWay.set(jobId, written);
    return written;
  };
  return {
    outlet: {
      partial: results.partial,
      final: (check, data, deadlineAt) => track(check, results.final(check, data, deadlineAt)),
      screenshot: (check, screenshot, deadlineAt) =>
        track(screenshotJobId(check), results.screenshot(check, screenshot, deadlineAt)),
    },
    of: async (jobId) => {
      await underWay.get(jobId);
      underWay.delete(jobId);
    },
  };
}
