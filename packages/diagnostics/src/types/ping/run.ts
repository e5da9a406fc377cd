import { randomInt } from 'node:crypto';

import { singleFamily, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { icmpNotice } from '../../sockets/icmp/icmp-notice.ts';
import type { PacketSocket } from '../../sockets/packet-socket.ts';
import { interrupted, openPackets, STOOD_STILL } from '../../sockets/provide-packets.ts';
import { isExtraordinary, ORDINARY, type ping } from './contract.ts';
import { runSession } from './session.ts';
import { pingFields, type Fields } from './fields.ts';
import { isTelling, pingPayload } from './payload.ts';
import { leaveOutUnsent } from './leave-out-unsent.ts';
import { isLeftOut, onWire, type SessionState, type SessionPlan, type SentPacket } from './sent-packets.ts';

type Ping = typeof ping;

/** Time reserved before the deadline for the result to arrive. */
const RESERVE_MS = 300;

/**
 * Sends echo requests to the pinned address. One reply in time makes a success; without any, ICMP errors make a
 * failure. Packets with unusual options that get no reply are followed by ordinary ones. If the kernel refuses a packet
 * or the packet process ends, the check fails with the results so far.
 */
export async function runPing(params: ParamsOf<Ping>, context: DiagnosticContext<Ping>): Promise<Outcome<Ping>> {
  const { host, options } = params;
  const admission = await admit(host, singleFamily(options), context);
  if ('failure' in admission) return notStarted(admission.failure, null, options, context);
  const { target } = admission;

  const { packets } = context;
  const opened = await openPackets(packets, { family: target.family, protocol: 'icmp' }, context.signal);
  if ('failure' in opened) return notStarted(opened.failure, target, options, context);
  const payload = pingPayload(options.size, context.attribution.payloadTag);
  const plan: SessionPlan = {
    target,
    count: options.count,
    intervalMs: options.interval,
    ttl: options.ttl ?? ORDINARY.ttl,
    dscp: options.dscp,
    payload,
    firstSequence: isTelling(payload) ? 1 : randomInt(0x1_0000),
    abandoned: context.abandoned,
    budgetMs: context.remainingMs() - RESERVE_MS,
    caughtUp: async () => ('unavailable' in packets ? undefined : packets.sourceFor(target.address)),
  };
  // One partial result for events in the same turn, such as a send and a quick reply.
  let due: NodeJS.Immediate | undefined;
  const onChange = (state: SessionState, isAwaited: (packet: SentPacket) => boolean): void => {
    due ??= setImmediate(() => {
      due = undefined;
      context.emitPartial(pingFields(state, target, options, context, isAwaited));
    });
  };
  try {
    const state = await runSession(opened.socket, plan, context.signal, onChange);
    leaveOutUnsent(state, (packet) => whyUnsent(packet, target, context));
    const ordinary = await pingOrdinarily(opened.socket, plan, state, options, context);
    return outcome(state, target, { ...pingFields(state, target, options, context), ...ordinary }, context);
  } finally {
    clearImmediate(due);
    opened.socket.close();
  }
}

/** ICMP errors that the size or TTL of the packets explains: after one, no ordinary packets are needed. */
const UNFIT: ReadonlySet<string> = new Set(['packet_too_big', 'time_exceeded']);

/**
 * Sends ordinary echo requests to a target that answered none with unusual options: it, or a filter on the way, may
 * ignore or refuse such packets alone.
 */
async function pingOrdinarily(
  socket: PacketSocket,
  plan: SessionPlan,
  { packets, corrupted, failure, isAbandoned }: SessionState,
  options: ParamsOf<Ping>['options'],
  context: DiagnosticContext<Ping>,
): Promise<Pick<Fields, 'ordinary'>> {
  const isFit = packets.every(
    ({ icmp }) => icmp === null || !UNFIT.has(icmpNotice(icmp, plan.target, context, 'icmp').failure.code),
  );
  const isUnanswered = corrupted === 0 && isFit && packets.every(({ replies }) => replies.length === 0);
  const budgetMs = context.remainingMs() - RESERVE_MS;
  if (!isExtraordinary(options) || !isUnanswered || failure !== null || isAbandoned || budgetMs <= 0) return {};
  const state = await runSession(
    socket,
    {
      ...plan,
      count: ORDINARY.count,
      intervalMs: ORDINARY.intervalMs,
      ttl: ORDINARY.ttl,
      dscp: undefined,
      payload: pingPayload(ORDINARY.size, context.attribution.payloadTag),
      // Further sequence numbers: a late reply to an earlier packet is no reply to one of these.
      firstSequence: onWire(plan, plan.count + 1),
      budgetMs,
    },
    context.signal,
    () => undefined,
  );
  const sent = state.packets.filter((packet) => !isLeftOut(packet));
  const received = sent.filter(({ replies }) => replies.length > 0).length;
  return sent.length === 0 ? {} : { ordinary: { sent: sent.length, received } };
}

async function admit(
  host: string,
  family: 4 | 6 | undefined,
  { admit, signal }: DiagnosticContext<Ping>,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  try {
    const admission = await admit({ host, purpose: 'icmp', family }, signal);
    return admission.admitted ? { target: admission.target } : { failure: admission.failure };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { failure: timedOut('resolve', 'The name was not resolved in time.') };
  }
}

function notStarted(
  failure: Failure,
  target: Target | null,
  options: ParamsOf<Ping>['options'],
  context: DiagnosticContext<Ping>,
): Outcome<Ping> {
  const nothing: SessionState = { packets: [], reordered: 0, corrupted: 0, isAbandoned: false, stalledMs: 0, failure };
  return { result: outcomeOf(failure), error: failure, ...pingFields(nothing, target, options, context) };
}

function outcome(state: SessionState, target: Target, fields: Fields, context: DiagnosticContext<Ping>): Outcome<Ping> {
  const failure = state.failure ?? unsentFailure(state, target, context);
  if (failure === null && fields.rttAvg !== null) return { result: 'success', error: null, ...fields };
  const error =
    failure ??
    commonestError(state, target, context) ??
    (fields.pingCount === 0 ? uncounted(fields) : timedOut('response', silenceText(state, fields)));
  return { result: error === TOO_LATE ? 'timeout' : outcomeOf(error), error, ...fields };
}

/**
 * The failure of a check in which no packet counts, because the probe stalled or too little time was left: it says
 * nothing about the target.
 */
function uncounted({ packetsLeftOut }: Fields): Failure {
  return packetsLeftOut === undefined ? TOO_LATE : interrupted(STOOD_STILL);
}

const TOO_LATE: Failure = {
  code: 'probe_timeout',
  phase: 'response',
  source: 'probe',
  message: 'Too little of the time of the check was left to await a reply.',
};

function silenceText({ corrupted }: SessionState, { ordinary }: Fields): string {
  if (corrupted > 0) return ALL_DAMAGED;
  const others = (ordinary?.received ?? 0) > 0 ? '; ordinary ones, sent after them, were' : '';
  return `No packet was answered in time${others}.`;
}

const ALL_DAMAGED = 'Every reply that came in time was damaged, or of another length than what was sent.';

/**
 * Why a session with replies is no success: packets after the last answered one did not leave the probe, so that
 * silence before them may be due to its link, too. Null if all did.
 */
function unsentFailure({ packets }: SessionState, target: Target, context: DiagnosticContext<Ping>): Failure | null {
  const lastAnswered = packets.findLastIndex(({ replies }) => replies.length > 0);
  if (lastAnswered === -1) return null;
  const failures = failuresOf(packets.slice(lastAnswered + 1), target, context);
  return failures.find(({ source }) => source === 'probe') ?? null;
}

/** Why a packet did not leave the probe, as its own kernel says; null if it does not. */
function whyUnsent(packet: SentPacket, target: Target, context: DiagnosticContext<Ping>): Failure | null {
  return failuresOf([packet], target, context).find(({ source }) => source === 'probe') ?? null;
}

/** The most frequent ICMP error; of equally frequent ones, that for the earliest packet. Null without any. */
function commonestError({ packets }: SessionState, target: Target, context: DiagnosticContext<Ping>): Failure | null {
  const counts = Map.groupBy(failuresOf(packets, target, context), ({ message }) => message);
  const [commonest = null] = [...counts.values()].toSorted((a, b) => b.length - a.length).flat();
  return commonest;
}

function failuresOf(
  packets: readonly SentPacket[],
  target: Target,
  context: DiagnosticContext<Ping>,
): readonly Failure[] {
  return packets.flatMap(({ icmp }) => (icmp === null ? [] : [icmpNotice(icmp, target, context, 'icmp').failure]));
}
