import { randomUUID } from 'node:crypto';

import { enrolmentRefusals, type EnrolmentRefusal, type GatewayMessage } from '@vantage/contract';

import { createGatewayMessageReader } from '../frames/validate.ts';
import { createDial, type DialOptions } from './dial.ts';
import { openSession, type AgentIdentity, type Closed } from './session.ts';

export interface EnrolOptions extends DialOptions {
  readonly identity: AgentIdentity;
  /** Release of the agent. */
  readonly release: string;
}

/** Time limit of an enrolment, longer than a handshake, whose timeouts give better reasons. */
const WITHIN_MS = 30_000;

/**
 * Identifies an agent at a gateway once, and closes the connection. It takes no jobs.
 *
 * @returns whether the agent must wait for the approval of the operator
 * @throws Error with the reason of the refusal, or why there is no connection
 */
export async function enrolOnce({ identity, release, ...dial }: EnrolOptions): Promise<'approved' | 'waiting'> {
  const { promise, resolve, reject } = Promise.withResolvers<'approved' | 'waiting'>();
  const take = (message: GatewayMessage): void => {
    if (message.t === 'welcome') identity.confirmed().then(() => resolve(message.state), reject);
  };
  const session = openSession({
    socket: createDial(dial)(),
    identity,
    read: createGatewayMessageReader(),
    hello: () => ({ instance: randomUUID(), release, credit: 1 }),
    onMessage: take,
    onClosed: (closed) => void explain(closed, identity).then(reject, reject),
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
  return error ?? new Error(`the gateway closed the connection (${code}${reason === '' ? '' : `, ${reason}`})`);
}
