import { randomInt } from 'node:crypto';

import { roundMs, type Failure, type ParamsOf, type Target } from '@vantage/contract';

import { outcomeOf, timedOut } from '../classify.ts';
import type { DiagnosticContext, Outcome } from '../diagnostic.ts';
import { openPackets, shownAddress, worstClock } from '../sockets/lend.ts';
import { MAX_DUPLICATE_ROWS, type ping } from './contract.ts';
import { exchange, isInTime, type Exchange, type SentPacket } from './exchange.ts';
import { isTelling, pingPayload } from './payload.ts';
import { rttStatistics } from './statistics.ts';

type Ping = typeof ping;
type Fields = Omit<Outcome<Ping>, 'result' | 'error'>;

const DEFAULT_TTL = 64;
/** Left of the deadline for the result to get home. */
const RESERVE_MS = 300;

/**
 * Echo requests to the pinned address. The first ICMP error ends the check unless a reply came before; a packet that the
 * kernel does not send, or a packet process that dies, ends it always, with what was measured until then.
 */
export async function runPing(params: ParamsOf<Ping>, context: DiagnosticContext<Ping>): Promise<Outcome<Ping>> {
  const { host, options } = params;
  const admission = await admit(host, options.family, context);
  if ('failure' in admission) return notStarted(admission.failure, null);
  const { target } = admission;

  const { packets } = context;
  const opened = await openPackets(packets, { family: target.family, protocol: 'icmp' }, context.signal);
  if ('failure' in opened) return notStarted(opened.failure, target);
  const payload = pingPayload(options.size, context.attribution.payloadTag);
  const plan = {
    target,
    count: options.count,
    intervalMs: options.interval,
    ttl: options.ttl ?? DEFAULT_TTL,
    payload,
    firstSequence: isTelling(payload) ? 1 : randomInt(0x1_0000),
    budgetMs: context.remainingMs() - RESERVE_MS,
    caughtUp: async () => ('unavailable' in packets ? undefined : packets.sourceFor(target.address)),
    shown: (address: string) => shownAddress(address, target, context),
  };
  // Sending and a quick answer come in a bunch: one state for both.
  let due: NodeJS.Immediate | undefined;
  const onChange = (state: Exchange): void => {
    due ??= setImmediate(() => {
      due = undefined;
      context.emitPartial(measured(state, target, context));
    });
  };
  try {
    const state = await exchange(opened.socket, plan, context.signal, onChange);
    return outcome(state, measured(state, target, context));
  } finally {
    clearImmediate(due);
    opened.socket.close();
  }
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

function notStarted(failure: Failure, target: Target | null): Outcome<Ping> {
  const nothing: Exchange = { packets: [], reordered: 0, corrupted: 0, failure };
  return { result: outcomeOf(failure), error: failure, ...fieldsOf(nothing, [], target?.address ?? null) };
}

function outcome(state: Exchange, fields: Fields): Outcome<Ping> {
  if (state.failure === null && fields.rttAvg !== null) return { result: 'success', error: null, ...fields };
  const error = state.failure ?? timedOut('response', 'No packet was answered in time.');
  return { result: outcomeOf(error), error, ...fields };
}

function measured(state: Exchange, target: Target, context: DiagnosticContext<Ping>): Fields {
  const shown = (address: string): string | null => shownAddress(address, target, context);
  const rows = state.packets.filter(({ sentMs }) => sentMs !== null).flatMap((packet) => packetRows(packet, shown));
  return fieldsOf(state, rows, target.address);
}

type Row = NonNullable<Fields['packets']>[number];

function packetRows(packet: SentPacket, shown: (address: string) => string | null): Row[] {
  const { seq, sentMs, errorFrom } = packet;
  const [answer, ...duplicates] = packet.replies.filter((reply) => isInTime(packet, reply));
  if (sentMs === null || answer === undefined) {
    return [{ seq, rtt: null, ttl: null, from: errorFrom === null ? null : shown(errorFrom), duplicate: false }];
  }
  return [answer, ...duplicates].map((reply, index) => ({
    seq,
    // The clock has steps: a reply never comes before its request.
    rtt: roundMs(Math.max(0, reply.receivedMs - sentMs)),
    ttl: reply.hopLimit,
    from: shown(reply.from),
    duplicate: index > 0,
  }));
}

function fieldsOf(state: Exchange, rows: readonly Row[], resolvedIp: string | null): Fields {
  const answers = rows.filter((row) => !row.duplicate);
  const duplicates = rows.filter((row) => row.duplicate);
  const rtts = answers.flatMap(({ rtt }) => (rtt === null ? [] : [rtt]));
  const statistics = rttStatistics(rtts);
  const late = state.packets.flatMap((packet) => packet.replies.filter((reply) => !isInTime(packet, reply)));
  const clocks = state.packets.flatMap((packet) => packet.replies.map(({ clock }) => clock));
  const listed = new Set([...answers, ...duplicates.slice(0, MAX_DUPLICATE_ROWS)]);
  return {
    rt: statistics.rttAvg,
    resolvedIp,
    ...statistics,
    pingCount: answers.length,
    pingCompleted: rtts.length,
    loss: answers.length === 0 ? null : roundMs(1 - rtts.length / answers.length),
    packets: rows.filter((row) => listed.has(row)),
    clock: worstClock(clocks),
    anomalies: {
      duplicates: duplicates.length,
      late: late.length,
      reordered: state.reordered,
      corrupted: state.corrupted,
    },
  };
}
