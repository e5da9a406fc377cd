import { createAgentMessageReader, type Frame } from '@vantage/agent-loop';
import { LAST_JOBS_MS, type AgentHello, type AgentMessage, type AgentStatus, type Heartbeat } from '@vantage/contract';
import type { Redis } from 'ioredis';
import type { Log } from '../redis/log.ts';

import type { RedisClock } from '../redis/clock.ts';
import type { AgentSocket } from './agent-socket.ts';
import type { AgentRate } from './limits/agent-rates.ts';
import { createJobFeed } from './jobs/job-feed.ts';
import { openProbeJobs } from './jobs/probe-jobs.ts';
import { closeWhenDone } from './close-when-done.ts';
import { openResultStream } from './result-stream.ts';
import { createUploads, type UploadBudget } from './uploads.ts';

/** The connection of an agent whose identity was verified. */
export interface AgentConnection {
  readonly probe: string;
  readonly instance: string;
  /** Grows with each connection of the agent. Negative for one that only reports last results: all others are newer. */
  readonly counter: number;
  readonly fingerprint: string;
  readonly socket: AgentSocket;
  /** Looks for new jobs. */
  readonly wake: () => void;
  /** Starts to give jobs: the operator has approved the agent. */
  readonly approve: () => void;
  /** Gives no more jobs; running ones finish. */
  readonly stopJobs: () => void;
  /** Gives no more jobs and closes when those of the agent have ended: a newer connection has taken over. */
  readonly retire: () => void;
  /** The probe's heartbeat, the same object until it changes; undefined if this connection has none to write. */
  readonly heartbeat: () => Heartbeat | undefined;
  /** True if the agent has announced that it stops. */
  readonly isDraining: () => boolean;
}

export interface ConnectionOptions {
  readonly socket: AgentSocket;
  readonly hello: AgentHello;
  readonly rate: AgentRate;
  readonly fingerprint: string;
  readonly isApproved: boolean;
  /** A retired agent reports its last jobs while another instance is connected. */
  readonly onlyReports: boolean;
  readonly redis: Redis;
  readonly screenshots: Redis;
  readonly clock: RedisClock;
  readonly budget: UploadBudget;
  /** True while another connection of the probe holds this instance of its agent. */
  readonly isConnected: (instance: string) => Promise<boolean>;
  /** Called when the heartbeat has changed. */
  readonly onStatus: () => void;
  readonly log: Log;
}

/** Limit of writes without a reply from Redis; at it, nothing more is read from the connection. */
const MOST_WRITES = 128;
const STUCK = 'It does not end its jobs: one is long past its deadline.';
/** Most `degraded` reasons in a heartbeat. */
const MOST_REASONS = 16;
const DEADLINE = /"deadlineAt":(\d+)/;

const readMessage = createAgentMessageReader();

