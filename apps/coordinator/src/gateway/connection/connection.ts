import { createAgentMessageReader, type Frame } from '@vantage/agent-loop';
import { LAST_JOBS_MS, type AgentHello, type AgentMessage, type AgentStatus, type Heartbeat } from '@vantage/contract';
import type { Redis } from 'ioredis';
import type { Log } from '../../redis/log.ts';

import type { RedisClock } from '../../redis/clock.ts';
import type { AgentSocket } from './agent-socket.ts';
import type { AgentRate } from '../limits/agent-rates.ts';
import { AgentHeartbeat } from './agent-heartbeat.ts';
import { AgentResults } from './agent-results.ts';
import { createJobFeed, type JobFeed } from '../jobs/job-feed.ts';
import { openProbeJobs, type ProbeJobs } from '../jobs/probe-jobs.ts';
import { closeWhenDone } from './close-when-done.ts';
import type { UploadBudget } from './uploads.ts';

/** The connection of an agent whose identity was verified. */
export interface AgentConnection {
  readonly probe: string;
  readonly instance: string;
  /** Grows with each connection of a key. Negative for one that only reports last results: all others are newer. */
  readonly counter: number;
  readonly fingerprint: string;
  /** How often the probe had been suspended when the agent connected. */
  readonly suspensions: number;
  readonly socket: AgentSocket;
  /** Looks for new jobs. */
  readonly wake: () => void;
  /** Starts to give jobs: the operator has approved the agent. */
  readonly approve: () => void;
  /** Gives no more jobs; running ones finish. */
  readonly stopJobs: () => void;
  /** Gives no more jobs and closes when those of the agent have ended: a newer connection has taken over. */
  readonly retire: () => void;
  /** The probe's heartbeat, by `AgentHeartbeat`; undefined if this connection has none to write. */
  readonly heartbeat: () => Heartbeat | undefined;
  /** True if the agent has announced that it stops, and is not retired. */
  readonly isDraining: () => boolean;
}

export interface ConnectionOptions {
  readonly socket: AgentSocket;
  readonly hello: AgentHello;
  readonly rate: AgentRate;
  readonly fingerprint: string;
  readonly suspensions: number;
  readonly isApproved: boolean;
  /** True for a retired agent that connects to report its last jobs while another instance is connected. */
  readonly onlyReports: boolean;
  readonly redis: Redis;
  readonly screenshots: Redis;
  readonly clock: RedisClock;
  readonly budget: UploadBudget;
  /** True while a gateway holds a connection of this instance of the probe's agent. */
  readonly isConnected: (instance: string) => Promise<boolean>;
  /** Called when the heartbeat may have changed. */
  readonly onStatus: () => void;
  readonly log: Log;
}

const DEADLINE = /"deadlineAt":(\d+)/;

const readMessage = createAgentMessageReader();

export function createConnection(options: ConnectionOptions): AgentConnection {
  return new ConnectionOfAgent(options);
}

class ConnectionOfAgent implements AgentConnection {
  readonly probe: string;
  readonly instance: string;
  readonly counter: number;
  readonly fingerprint: string;
  readonly suspensions: number;
  readonly socket: AgentSocket;
  private readonly options: ConnectionOptions;
  private readonly results: AgentResults;
  private readonly jobs: ProbeJobs;
  private readonly feed: JobFeed;
  private readonly composed: AgentHeartbeat;
  /** Undefined until the agent has sent it. */
  private status: AgentStatus | undefined;
  /** Timer that ends the feed of an agent that drains. */
  private lastJobs: NodeJS.Timeout | undefined;
  private isApproved: boolean;
  private isRetired = false;

