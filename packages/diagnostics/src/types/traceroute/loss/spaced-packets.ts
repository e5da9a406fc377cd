import { pause } from '@vantage/timers';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { parseTcp, TCP_FLAGS } from '../../../sockets/wire/transport.ts';
import { GROUP_PACKETS, MAX_GROUPS, type SpacedGroups } from '../options/spaced-results.ts';
import { LENGTHS, type FlowAnswer } from '../probing/flow.ts';
import type { ProbeLoopPlan } from '../probing/probe-loop.ts';
import type { TraceAnswer, TracePacket } from '../probing/trace.ts';
import type { Trace } from '../probing/trace-state.ts';
import { FULL_TTL } from '../result-fields.ts';
import { rtOf } from '../hops/target-answers.ts';
import { sharedSocket, tryPacket, type Answer } from '../mtu/try-packet.ts';
import { groupsOf, isClean, isLimited, isProved, type SpacedPacket } from './groups.ts';

/** Unanswered packets to the target from which its loss is measured: a single one is ordinary. */
const DOUBTED = 2;
/** The same for routers that answered others, if the search ended before it asked the target about loss. */
const DOUBTED_ON_WAY = 3;
/** Answered groups after which no more are sent, if no packet was lost. */
const CLEAN_GROUPS = 6;
/** More than the second for which the most common limits withhold the next answer. */
const EVERY_MS = 1_100;
/**
 * Time before the first group if the target answered less than half of the packets: it may limit the answers to all
 * probes together, and those that have none yet ask it for so long.
 */
const AFTER_OTHERS_MS = 7_000;
const [MIN_WAIT_MS, MAX_WAIT_MS, WAIT_RTTS] = [2_000, 4_000, 3] as const;
/** Bytes of a packet of a trace without `size`; only reports of routers about larger packets count. */
const BYTES = 128;

type Flows = Pick<ProbeLoopPlan, 'flows' | 'destination' | 'protocol'>;
interface Options extends Pick<DiagnosticContext, 'signal' | 'abandoned' | 'remainingMs'> {
  readonly maxPackets: number;
  /**
   * True after a search for all paths, which awaits all of its packets, not just those that count at the target’s hop.
   */
  readonly isOfAllFlows: boolean;
}

/**
 * Sends the target groups of packets, more than a second apart, in a flow that reached it. The packets of a group leave
 * together: a limit that answers a later one of them has answered the earlier ones, so only loss has another order.
 * Null if the trace shows no loss at the target, if a router refuses a packet, if an answer does not tell its packet,
 * or if packets or time do not suffice.
 *
 * @param flows those of the trace, which has ended: the socket of one flow is used
 */
export async function sendSpaced(
  trace: Trace,
  flows: Flows,
  { maxPackets, isOfAllFlows, signal, abandoned, remainingMs }: Options,
): Promise<SpacedGroups | null> {
  const asked = trace.packets.findLast(({ answer }) => answer?.kind === 'target');
  const { answered, lost } = countsAtTarget(trace, isOfAllFlows);
  const isDoubtful = lost >= DOUBTED || (trace.isCut && lostOnWay(trace) >= DOUBTED_ON_WAY);
  if (asked === undefined || !isDoubtful || hasNoNumbers(flows, asked)) return null;
  const sender = groupSender(trace, flows, asked, signal);
  const awaitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (rtOf(trace) ?? 0) * WAIT_RTTS));
  const isEnough = (): boolean => {
    const groups = groupsOf(sender.sent);
    return (
      isProved(groups) || isLimited(groups) || (sender.groups() >= CLEAN_GROUPS && isClean(groups, CLEAN_GROUPS - 1))
    );
  };
  if (answered < lost) await pause(AFTER_OTHERS_MS, signal);
  while (sender.groups() < MAX_GROUPS && sender.sent.length + sender.nextSize() <= maxPackets) {
    // Before the first one too: the last packets of the trace may have used up the answers.
    await pause(EVERY_MS, signal);
    if (signal.aborted || abandoned?.aborted === true || remainingMs() < awaitMs || isEnough()) break;
    sender.send(awaitMs);
  }
  const isKnown = await sender.settled();
  if (signal.aborted || !isKnown) return null;
  const { groups, reordered } = groupsOf(sender.sent);
  if (groups.length === 0) return null;
  const packets = groups.flat();
  return {
    sent: packets.length,
    received: packets.filter((rtt) => rtt !== null).length,
    groups,
    ...(reordered > 0 && { reordered }),
    ...(sender.areHandshakes() && { handshakes: true }),
  };
}

