import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duplex } from 'node:stream';

import { MAX_GATEWAY_MESSAGE_BYTES, redisKeys, type LookUpPlace } from '@vantage/contract';
import { WebSocketServer, type WebSocket } from 'ws';

import { axesOf } from '../http/limits/axes.ts';
import type { AccessWatch } from '../probes/enrolment/access-watch.ts';
import type { AgentAccess } from '../probes/enrolment/agent-access.ts';
import { createAttemptLimit, type Attempt } from '../probes/enrolment/attempt-limit.ts';
import { createEnrolment, type Enrolment } from '../probes/enrolment/enrolment.ts';
import type { Store } from '../redis/open-store.ts';
import { createAdmitAgent, type AdmitAgent } from './admit-agent.ts';
import { openAgentSocket } from './connection/agent-socket.ts';
import { applyAccess } from './apply-access.ts';
import { createBeats, type Beats } from './beats.ts';
import { createConnections, type Connections } from './connections.ts';
import { startTimers } from './gateway-timers.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { createAgentRates, type AgentRates } from './limits/agent-rates.ts';
import { createTurns } from './limits/turns.ts';

/**
 * Gives jobs to the agents that are connected here and writes their results. All that another gateway needs to take
 * over an agent is in Redis.
 */
export interface Gateway {
  /**
   * Takes over an HTTP connection that requests a WebSocket.
   *
   * @param address canonical address of the agent; undefined if a proxy passed on an invalid address
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string | undefined) => void;
  /** Connections of agents whose identity was verified. */
  readonly size: () => number;
  /** Asks its agents to leave, closes their connections after some seconds, and stops. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface GatewayOptions {
  readonly store: Store;
  readonly access: AccessWatch;
  /** Origin of the public address of the service. */
  readonly origin: string;
  readonly lookUpPlace: LookUpPlace;
  /** Default: rates by the monotonic clock. */
  readonly rates?: AgentRates | undefined;
}

/** Reply timeout for screenshots, which take Redis longer than other commands. */
const SCREENSHOT_REPLY_MS = 8_000;
/** Maximum number of handshakes that begin in one turn of the event loop. */
const UPGRADES_A_TURN = 8;
const LEAVE_WITHIN_MS = 4_000;
const LEAVE_POLL_MS = 50;
const LEAVE_POLLS = 120;

export function createGateway(options: GatewayOptions): Gateway {
  return new AgentGateway(options);
}

class AgentGateway implements Gateway {
  private readonly connections: Connections;
  private readonly beats: Beats;
  private readonly enrolment: Enrolment;
  private readonly admit: AdmitAgent;
  private readonly limit = createAttemptLimit();
  private readonly turns = createTurns(UPGRADES_A_TURN);
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_GATEWAY_MESSAGE_BYTES,
    // One message of a connection in each turn of the event loop: thousands that arrive together must not hold up the
    // other connections.
    allowSynchronousEvents: false,
  });
  private readonly stoppers: readonly (() => void)[];
  private isStopping = false;

  constructor({ store, access, origin, lookUpPlace, rates = createAgentRates() }: GatewayOptions) {
    const { channels, clock, log } = store;
    const redis = store.open('gateway');
    const screenshots = store.open('gateway-screenshots', { replyWithinMs: SCREENSHOT_REPLY_MS });
    const id = randomUUID();
    this.enrolment = createEnrolment({ redis, origin, lookUpPlace });
    this.connections = createConnections({ redis, channels, id });
    this.beats = createBeats({ redis, connections: this.connections, id });
    const { enrolment, connections, beats } = this;
    this.admit = createAdmitAgent({ redis, screenshots, clock, enrolment, connections, beats, rates, log });
    redis.on('ready', () => {
      // Before any heartbeat on a new connection: a heartbeat must not refer to a lease that does not exist yet.
      this.renewLease();
      // Redis may have lost writes, as in a fail-over.
      beats.rewriteAll();
    });
    this.stoppers = [
      ...listenForJobs(channels, connections),
      access.onChange((probe, told) => void this.applyChange(probe, told)),
      connections.close,
      ...startTimers(connections, beats, this.renewLease),
    ];
  }

  readonly upgrade: Gateway['upgrade'] = (request, socket, head, address) => {
    if (address === undefined) return refuseUpgrade(socket, 400);
    if (this.isStopping) return refuseUpgrade(socket, 503, LEAVE_WITHIN_MS);
    const attempt = this.limit.begin(axesOf(address, 1)[0]!.key);
    if (!attempt.admitted) return refuseUpgrade(socket, 429, attempt.retryAfterMs);
    watchAttempt(socket, attempt);
    this.turns.add(() => {
      this.server.handleUpgrade(request, socket, head, (opened: WebSocket) => {
        const agent = openAgentSocket(opened, bytesReadOf(socket));
        this.admit(agent, address, attempt).catch(() => agent.close(1013));
      });
    });
  };

  readonly size = (): number => this.connections.all().length;

  readonly close = async (): Promise<void> => {
    this.isStopping = true;
    await handOver(this.connections);
    for (const stop of this.stoppers) stop();
    this.server.close();
  };

  private readonly renewLease = (): void => {
    this.connections.beat().then(
      (wasGone) => {
        if (wasGone) this.beats.rewriteAll();
      },
      () => undefined,
    );
  };

  /**
   * Applies a change of an agent's state. The state is read again, because a poll that began before the agent enrolled
   * may end after it.
   */
  private async applyChange(probe: string, told: AgentAccess): Promise<void> {
    if (this.connections.of(probe).length === 0) return;
    const now = await this.enrolment.accessOf(probe).catch(() => told);
    for (const connection of this.connections.of(probe)) applyAccess(connection, now, this.beats);
  }
}

/** Returns a function that counts the bytes read from a TCP socket; for another stream it always returns 0. */
function bytesReadOf(socket: Duplex): () => number {
  return () => (socket instanceof Socket ? socket.bytesRead : 0);
}

/** @returns functions that stop listening */
function listenForJobs(channels: Store['channels'], connections: Connections): readonly (() => void)[] {
  return [
    channels.listen(redisKeys.jobsAdded, (message) => {
      if (message === '') for (const connection of connections.all()) connection.wake();
      else for (const probe of message.split(' ')) for (const connection of connections.of(probe)) connection.wake();
    }),
    channels.listen(redisKeys.jobsAbandoned, (message) => {
      const [job = '', ...probes] = message.split(' ');
      for (const probe of probes) for (const { socket } of connections.of(probe)) socket.send({ t: 'abandoned', job });
    }),
  ];
}

/**
 * Ends the attempt when its connection closes, also for requests that are no WebSocket handshake. A separate function,
 * because the listeners stay as long as the connection and would keep its request in memory.
 */
function watchAttempt(socket: Duplex, attempt: Extract<Attempt, { admitted: true }>): void {
  socket.once('close', () => attempt.end('abandoned'));
  socket.on('error', () => undefined);
}

/** Gives no more jobs, asks the agents to connect elsewhere, waits, and closes the remaining connections. */
async function handOver(connections: Connections): Promise<void> {
  for (const { socket, stopJobs } of connections.all()) {
    stopJobs();
    socket.send({ t: 'leave', withinMs: LEAVE_WITHIN_MS });
  }
  for (let poll = 0; poll < LEAVE_POLLS && connections.all().length > 0; poll += 1) await sleep(LEAVE_POLL_MS);
  for (const { socket } of connections.all()) socket.close(1001);
}
