import type { Family } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { traceFlow, type FlowOptions, type TraceFlow } from '../probing/flow.ts';
import type { ProbeLoopFlow } from '../probing/plan.ts';
import type { Trace } from '../probing/trace-state.ts';
import { isLossy, rtOf } from '../hops/target-answers.ts';
import { flowsByPath } from './flows-by-path.ts';
import { attemptsOver } from './attempts.ts';
import { MAX_WAIT_MS, prove, type Pairs, type Try } from './black-hole.ts';
import { FIRST_BYTES } from './path-mtu.ts';
import { sharedSocket, tryPacket, type Answer, type CaughtUp, type ReportedMtus } from './try-packet.ts';

/** Whether packets of the trace's own protocol arrive in full size. */
export interface FullSize {
  /**
   * Size of the packets in bytes: 1,500, or the largest that the probe’s link takes or that a router reported to them.
   */
  readonly bytes: number;
  readonly arrives: boolean;
}

const TRIES = 3;
/** Size of the packets that are sent for comparison. */
const SMALL_BYTES = { 4: 128, 6: 148 } as const;
/**
 * Pairs that prove that large packets vanish, after `TRIES` of them did: by chance, large ones alone are lost with a
 * probability of at most 1/5,000. They are sent a second apart, because a target may answer one packet a second.
 */
const FULL_SIZE_PAIRS: Pairs = { first: ['large', 'small', 'small', 'large', 'small'], everyMs: 1_000 };
/** Maximum number of packets to one flow. */
const MOST_OF_FLOW = TRIES + 2 * FULL_SIZE_PAIRS.first.length;
/** Minimum wait for an answer: a target that allows one answer a second may answer again after it. */
const MIN_WAIT_MS = 1_000;
const WAIT_RTTS = 3;

export interface FullSizeOptions extends Omit<FlowOptions, 'identifier' | 'bytes'> {
  readonly maxPackets: number;
  readonly reported: ReportedMtus;
  readonly caughtUp: CaughtUp;
}

/**
 * Sends packets of full size in a flow of the trace that reached the target: filters may drop large echo requests, and
 * load balancers may send other protocols over other paths. While they arrive, flows on other paths follow, as
 * many as the packets allow. Null if it proves neither that they arrive nor that they vanish.
 *
 * @param flows those of the trace, which has ended: the sockets of some are used
 */
export async function sendFullSize(
  trace: Trace,
  flows: readonly ProbeLoopFlow[],
  options: FullSizeOptions,
  bounds: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<FullSize | null> {
  let maxPackets = options.maxPackets;
  let known: FullSize | null = null;
  for (const flow of flowsByPath(trace)) {
    if (known !== null && maxPackets < MOST_OF_FLOW) break;
    const onSent = (): void => void (maxPackets -= 1);
    const found = await sendInFlow(trace, flows[flow]!, { ...options, maxPackets }, bounds, onSent);
    if (found?.arrives !== true) return found ?? known;
    known = known === null || found.bytes < known.bytes ? found : known;
  }
  return known;
}

/** @param onSent called after each packet, even if the kernel refused it */
async function sendInFlow(
  trace: Trace,
  { socket, header }: ProbeLoopFlow,
  { maxPackets, reported, caughtUp, ...options }: FullSizeOptions,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
  onSent: () => void,
): Promise<FullSize | null> {
  const shared = sharedSocket(socket, header, reported, caughtUp);
  const sized = sizedFlows({ ...options, identifier: socket.identifier });
  const { destination, family } = options;
  const senders = new Set(trace.packets.flatMap(({ answer }) => (answer?.kind === 'target' ? [answer.from] : [])));
  let isRefused = false;
  const answerIn = (received: ReceivedPacket, flow: TraceFlow, sequence: number): Answer | undefined => {
    const match = flow.match(received);
    // A datagram of the target has no number, and may answer an earlier packet: it proves nothing.
    if (match?.index !== sequence) return undefined;
    if (match.error?.kind === 'too-big') return { kind: 'too-big', mtu: match.error.mtu };
    const isOfTarget = match.error === null || (senders.has(received.from) && match.error.kind !== 'time-exceeded');
    if (isOfTarget) return { kind: 'arrived' };
    isRefused ||= match.error !== null && match.error.kind !== 'time-exceeded';
    return undefined;
  };
  const waitMs = (): number => Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (rtOf(trace) ?? 0) * WAIT_RTTS));
  const attempt = attemptsOver(
    shared,
    { maxPackets, waitMs, proofMs: waitMs },
    (sequence, bytes, patienceMs) => {
      const flow = sized(bytes);
      const own = (received: ReceivedPacket): Answer | undefined => answerIn(received, flow, sequence);
      const packet = { packet: flow.packet(sequence), address: destination, bytes, answerIn: own };
      return tryPacket(shared, packet, patienceMs, signal);
    },
    { signal, remainingMs },
    onSent,
  );
  const found = await search(attempt, family, isLossy(trace), signal).catch(() => null);
  return isRefused ? null : found;
}

async function search(
  attempt: Try,
  family: Family,
  isDoubtful: boolean,
  signal: AbortSignal,
): Promise<FullSize | null> {
  const small = SMALL_BYTES[family];
  for (let bytes = FIRST_BYTES; bytes > small;) {
    const answer = await attempt(bytes, TRIES);
    if (answer === undefined) return null;
    if (answer.kind === 'arrived') return { bytes, arrives: true };
    if (answer.kind === 'silent') {
      if (isDoubtful) return null;
      const proof = await prove(attempt, { answered: small, vanished: bytes }, signal, FULL_SIZE_PAIRS);
      return proof === 'proved' ? { bytes, arrives: false } : null;
    }
    if (answer.kind === 'unsent') bytes -= 1;
    else if (answer.mtu < bytes) bytes = answer.mtu;
    else return null;
  }
  return null;
}

/** The packets of a flow by their size. Each size has its own cookie. */
function sizedFlows(options: FlowOptions): (bytes: number) => TraceFlow {
  const flows = new Map<number, TraceFlow>();
  return (bytes) => {
    const flow = flows.get(bytes) ?? traceFlow({ ...options, bytes });
    flows.set(bytes, flow);
    return flow;
  };
}