  constructor(options: ConnectionOptions) {
    const { socket, hello, redis, screenshots, rate, budget } = options;
    this.options = options;
    this.socket = socket;
    this.probe = hello.proof.probeId;
    this.instance = hello.instance;
    this.counter = options.onlyReports ? hello.proof.counter - Number.MAX_SAFE_INTEGER : hello.proof.counter;
    this.fingerprint = options.fingerprint;
    this.suspensions = options.suspensions;
    this.isApproved = options.isApproved;
    this.jobs = openProbeJobs(redis, this.probe, this.instance);
    this.feed = this.openFeed();
    const { probe, feed } = this;
    this.results = new AgentResults({ socket, probe, redis, screenshots, budget, onFinal: feed.release });
    this.composed = new AgentHeartbeat(hello, feed);
    socket.limitBy(rate);
    socket.onFrame(this.takeFrame);
    socket.onClosed(this.end);
  }

  /** Looks for jobs, which only an approved agent that has sent its status is given. */
  readonly wake = (): void => {
    if (this.isApproved && this.status !== undefined && this.socket.isOpen()) this.feed.wake();
  };

  readonly stopJobs = (): void => this.feed.stop();

  readonly approve = (): void => {
    if (this.isApproved) return;
    this.isApproved = true;
    this.socket.send({ t: 'approved' });
    this.options.onStatus();
    this.wake();
  };

  readonly retire = (): void => {
    if (this.isRetired) return;
    this.isRetired = true;
    this.feed.stop();
    this.socket.send({ t: 'retire' });
    const { socket, instance, jobs, feed } = this;
    void closeWhenDone({ socket, instance, jobs, running: feed.running });
  };

  readonly heartbeat = (): Heartbeat | undefined => {
    if (this.status === undefined || !this.isApproved || this.isRetired || !this.socket.isOpen()) return undefined;
    return this.composed.of(this.status);
  };

  readonly isDraining = (): boolean => this.status?.draining === true && !this.isRetired;

  private openFeed(): JobFeed {
    const { hello, rate, redis, clock, isConnected, log } = this.options;
    return createJobFeed({
      jobs: this.jobs,
      instance: this.instance,
      credit: hello.credit,
      isConnected,
      log,
      give: ({ id, name, data, timestamp }) => {
        rate.give(id);
        this.socket.send({ t: 'job', id, name, data, timestamp });
      },
      leftMs: async ({ data }) => Number(DEADLINE.exec(data)?.[1]) - (await clock.now(redis)),
      interrupt: async (id) => this.results.interrupt(id, await clock.now(redis)),
    });
  }

  private readonly takeFrame = (frame: Frame): void => {
    if (frame.kind === 'piece') return this.results.addPiece(frame);
    if (frame.kind === 'fault') return this.socket.close(frame.code, frame.reason);
    const message = readMessage(frame.message);
    if (message === undefined) this.socket.close(4400, readMessage.faultOf(frame.message));
    else this.take(message);
  };

  private take(message: AgentMessage): void {
    if (message.t === 'result') void this.results.write(message);
    else if (message.t === 'time') void this.sendTime(message.id);
    else if (message.t === 'status') this.takeStatus(message.status);
    else if (message.t === 'done') {
      this.feed.release(message.job);
      this.feed.finish(message.job);
      this.options.rate.end(message.job);
    } else this.socket.close(4400, 'a second hello');
  }

  private takeStatus(now: AgentStatus): void {
    const wasReady = this.status?.draining === false;
    this.status = now;
    if (now.draining && wasReady) this.lastJobs ??= setTimeout(this.feed.stop, LAST_JOBS_MS);
    else if (now.draining && this.lastJobs === undefined) this.feed.stop();
    this.options.onStatus();
    this.wake();
  }

  private async sendTime(id: number): Promise<void> {
    const { clock, redis } = this.options;
    const ms = await clock.now(redis).catch(() => undefined);
    if (ms !== undefined) this.socket.send({ t: 'time', id, ms });
  }

  private readonly end = (): void => {
    clearTimeout(this.lastJobs);
    this.feed.stop();
    this.results.close();
  };
}
