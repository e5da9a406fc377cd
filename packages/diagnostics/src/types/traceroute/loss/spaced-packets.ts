import { pause } from '@vantage/timers';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { MAX_SPACED_PACKETS, type SpacedCount } from '../options/spaced-results.ts';
import { LENGTHS, type FlowAnswer } from '../probing/flow.ts';
import type { ProbeLoopPlan } from '../probing/probe-loop.ts';
import type { TracePacket } from '../probing/trace.ts';
import type { Trace } from '../probing/trace-state.ts';
import { FULL_TTL } from '../result-fields.ts';
import { rtOf } from '../hops/target-answers.ts';
import { sharedSocket, tryPacket, type Answer } from '../mtu/try-packet.ts';

/** Unanswered packets to the target from which its loss is measured: a single one is ordinary. */
const DOUBTED = 2;
/** The same for routers that answered others, if the search ended before it asked the target about loss. */
const DOUBTED_ON_WAY = 3;
/** Answered packets after which no more are sent, if none was lost. */
const CLEAN = 6;
/** More than the second for which the most common limits withhold the next answer. */
const EVERY_MS = 1_100;
const [MIN_WAIT_MS, MAX_WAIT_MS, WAIT_RTTS] = [2_000, 4_000, 3] as const;
/** Bytes of a packet of a trace without `size`; only reports of routers about larger packets count. */
const BYTES = 128;

/**
 * Sends packets to the target more than a second apart, in a flow that reached it: the packets of a trace follow each
 * other closely, so that limits of answers look like loss. Null if the trace shows no loss at the target, if a router
 * refuses a packet, or if packets or time do not suffice for `CLEAN`.
 *
 * @param plan that of the trace, which has ended: the socket of one flow is used
 */
export async function sendSpaced(
  trace: Trace,
  { flows, destination }: Pick<ProbeLoopPlan, 'flows' | 'destination'>,
  maxPackets: number,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<SpacedCount | null> {
  const asked = trace.packets.findLast(({ answer }) => answer?.kind === 'target');
  if (asked === undefined || !isDoubtful(trace) || maxPackets < CLEAN) return null;
  const { socket, flow, header } = flows[asked.flow]!;
  const shared = sharedSocket(socket, header, new Map());
  const sentBefore = trace.packets.filter((packet) => packet.flow === asked.flow).length;
  const awaitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (rtOf(trace) ?? 0) * WAIT_RTTS));
  let isRefused = false;
  const send = (index: number): Promise<Answer> => {
    const answerIn = (received: ReceivedPacket): Answer | undefined => {
      const match = flow.match(received);
      if (match === undefined || !isAnswerTo(match, index)) return undefined;
      if (match.error === null || received.from === asked.answer!.from) return { kind: 'arrived' };
      isRefused = true;
      return undefined;
    };
    const packet = { packet: flow.packet(index), address: destination, bytes: BYTES, answerIn };
    return tryPacket(shared, packet, () => awaitMs, signal);
  };
  const sending: Promise<Answer>[] = [];
  const known: Answer[] = [];
  const isClean = (): boolean => known.length >= CLEAN - 1 && known.every(({ kind }) => kind === 'arrived');
  while (sending.length < Math.min(maxPackets, MAX_SPACED_PACKETS)) {
    // Before the first one too: the last packets of the trace may have used up the answers.
    await pause(EVERY_MS, signal);
    if (signal.aborted || remainingMs() < awaitMs) break;
    if (sending.length >= CLEAN && isClean()) break;
    const answer = send(sentBefore + sending.length);
    answer.then(
      (one) => known.push(one),
      () => undefined,
    );
    sending.push(answer);
  }
  const answers = await Promise.all(sending).catch(() => []);
  // A stall of this process may have hidden an answer.
  const counted = answers.filter((answer) => answer.kind !== 'silent' || !answer.isStalled);
  if (signal.aborted || isRefused || counted.length < CLEAN) return null;
  return { sent: counted.length, received: counted.filter(({ kind }) => kind === 'arrived').length };
}

/** An answer without a number is one to the packet under way: the next one is sent later. */
function isAnswerTo({ index, remainder }: FlowAnswer, wanted: number): boolean {
  return index === null ? remainder === undefined || remainder === wanted % LENGTHS : index === wanted;
}

function isDoubtful(trace: Trace): boolean {
  return lostAtTarget(trace) >= DOUBTED || (trace.isCut && lostOnWay(trace) >= DOUBTED_ON_WAY);
}

/** Unanswered packets that went as far as the target, of flows that reached it. */
function lostAtTarget({ packets, views }: Trace): number {
  const isLost = ({ flow, ttl, answer }: TracePacket): boolean =>
    answer === null && views[flow]?.reached === true && ttl >= (views[flow].end ?? FULL_TTL);
  return packets.filter(isLost).length;
}

/** Unanswered packets to hops at which a router answered others. */
function lostOnWay({ packets }: Trace): number {
  const answering = new Set(packets.flatMap(({ ttl, answer }) => (answer?.kind === 'expired' ? [ttl] : [])));
  return packets.filter(({ ttl, answer }) => answer === null && answering.has(ttl)).length;
}
