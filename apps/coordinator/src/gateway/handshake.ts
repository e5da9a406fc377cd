import { randomBytes } from 'node:crypto';

import { createAgentMessageReader, type Frame } from '@vantage/agent-loop';
import { gatewayVersions, type AgentHello, type AgentMessage } from '@vantage/contract';
import { stallTolerantTimeout } from '@vantage/timers';

import type { AttemptEnd } from '../probes/enrolment/attempt-limit.ts';
import type { AgentAdmission, Enrolment } from '../probes/enrolment/enrolment.ts';
import type { AgentSocket } from './connection/agent-socket.ts';
import type { Connections } from './connections.ts';
import { refusedVersion } from './refused-version.ts';

/** An agent whose identity was verified. */
export interface AdmittedAgent {
  readonly hello: AgentHello;
  readonly admission: Extract<AgentAdmission, { ok: true }>;
}

/** Time from the challenge to the proof. */
const PROOF_MS = 10_000;
const NONCE_BYTES = 32;

/** Refusals that do not count as guesses: the agent holds the key of the probe, or a valid token. */
const ofKnownAgents: ReadonlySet<string> = new Set(['suspended', 'stale-counter', 'copied-key']);

const readMessage = createAgentMessageReader();

/**
 * Challenges an agent and verifies its proof. Closes the connection if the agent is refused.
 *
 * @param address canonical address of the agent
 * @param end called once with the outcome of the attempt
 * @returns undefined if the agent is refused, disconnects or sends no proof in time, or if Redis is unavailable
 */
export async function shakeHands(
  socket: AgentSocket,
  enrolment: Enrolment,
  address: string,
  end: (how: AttemptEnd) => void,
): Promise<AdmittedAgent | undefined> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const hello = await receiveHello(socket, nonce, enrolment.origin);
  if (typeof hello === 'string') {
    end(hello);
    return undefined;
  }
  try {
    const admission = await enrolment.authenticate(hello.proof, nonce, address);
    end(admission.ok || ofKnownAgents.has(admission.code) ? 'identified' : 'refused');
    if (!admission.ok) {
      socket.close(4401, admission.code);
      return undefined;
    }
    return { hello, admission };
  } catch {
    // Redis is unavailable, which is not the agent's fault.
    end('identified');
    socket.close(1013);
    return undefined;
  }
}

/**
 * True if the gateway speaks the agent's version. Otherwise records why for the operator, unless another instance of
 * the probe's agent is connected, and closes the connection.
 */
export async function agreeOnVersion(
  { hello }: AdmittedAgent,
  socket: AgentSocket,
  enrolment: Enrolment,
  connections: Pick<Connections, 'hasOther'>,
): Promise<boolean> {
  const { probeId } = hello.proof;
  const refused = refusedVersion(hello);
  const { refusal } = await enrolment.accessOf(probeId);
  if (refused === undefined) {
    if (refusal !== null) await enrolment.noteRefusal(probeId, null);
    return true;
  }
  if (!(await connections.hasOther(probeId, hello.instance))) await enrolment.noteRefusal(probeId, refused.why);
  socket.close(4406, String(refused.nearest));
  return false;
}

/** Says what is wrong with a first message that is no hello, for developers of other agents. */
function faultOfHello(frame: Frame, message: AgentMessage | undefined): string {
  if (message !== undefined) return `the first message must be a hello, not ${message.t}`;
  return frame.kind === 'message'
    ? readMessage.faultOf(frame.message)
    : 'the first message must be a hello, not a piece';
}

function receiveHello(socket: AgentSocket, nonce: string, origin: string): Promise<AgentHello | AttemptEnd> {
  return new Promise((resolve) => {
    // Stalls of this process do not count: the hello may have arrived during one and not been read yet.
    const stopTimer = stallTolerantTimeout(PROOF_MS, () => {
      socket.close(4408);
      resolve('refused');
    });
    const take = (frame: Frame): void => {
      stopTimer();
      // No further message is accepted until the proof is verified.
      socket.onFrame(() => socket.close(4400, 'a message before the welcome'));
      const message = frame.kind === 'message' ? readMessage(frame.message) : undefined;
      if (message?.t === 'hello') return resolve(message);
      if (frame.kind === 'fault') socket.close(frame.code, frame.reason);
      else socket.close(4400, faultOfHello(frame, message));
      resolve('refused');
    };
    socket.onFrame(take);
    socket.onClosed(() => {
      stopTimer();
      resolve('abandoned');
    });
    socket.send({ t: 'challenge', versions: gatewayVersions, nonce, origin });
  });
}
