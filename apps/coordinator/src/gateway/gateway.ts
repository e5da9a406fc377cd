import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duplex } from 'node:stream';

import { HEARTBEAT_EVERY_MS, MAX_GATEWAY_MESSAGE_BYTES, redisKeys, type LookUpPlace } from '@vantage/contract';
import { WebSocketServer, type WebSocket } from 'ws';

import { axesOf } from '../http/limits/axes.ts';
import type { AccessWatch } from '../probes/enrolment/access-watch.ts';
import type { AgentAccess } from '../probes/enrolment/agent-access.ts';
import { createAttemptLimit, type Attempt } from '../probes/enrolment/attempt-limit.ts';
import { createEnrolment } from '../probes/enrolment/enrolment.ts';
import type { Store } from '../redis/open-store.ts';
import { openAgentSocket, type AgentSocket } from './agent-socket.ts';
import { createBeats, type Beats } from './beats.ts';
import { createConnection, type AgentConnection } from './connection.ts';
import { createAgentRates } from './limits/agent-rates.ts';
import { createConnectLimit } from './limits/connect-limit.ts';
import { createConnections, type Connections } from './connections.ts';
import { agreeOnVersion, shakeHands } from './handshake.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { createTurns } from './limits/turns.ts';

/**
 * Gives jobs to the agents that are connected here and writes their results. Holds no state that other gateways lack.
 */
export interface Gateway {
  /**
   * Takes over an HTTP connection that requests a WebSocket.
   *
   * @param address canonical address of the agent; undefined if a proxy passed on what is none
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string | undefined) => void;
  /** Connections of agents whose identity was verified. */
  readonly size: () => number;
  /** Hands its agents to other gateways and closes. Never rejects. */
  readonly close: () => Promise<void>;
}

export interface GatewayOptions {
  readonly store: Store;
  readonly access: AccessWatch;
  /** Origin of the public address of the service. */
  readonly origin: string;
  readonly lookUpPlace: LookUpPlace;
}

const LOOK_EVERY_MS = 1_000;
/** Number of polls in which every queue is read once, because announcements of jobs may be lost. */
const LOOK_AT_ALL_WITHIN_LOOKS = 10;
const MOST_LOOKS = 10;
/** Interval of status updates: the load in a heartbeat is at most this old. */
const STATUS_EVERY_MS = 2_000;
const UPLOADS_MOST_BYTES = 64 * 1024 * 1024;
/** Reply timeout for screenshots, which take Redis longer than other commands. */
const SCREENSHOT_REPLY_MS = 8_000;
/** Interval of the search for silent connections; agents send pings every two seconds. */
const LOOK_FOR_QUIET_MS = 4_000;
/** Agents that lose their gateway together come to another one at about 300 a second. */
const RETURN_MS_EACH = 1_000 / 300;
const RETURN_MOST_MS = 60_000;
/** Handshakes begun in one turn of the event loop. */
const UPGRADES_A_TURN = 8;
const LEAVE_WITHIN_MS = 4_000;
const LEAVE_LOOK_MS = 50;
const LEAVE_LOOKS = 120;

