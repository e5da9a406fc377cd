import { roundMs, type Failure, type ParamsOf, type ResultFieldsOf, type Target } from '@vantage/contract';
import { awakeTimer } from '@vantage/timers';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { ATTEMPT_WAIT_MS, MAX_RESPONSE_BYTES, type udp } from './contract.ts';
import { isOfClosedPort, sendDatagram, type Attempt, type Heard } from './datagram.ts';
import { questionFor } from './questions.ts';
import { takesPayload } from './reflectors.ts';
import { addressFields } from '../../shared/address-fields.ts';

type Udp = typeof udp;
type Fields = ResultFieldsOf<Udp>;

/** Limit for later answers, as a multiple of an earlier one's time. */
const LATER_ANSWER_FACTOR = 1.25;

/** Sends up to three datagrams, two seconds apart, until the port answers or an ICMP error arrives. */
export async function runUdp(params: ParamsOf<Udp>, context: DiagnosticContext<Udp>): Promise<Outcome<Udp>> {
  const { host, port, options } = params;
  // The coordinator refuses this too, but only the probe's decision counts.
  if (options.payload !== undefined && !takesPayload(port)) return ended(refusedPayload(port), { port });
  const admitted = await admit(params, context);
  if ('failure' in admitted) return ended(admitted.failure, { port });

  const { target } = admitted;
  const payload =
    options.payload === undefined
      ? questionFor(port, host, context.attribution.payloadTag)
      : Uint8Array.from(Buffer.from(options.payload, 'hex'));
  const sent: Fields = { port, payload: Buffer.from(payload).toString('hex') };
  const attempts: Attempt[] = [];
  const show = (): void => {
    const rows = attempts.map(({ heard }) => rowOf(heard()));
    context.emitPartial({ ...sent, resolvedIp: target.address, attempts: rows });
  };
  show();
  try {
    while (attempts.length < options.attempts && !context.signal.aborted) {
      attempts.push(await sendDatagram(target, port, payload, context));
      await firstHeard(attempts, ATTEMPT_WAIT_MS, context.signal);
      show();
      if (attempts.some(({ heard }) => heard() !== null)) break;
    }
    await othersHeard(attempts, context.signal);
    return outcome(target, sent, attempts);
  } finally {
    for (const attempt of attempts) attempt.close();
  }
}

async function admit(
  { host, port, options }: ParamsOf<Udp>,
  { admit, signal }: DiagnosticContext<Udp>,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  try {
    const admission = await admit({ host, port, purpose: 'udp', family: options.family }, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

/** While waiting for a later answer, one to an earlier datagram counts too. */
async function firstHeard(attempts: readonly Attempt[], waitMs: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const stopTimer = awakeTimer(over.resolve, waitMs);
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  await Promise.race([over.promise, ...attempts.map(({ settled }) => settled)]);
  stopTimer();
}

/**
 * Extends the wait for the other datagrams to the time of the answered one: a slow service answers all of them late,
 * and a shorter wait would report loss.
 */
async function othersHeard(attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  const longestMs = Math.max(0, ...attempts.map(({ heard }) => waitOf(heard())));
  const open = attempts.filter(({ heard }) => heard() === null);
  await Promise.all(
    open.map((attempt) => firstHeard([attempt], attempt.sentAtMs + longestMs - performance.now(), signal)),
  );
}

function waitOf(heard: Heard | null): number {
  if (heard === null) return 0;
  return Math.max(ATTEMPT_WAIT_MS, heard.kind === 'answer' ? heard.rtMs * LATER_ANSWER_FACTOR : 0);
}

function outcome(target: Target, sent: Fields, attempts: readonly Attempt[]): Outcome<Udp> {
  const heard = attempts.map((attempt) => attempt.heard());
  const isBlind = attempts.some(({ readsIcmp }) => !readsIcmp);
  const fields: Fields = { ...sent, attempts: heard.map(rowOf), ...(isBlind ? { icmpUnread: true } : {}) };
  const common = addressFields(target);
  const answer = heard.find((one) => one?.kind === 'answer');
  if (answer !== undefined) {
    const shown: Fields = { ...fields, state: 'open', icmp: null, ...responseFields(answer.bytes) };
    return { result: 'success', rt: roundMs(answer.rtMs), error: null, ...common, ...shown };
  }

  const negative = heard.find((one) => one?.kind === 'failure');
  const nothing: Fields = { ...fields, responseBytes: 0, response: '' };
  if (negative === undefined) {
    const blindness = isBlind ? ' The probe cannot read ICMP errors, so one may have come.' : '';
    const error = timedOut('response', `Nothing came back: the port is open and silent, or filtered.${blindness}`);
    return { result: 'timeout', rt: null, error, ...common, ...nothing, state: 'open|filtered', icmp: null };
  }
  const { failure, notice: icmp } = negative;
  const result = outcomeOf(failure);
  // A failure of the probe says nothing about the port.
  if (result === 'error') return { result, rt: null, error: failure, ...common, ...nothing, icmp };
  const state = isOfClosedPort(failure) ? 'closed' : 'unreachable';
  return { result, rt: null, error: failure, ...common, ...nothing, state, icmp };
}

function ended(failure: Failure, fields: Fields): Outcome<Udp> {
  return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure, ...fields };
}

function rowOf(heard: Heard | null): NonNullable<Fields['attempts']>[number] {
  if (heard === null) return { rt: null, error: timedOut('response') };
  return heard.kind === 'answer' ? { rt: roundMs(heard.rtMs), error: null } : { rt: null, error: heard.failure };
}

function responseFields(bytes: Uint8Array): Pick<Fields, 'responseBytes' | 'response'> {
  const response = Buffer.from(bytes.subarray(0, MAX_RESPONSE_BYTES)).toString('base64');
  return { responseBytes: bytes.length, response };
}

function refusedPayload(port: number): Failure {
  const message = `No payload of a caller’s goes to port ${port}.`;
  return { code: 'target_refused_by_policy', phase: 'request', source: 'probe', message };
}
