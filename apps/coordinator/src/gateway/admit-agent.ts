import type { Redis } from 'ioredis';

import type { Attempt } from '../probes/enrolment/attempt-limit.ts';
import type { Enrolment } from '../probes/enrolment/enrolment.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { Log } from '../redis/log.ts';
import type { AgentSocket } from './connection/agent-socket.ts';
import { applyAccess } from './apply-access.ts';
import type { Beats } from './beats.ts';
import { createConnection, type AgentConnection } from './connection/connection.ts';
import type { Connections } from './connections.ts';
import { agreeOnVersion, shakeHands, type AdmittedAgent } from './handshake.ts';
import type { AgentRates } from './limits/agent-rates.ts';
import { createConnectLimit } from './limits/connect-limit.ts';

export interface AdmitAgentOptions {
  readonly redis: Redis;
  readonly screenshots: Redis;
  readonly clock: RedisClock;
  readonly enrolment: Enrolment;
  readonly connections: Connections;
  readonly beats: Beats;
  readonly rates: AgentRates;
  readonly log: Log;
}

/**
 * Verifies an agent and adds its connection, or closes its socket.
 *
 * @param address canonical address of the agent
 */
export type AdmitAgent = (
  socket: AgentSocket,
  address: string,
  attempt: Extract<Attempt, { admitted: true }>,
) => Promise<void>;

const UPLOADS_MOST_BYTES = 64 * 1024 * 1024;
/**
 * Milliseconds that each connected agent adds to `returnOverMs`, over which agents spread their next reconnection:
 * about 300 agents per second return.
 */
const RETURN_MS_EACH = 1_000 / 300;
/** Maximum of `returnOverMs`. */
const RETURN_MOST_MS = 60_000;

export function createAdmitAgent(options: AdmitAgentOptions): AdmitAgent {
  const { enrolment, connections, beats, log } = options;
  const connects = createConnectLimit();
  const open = createOpenConnection(options);

  return async (socket, address, attempt) => {
    const agent = await shakeHands(socket, enrolment, address, attempt.end);
    if (agent === undefined || !(await agreeOnVersion(agent, socket, enrolment, connections))) return;
    const { hello, admission } = agent;
    const { probeId: probe } = hello.proof;
    const [yields, reports] = [hello.yields === true, hello.reports === true];
    // Enrolling a new key disconnects agents with the old one, so another connected instance does not count then.
    const isOld = (yields || reports) && !admission.enrolledNow;
    const hasOther = isOld && (await connections.hasOther(probe, hello.instance));
    if (yields && hasOther) return socket.close(4409, 'another instance');
    // A listener added to a closed socket is never called: the connection would be kept until this process exits.
    if (!socket.isOpen()) return;
    if (!connects.admits(probe)) return socket.close(1013, 'too many connections');
    const connection = open(agent, socket, hasOther);
    await connections.add(connection);
    // Reads the state again: a change since the admission may have reached no listener.
    applyAccess(connection, await enrolment.accessOf(probe), beats);
    const returnOverMs = Math.min(RETURN_MOST_MS, Math.ceil(connections.all().length * RETURN_MS_EACH));
    const { state, suspensions } = admission;
    socket.send({ t: 'welcome', v: hello.v, state, suspensions, returnOverMs });
    if (hasOther) connection.retire();
    log.info({ probe, release: hello.release, state }, 'agent connected');
  };
}

type OpenConnection = (agent: AdmittedAgent, socket: AgentSocket, onlyReports: boolean) => AgentConnection;

function createOpenConnection({
  redis,
  screenshots,
  clock,
  connections,
  beats,
  rates,
  log,
}: AdmitAgentOptions): OpenConnection {
  const budget = { bytes: 0, mostBytes: UPLOADS_MOST_BYTES };

  return ({ hello, admission }, socket, onlyReports) => {
    const { probeId: probe } = hello.proof;
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
      suspensions: admission.suspensions,
      isApproved: admission.state === 'approved',
      onlyReports,
      isConnected: (instance) => connections.isConnected(probe, instance),
      onStatus: () => beats.beat(probe),
    });
    socket.onClosed(() => {
      beats.ended(connection);
      void connections.remove(connection).catch(() => undefined);
      log.info({ probe }, 'agent disconnected');
    });
    return connection;
  };
}