export function createGateway({ store, access, origin, lookUpPlace }: GatewayOptions): Gateway {
  const { channels, clock, log } = store;
  const redis = store.open('gateway');
  const screenshots = store.open('gateway-screenshots', { replyWithinMs: SCREENSHOT_REPLY_MS });
  const enrolment = createEnrolment({ redis, origin, lookUpPlace });
  const id = randomUUID();
  const connections = createConnections({ redis, channels, id });
  const budget = { bytes: 0, mostBytes: UPLOADS_MOST_BYTES };
  const limit = createAttemptLimit();
  const connects = createConnectLimit();
  const rates = createAgentRates();
  const turns = createTurns(UPGRADES_A_TURN);
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_GATEWAY_MESSAGE_BYTES,
    // One message of a connection in each turn of the event loop: thousands that arrive together delay no other connection.
    allowSynchronousEvents: false,
  });
  const beats = createBeats({ redis, connections, id });
  const live = (): void => {
    connections.beat().then(
      (wasGone) => {
        if (wasGone) beats.rewriteAll();
      },
      () => undefined,
    );
  };
  redis.on('ready', () => {
    // First on a new connection: no heartbeat may refer to a lease that does not exist yet.
    live();
    // Redis may have lost writes, as in a fail-over.
    beats.rewriteAll();
  });
  let isStopping = false;

  const admit = async (socket: AgentSocket, address: string, attempt: Attempt): Promise<void> => {
    const end = attempt.admitted ? attempt.end : (): void => undefined;
    const agent = await shakeHands(socket, enrolment, address, end);
    if (agent === undefined || !(await agreeOnVersion(agent, socket, enrolment, connections))) return;
    const { hello, admission } = agent;
    const { probeId: probe } = hello.proof;
    const [yields, reports] = [hello.yields === true, hello.reports === true];
    // Agents with the key before a new one are about to be disconnected.
    const isOld = (yields || reports) && !admission.enrolledNow;
    const hasOther = isOld && (await connections.hasOther(probe, hello.instance));
    if (yields && hasOther) return socket.close(4409, 'another instance');
    // A listener added to a closed socket is never called: the connection would be kept until this process exits.
    if (!socket.isOpen()) return;
    if (!connects.admits(probe)) return socket.close(1013, 'too many connections');
    const connection = createConnection({
      socket,
      hello,
      rate: rates.open(probe),
      redis,
      screenshots,
      clock,
      budget,
      log,
      fingerprint: admission.fingerprint,
      isApproved: admission.state === 'approved',
      onlyReports: hasOther,
      isConnected: (instance) => connections.isConnected(probe, instance),
      onStatus: () => beats.beat(probe),
    });
    socket.onClosed(() => {
      beats.ended(connection);
      void connections.remove(connection).catch(() => undefined);
      log.info({ probe }, 'agent disconnected');
    });
    await connections.add(connection);
    // Reads the state again: a change since the admission has reached no listener.
    applyAccess(connection, await enrolment.accessOf(probe), beats.remove);
    const returnOverMs = Math.min(RETURN_MOST_MS, Math.ceil(connections.all().length * RETURN_MS_EACH));
    socket.send({ t: 'welcome', v: hello.v, state: admission.state, returnOverMs });
    if (hasOther) connection.retire();
    log.info({ probe, release: hello.release, state: admission.state }, 'agent connected');
  };

  /**
   * Applies a change of an agent's state. The change is read again, because a poll that began before the agent enrolled
   * may end after it.
   */
  const applyChange = async (probe: string, told: AgentAccess): Promise<void> => {
    if (connections.of(probe).length === 0) return;
    const now = await enrolment.accessOf(probe).catch(() => told);
    for (const connection of connections.of(probe)) applyAccess(connection, now, beats.remove);
  };

  const stopListening = [
    channels.listen(redisKeys.jobsAdded, (message) => {
      if (message === '') for (const connection of connections.all()) connection.wake();
      else for (const probe of message.split(' ')) for (const connection of connections.of(probe)) connection.wake();
    }),
    channels.listen(redisKeys.jobsAbandoned, (message) => {
      const [job = '', ...probes] = message.split(' ');
      for (const probe of probes) for (const { socket } of connections.of(probe)) socket.send({ t: 'abandoned', job });
    }),
    access.onChange((probe, told) => void applyChange(probe, told)),
    connections.close,
  ];
  const stopTimers = startTimers(connections, beats, live);

  return {
    upgrade: (request, socket, head, address) => {
      if (address === undefined) return refuseUpgrade(socket, 400);
      if (isStopping) return refuseUpgrade(socket, 503, LEAVE_WITHIN_MS);
      const attempt = limit.begin(axesOf(address, 1)[0]!.key);
      if (!attempt.admitted) return refuseUpgrade(socket, 429, attempt.retryAfterMs);
      watchAttempt(socket, attempt);
      turns.add(() => {
        server.handleUpgrade(request, socket, head, (opened: WebSocket) => {
          const agent = openAgentSocket(opened);
          admit(agent, address, attempt).catch(() => agent.close(1013));
        });
      });
    },
    size: () => connections.all().length,
    close: async () => {
      isStopping = true;
      await handOver(connections);
      for (const stop of [...stopListening, ...stopTimers]) stop();
      server.close();
    },
  };
}

/**
 * Ends the attempt when its connection closes, also for requests that are no WebSocket handshake. A separate function,
 * because the listeners stay as long as the connection and would keep its request in memory.
 */
function watchAttempt(socket: Duplex, attempt: Extract<Attempt, { admitted: true }>): void {
  socket.once('close', () => attempt.end('abandoned'));
  socket.on('error', () => undefined);
}

/** Disconnects an agent that may no longer work. */
function applyAccess(connection: AgentConnection, now: AgentAccess, removeHeartbeat: Beats['remove']): void {
  const { fingerprint, socket } = connection;
  const mayStay = now.state !== 'suspended' && now.state !== 'none' && now.key === fingerprint;
  if (mayStay) {
    if (now.state === 'approved') connection.approve();
    return;
  }
  connection.stopJobs();
  removeHeartbeat(connection);
  socket.close(4403);
}

function startTimers(connections: Connections, beats: Beats, live: () => void): readonly (() => void)[] {
  let next = 0;
  const lookInTurn = (): void => {
    const all = connections.all();
    const count = Math.min(MOST_LOOKS, Math.ceil(all.length / LOOK_AT_ALL_WITHIN_LOOKS));
    for (let index = 0; index < count; index += 1) all[(next + index) % all.length]?.wake();
    next = all.length === 0 ? 0 : (next + count) % all.length;
  };
  const lookForQuiet = (): void => {
    for (const { socket } of connections.all()) socket.look();
  };
  const timers = [
    setInterval(lookInTurn, LOOK_EVERY_MS),
    setInterval(lookForQuiet, LOOK_FOR_QUIET_MS),
    setInterval(beats.beatAll, STATUS_EVERY_MS),
    setInterval(live, HEARTBEAT_EVERY_MS),
  ];
  return timers.map((timer) => () => clearInterval(timer));
}

/** Gives no more jobs, and asks the agents to reconnect elsewhere before it closes. */
async function handOver(connections: Connections): Promise<void> {
  for (const { socket, stopJobs } of connections.all()) {
    stopJobs();
    socket.send({ t: 'leave', withinMs: LEAVE_WITHIN_MS });
  }
  for (let look = 0; look < LEAVE_LOOKS && connections.all().length > 0; look += 1) await sleep(LEAVE_LOOK_MS);
  for (const { socket } of connections.all()) socket.close(1001);
}
