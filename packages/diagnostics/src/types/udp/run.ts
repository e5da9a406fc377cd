import {
  allowsPayload,
  roundMs,
  type Failure,
  type ParamsOf,
  type ResultFieldsOf,
  type Target,
} from '@vantage/contract';
import { awakeTimer } from '@vantage/timers';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { ATTEMPT_WAIT_MS, DATAGRAM_WAITS_MS, MAX_RESPONSE_BYTES, type udp } from './contract.ts';
import { isOfClosedPort, sendDatagram, type Datagram, type Heard } from './datagram.ts';
import { protocolPayload } from './protocol-payloads.ts';
import { addressFields } from '../../shared/address-fields.ts';

type Udp = typeof udp;
type Fields = ResultFieldsOf<Udp>;

/** Wait for the answers to other attempts, as a multiple of the time that an answer took. */
const LATER_ANSWER_FACTOR = 1.25;

/** The datagrams of one attempt, which have the same payload. */
type Attempt = readonly Datagram[];

/** Makes the attempts, `ATTEMPT_WAIT_MS` apart, until the port answers or an ICMP error arrives. */
export async function runUdp(params: ParamsOf<Udp>, context: DiagnosticContext<Udp>): Promise<Outcome<Udp>> {
  const { host, port, options } = params;
  // The coordinator refuses this too, but only the probe's decision counts.
  if (options.payload !== undefined && !allowsPayload(port)) return ended(refusedPayload(port), { port });
  const admitted = await admit(params, context);
  if ('failure' in admitted) return ended(admitted.failure, { port });

  const { target } = admitted;
  const payload =
    options.payload === undefined
      ? protocolPayload(port, host, context.attribution.payloadTag)
      : Uint8Array.from(Buffer.from(options.payload, 'hex'));
  const sent: Fields = { port, payload: Buffer.from(payload).toString('hex') };
  const attempts: Datagram[][] = [];
  const show = (): void => {
    context.emitPartial({ ...sent, resolvedIp: target.address, attempts: rowsOf(attempts) });
  };
  show();
  try {
    while (attempts.length < options.attempts && !isOver(attempts, context.signal)) {
      attempts.push([]);
      await attempt(attempts, () => sendDatagram(target, port, payload, context), context.signal);
      show();
    }
    await lastHeard(attempts, context.signal);
    await othersHeard(attempts, context.signal);
    return outcome(target, sent, attempts);
  } finally {
    for (const datagram of attempts.flat()) datagram.close();
  }
}

/** Sends the datagrams of the last attempt one after another, none once one of any attempt is answered or refused. */
async function attempt(
  attempts: readonly Datagram[][],
  send: () => Promise<Datagram>,
  signal: AbortSignal,
): Promise<void> {
  for (const waitMs of DATAGRAM_WAITS_MS) {
    attempts.at(-1)?.push(await send());
    await firstHeard(attempts.flat(), waitMs, signal);
    if (isOver(attempts, signal)) return;
  }
}

function isOver(attempts: readonly Attempt[], signal: AbortSignal): boolean {
  return signal.aborted || attempts.some((datagrams) => heardOf(datagrams) !== null);
}

/** The response to an attempt; an answer takes precedence over an ICMP error. Null without either. */
function heardOf(datagrams: Attempt): Heard | null {
  const heard = datagrams.map((datagram) => datagram.heard()).filter((one) => one !== null);
  return heard.find(({ kind }) => kind === 'answer') ?? heard[0] ?? null;
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

/** Waits until any of the datagrams is answered or refused, at most `waitMs`. */
async function firstHeard(datagrams: readonly Datagram[], waitMs: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const stopTimer = awakeTimer(over.resolve, waitMs);
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  await Promise.race([over.promise, ...datagrams.map(({ settled }) => settled)]);
  stopTimer();
}

/** Waits for the first response, if there is none yet, until `ATTEMPT_WAIT_MS` after the last datagram. */
async function lastHeard(attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  if (isOver(attempts, signal)) return;
  const datagrams = attempts.flat();
  const sentAtMs = Math.max(0, ...datagrams.map((datagram) => datagram.sentAtMs));
  await firstHeard(datagrams, sentAtMs + ATTEMPT_WAIT_MS - performance.now(), signal);
}

/**
 * Awaits the answers to the other attempts for `ATTEMPT_WAIT_MS`, or longer if an answer took longer: a slow service
 * answers all of them late, and a shorter wait would report loss.
 */
async function othersHeard(attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
  const longestMs = Math.max(0, ...attempts.map((datagrams) => waitOf(heardOf(datagrams))));
  const open = attempts.filter((datagrams) => heardOf(datagrams) === null);
  await Promise.all(
    open.map((datagrams) => {
      const sentAtMs = Math.max(0, ...datagrams.map((datagram) => datagram.sentAtMs));
      return firstHeard(datagrams, sentAtMs + longestMs - performance.now(), signal);
    }),
  );
}

function waitOf(heard: Heard | null): number {
  if (heard === null) return 0;
  return Math.max(ATTEMPT_WAIT_MS, heard.kind === 'answer' ? heard.rtMs * LATER_ANSWER_FACTOR : 0);
}

function outcome(target: Target, sent: Fields, attempts: readonly Attempt[]): Outcome<Udp> {
  const heard = attempts.map(heardOf);
  const isBlind = attempts.flat().some(({ readsIcmp }) => !readsIcmp);
  const fields: Fields = { ...sent, attempts: rowsOf(attempts), ...(isBlind ? { icmpUnread: true } : {}) };
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
    const error = timedOut('response', `${NO_ANSWER}${blindness}`);
    return { result: 'timeout', rt: null, error, ...common, ...nothing, state: 'open|filtered', icmp: null };
  }
  const { failure, notice: icmp } = negative;
  const result = outcomeOf(failure);
  // A failure of the probe says nothing about the port.
  if (result === 'error') return { result, rt: null, error: failure, ...common, ...nothing, icmp };
  const state = isOfClosedPort(failure) ? 'closed' : 'unreachable';
  return { result, rt: null, error: failure, ...common, ...nothing, state, icmp };
}

/** Answers from other ports and addresses are dropped by the kernel: the socket is connected. */
const NO_ANSWER =
  'Nothing came back from the port: it is open and silent, answers from another port (as TFTP does) or address, is filtered, or is closed and the ICMP error did not come.';

function ended(failure: Failure, fields: Fields): Outcome<Udp> {
  return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure, ...fields };
}

function rowsOf(attempts: readonly Attempt[]): NonNullable<Fields['attempts']> {
  return attempts.map((datagrams) => rowOf(heardOf(datagrams)));
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