export function createConnection(options: ConnectionOptions): AgentConnection {
  const { socket, hello, rate, fingerprint, onlyReports, redis, screenshots, clock } = options;
  const { budget, isConnected, onStatus, log } = options;
  const { probeId: probe } = hello.proof;
  const counter = onlyReports ? hello.proof.counter - Number.MAX_SAFE_INTEGER : hello.proof.counter;
  const { instance, credit } = hello;
  const results = openResultStream({ redis, screenshots, probe });
  const uploads = createUploads(budget);
  let status: AgentStatus | undefined;
  /** Timer that ends the feed of an agent that drains. */
  let lastJobs: NodeJS.Timeout | undefined;
  let heartbeat: Heartbeat | undefined;
  let heartbeatOf: readonly [status: AgentStatus, isStuck: boolean] | undefined;
  let isApproved = options.isApproved;
  let isRetired = false;
  let writes = 0;
  const jobs = openProbeJobs(redis, probe, instance);
  const feed = createJobFeed({
    jobs,
    instance,
    credit,
    isConnected,
    log,
    give: ({ id, name, data, timestamp }) => {
      rate.give(id);
      socket.send({ t: 'job', id, name, data, timestamp });
    },
    leftMs: async ({ data }) => Number(DEADLINE.exec(data)?.[1]) - (await clock.now(redis)),
    interrupt: async (id) => results.interrupt(id, await clock.now(redis)),
  });

  /** Jobs are given only after the agent has sent its capabilities. */
  const begin = (): void => {
    if (isApproved && status !== undefined && socket.isOpen()) feed.wake();
  };
  const takeStatus = (now: AgentStatus): void => {
    const wasReady = status?.draining === false;
    status = now;
    if (now.draining && wasReady) lastJobs ??= setTimeout(feed.stop, LAST_JOBS_MS);
    else if (now.draining && lastJobs === undefined) feed.stop();
    onStatus();
    begin();
  };

  const write = async (message: Extract<AgentMessage, { t: 'result' }>): Promise<void> => {
    const { seq, check, kind, data, traceparent, screenshot } = message;
    const png = screenshot && uploads.take(screenshot.upload, screenshot.bytes);
    if (screenshot !== undefined && png === undefined) return socket.close(4400, 'screenshot without its pieces');
    if (kind === 'final') feed.release(check);
    writes += 1;
    if (writes >= MOST_WRITES) socket.pause();
    try {
      await results.append({ check, kind, data, png, traceparent });
      socket.send({ t: 'ack', seq });
    } catch {
      // The agent keeps it, and sends it again.
      socket.send({ t: 'nack', seq });
    } finally {
      writes -= 1;
      if (writes < MOST_WRITES / 2) socket.resume();
    }
  };
  const tellTime = async (id: number): Promise<void> => {
    const ms = await clock.now(redis).catch(() => undefined);
    if (ms !== undefined) socket.send({ t: 'time', id, ms });
  };
  const take = (message: AgentMessage): void => {
    if (message.t === 'result') void write(message);
    else if (message.t === 'time') void tellTime(message.id);
    else if (message.t === 'status') takeStatus(message.status);
    else if (message.t === 'done') {
      feed.release(message.job);
      feed.finish(message.job);
      rate.end(message.job);
    } else socket.close(4400, 'a second hello');
  };
  const takeFrame = (frame: Frame): void => {
    if (frame.kind === 'piece') {
      const taken = uploads.add(frame.upload, frame.bytes);
      if (taken === 'fault') socket.close(4400, 'screenshot too large');
      else socket.send({ t: taken === 'taken' ? 'ack' : 'nack', seq: frame.seq });
      return;
    }
    if (frame.kind === 'fault') return socket.close(frame.code, frame.reason);
    const message = readMessage(frame.message);
    if (message === undefined) socket.close(4400, 'invalid message');
    else take(message);
  };

  socket.limitBy(rate);
  socket.onFrame(takeFrame);
  socket.onClosed(() => {
    clearTimeout(lastJobs);
    feed.stop();
    uploads.drop();
    results.close();
  });

  return {
    probe,
    instance,
    counter,
    fingerprint,
    socket,
    wake: begin,
    stopJobs: feed.stop,
    approve: () => {
      if (isApproved) return;
      isApproved = true;
      socket.send({ t: 'approved' });
      onStatus();
      begin();
    },
    retire: () => {
      if (isRetired) return;
      isRetired = true;
      feed.stop();
      socket.send({ t: 'retire' });
      void closeWhenDone({ socket, instance, jobs, running: feed.running });
    },
    heartbeat: () => {
      if (status === undefined || !isApproved || isRetired || !socket.isOpen()) return undefined;
      const [running, taken] = [Math.min(feed.running(), credit), feed.taken()];
      const isStuck = feed.isStuck();
      const isSame = heartbeatOf?.[0] === status && heartbeatOf[1] === isStuck;
      if (isSame && heartbeat?.load.running === running && heartbeat.taken === taken) return heartbeat;
      heartbeatOf = [status, isStuck];
      const degraded = isStuck ? [STUCK, ...status.degraded.slice(0, MOST_REASONS - 1)] : status.degraded;
      const load = { running, capacity: credit };
      heartbeat = { v: 1, version: hello.release, instance, ...status, degraded, load, taken };
      return heartbeat;
    },
    isDraining: () => status?.draining === true && !isRetired,
  };
}
