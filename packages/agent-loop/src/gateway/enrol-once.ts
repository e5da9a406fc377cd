import { randomUUID } from 'node:crypto';

import { enrolmentRefusals, gatewayCloseCodes, type EnrolmentRefusal, type GatewayMessage } from '@vantage/contract';

import { createGatewayMessageReader } from '../frames/validate.ts';
import { createDial, type DialOptions } from './dial.ts';
import { openSession, type AgentIdentity, type Closed } from './session.ts';

export interface EnrolOptions extends DialOptions {
  readonly identity: AgentIdentity;
  /** Release of the agent. */
  readonly release: string;
}

export type Enrolled = 'approved' | 'waiting' | 'connected';

/** Time limit of an enrolment, longer than a handshake, whose timeouts give better reasons. */
const WITHIN_MS = 30_000;

/** Close code for an identity that was accepted, while another instance of the agent works. */
const OTHER_WORKS = 4409;

/**
 * Identifies an agent at a gateway once, and closes the connection. It takes no jobs, and replaces no agent that works.
 *
 * @returns whether the agent must wait for the approval of the operator; `connected` if another instance is connected
 * @throws Error with the reason of the refusal, or why there is no connection
 */
export async function enrolOnce({ identity, release, ...dial }: EnrolOptions): Promise<Enrolled> {
  const { promise, resolve, reject } = Promise.withResolvers<Enrolled>();
  const confirm = (state: Enrolled): void => void identity.confirmed().then(() => resolve(state), reject);
  const take = (message: GatewayMessage): void => {
    if (message.t === 'welcome') confirm(message.state);
  };
  const session = openSession({
    socket: createDial(dial)(),
    identity,
    read: createGatewayMessageReader(),
    hello: () => ({ instance: randomUUID(), release, credit: 1, yields: true }),
    onMessage: take,
    onClosed: (closed) => {
      if (closed.code === OTHER_WORKS) confirm('connected');
      else void explain(closed, identity).then(reject, reject);
    },
  });
  const timer = setTimeout(() => reject(new Error('the gateway does not answer')), WITHIN_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    session.close();
  }
}

async function explain({ code, reason, error }: Closed, identity: AgentIdentity): Promise<Error> {
  if (code === 4401 && Object.hasOwn(enrolmentRefusals, reason)) {
    // Discards a key that was generated for a refused token.
    await identity.refused(reason as EnrolmentRefusal);
    return new Error(enrolmentRefusals[reason as EnrolmentRefusal]);
  }
  const meanings: Readonly<Record<number, string | undefined>> = gatewayCloseCodes;
  const meaning = meanings[code] ?? 'the gateway closed the connection';
  return error ?? new Error(`${meaning} (${code}${reason === '' ? '' : `, ${reason}`})`);
}