interface GroupSender {
  readonly sent: readonly SpacedPacket[];
  readonly groups: () => number;
  /** A target that accepts TCP connections gets single SYNs: it does not answer further ones while one is open. */
  readonly nextSize: () => number;
  readonly send: (awaitMs: number) => void;
  /** False if a router refused a packet, or an answer was not of a certain packet. */
  readonly settled: () => Promise<boolean>;
  /** True if the target accepted connections: all its answers were SYN-ACKs. */
  readonly areHandshakes: () => boolean;
}

function groupSender(
  trace: Trace,
  { flows, destination, protocol }: Flows,
  asked: TracePacket & { answer: TraceAnswer | null },
  signal: AbortSignal,
): GroupSender {
  const { socket, flow, header } = flows[asked.flow]!;
  const shared = sharedSocket(socket, header, new Map());
  const firstIndex =
    1 + trace.packets.reduce((most, one) => (one.flow === asked.flow ? Math.max(most, one.index) : most), 0);
  const sent: SpacedPacket[] = [];
  const ends: Promise<void>[] = [];
  let [count, isUnclear, accepted, refused] = [0, false, 0, 0];
  const mayAccept = protocol === 'tcp' && asked.answer?.error === null;
  const answerTo = (packet: SpacedPacket, index: number, received: ReceivedPacket): Answer | undefined => {
    const match = flow.match(received);
    if (match === undefined) return undefined;
    if (match.index === null && match.remainder === undefined) isUnclear = true;
    if (!isAnswerTo(match, index)) return undefined;
    if (match.error !== null && received.from !== asked.answer?.from) {
      isUnclear = true;
      return undefined;
    }
    packet.receivedMs = received.receivedMs;
    if (isSynAck(received)) accepted += 1;
    else refused += 1;
    return { kind: 'arrived' };
  };
  const sendOne = async (packet: SpacedPacket, index: number, awaitMs: number): Promise<void> => {
    const noting: typeof shared.send = async (...given) => (packet.sentMs = await shared.send(...given));
    const bytes = flow.packet(index);
    const answerIn = (received: ReceivedPacket): Answer | undefined => answerTo(packet, index, received);
    const asking = { packet: bytes, address: destination, bytes: BYTES, answerIn };
    const answer = await tryPacket({ ...shared, send: noting }, asking, () => awaitMs, signal);
    packet.isSettled = true;
    packet.isLeftOut = answer.kind === 'unsent' || (answer.kind === 'silent' && answer.isStalled);
  };
  const nextSize = (): number => (mayAccept && refused === 0 ? 1 : GROUP_PACKETS);
  return {
    sent,
    groups: () => count,
    nextSize,
    send: (awaitMs) => {
      for (let left = nextSize(); left > 0; left -= 1) {
        const packet: SpacedPacket = { group: count, isSettled: false, isLeftOut: false };
        const end = sendOne(packet, firstIndex + sent.length, awaitMs);
        end.catch(() => undefined);
        sent.push(packet);
        ends.push(end);
      }
      count += 1;
    },
    settled: () =>
      Promise.all(ends).then(
        () => !isUnclear,
        () => false,
      ),
    areHandshakes: () => accepted > 0 && refused === 0,
  };
}

/** An answer of a service behind a UDP port does not tell its datagram. */
function hasNoNumbers({ protocol }: Flows, { answer }: TracePacket): boolean {
  return protocol === 'udp' && answer?.error === null;
}

function isAnswerTo({ index, remainder }: FlowAnswer, wanted: number): boolean {
  return index === null ? remainder === wanted % LENGTHS : index === wanted;
}

function isSynAck({ protocol, data }: ReceivedPacket): boolean {
  const flags = protocol === 'tcp' ? (parseTcp(data)?.flags ?? 0) : 0;
  return (flags & TCP_FLAGS.syn) !== 0;
}

/** Packets to the target that were awaited, of flows that reached it. */
function countsAtTarget(
  { packets, views }: Trace,
  isOfAllFlows: boolean,
): { readonly answered: number; readonly lost: number } {
  const isBeyond = ({ flow, ttl }: TracePacket): boolean =>
    views[flow]?.reached === true && ttl >= (views[flow].end ?? FULL_TTL);
  const counted = isOfAllFlows
    ? packets.filter(isBeyond)
    : views.flatMap(({ reached, atEnd }) => (reached ? atEnd : []));
  const lost = counted.filter(({ answer }) => answer === null).length;
  return { answered: counted.length - lost, lost };
}

/** Unanswered packets to hops at which a router answered others. */
function lostOnWay({ packets }: Trace): number {
  const answering = new Set(packets.flatMap(({ ttl, answer }) => (answer?.kind === 'expired' ? [ttl] : [])));
  return packets.filter(({ ttl, answer }) => answer === null && answering.has(ttl)).length;
}
