import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { PacketSocket } from '../../../sockets/packet-socket.ts';
import { sharedSocket, tryBytes, type Answer, type SharedSocket } from './try-bytes.ts';

const FIRST_BYTES = 1_500;
/** Smallest MTU of a link (RFC 791, RFC 8200 section 5). */
const SMALLEST = { 4: 68, 6: 1_280 } as const;
const ASKING_BYTES = { 4: 576, 6: 1_280 } as const;
/** Candidates if a router does not report its MTU (the common plateaus of RFC 1191 section 7.1). */
const PLATEAUS = [1_492, 1_480, 1_400, 1_280, 1_006, 576, 508, 296, 68] as const;
/** Attempts per packet size without an answer. */
const TRIES = 2;
/** Number of further packets of that size after a stall of this process, during which silence is no evidence. */
const STALLED_TRIES = 4;
/**
 * Pairs of packets, one of each size, required to claim that one size arrives and the next is lost: by chance that has
 * a probability of at most 1/65,000. The packets of a pair are sent together, in an aperiodic order, so that a rate
 * limit affects both sizes alike.
 */
const PROVING_PAIRS = ['large', 'small', 'small', 'large', 'small', 'large', 'large', 'small'] as const;
const WAIT_RTTS = 3;
const [MIN_WAIT_MS, MAX_WAIT_MS] = [250, 4_000];
const RESERVE_MS = 500;

export interface PathMtu {
  /** Largest packet that reached the target, or that a router reported as its MTU; null if unknown. */
  readonly mtu: number | null;
  /** Smallest packet that was lost silently although the target answers smaller ones; null if there is none. */
  readonly blackHole: number | null;
}

export const UNKNOWN_MTU: PathMtu = { mtu: null, blackHole: null };

export interface PathMtuLimits {
  /** Round-trip time to the target, milliseconds; null until it answers. */
  readonly rttMs: () => number | null;
  /** Packets that the check may send in addition to the trace. */
  readonly maxPackets: number;
  /** Counts requests and answers of the target. */
  readonly echo: EchoCount;
  /** First sends a packet that every link can carry, to learn whether the target answers echo requests. */
  readonly isAsking: boolean;
  readonly dscp: number | undefined;
}

export interface EchoCount {
  sent: number;
  received: number;
}

/**
 * Sends a packet of this size, repeatedly if there is no answer; undefined if no more can be sent.
 *
 * @param leastMs shortest time to wait for an answer
 */
type Try = (bytes: number, tries: number, leastMs?: number) => Promise<Answer | undefined>;

type Refusal = Extract<Answer, { readonly kind: 'too-big' }>;

interface Pair {
  readonly small: Answer | undefined;
  readonly large: Answer | undefined;
}

/**
 * Finds the MTU of a path with echo requests that no router may fragment, first of Ethernet's size, then of the MTU
 * that each refusing router reports (RFC 1191, RFC 8201). Packets above the MTU of the probe's own link cost nothing,
 * so that MTU is found exactly. A reported MTU is kept even if the target answers no echo requests. If it answers
 * only small ones, the size above which they vanish is found by bisection.
 *
 * @param opening an ICMP socket of the target's family, closed in the end
 */
export async function findPathMtu(
  opening: Promise<PacketSocket>,
  target: Target,
  { rttMs, maxPackets, echo, isAsking, dscp }: PathMtuLimits,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<PathMtu> {
  // The packets of the trace are small: on a slow link the answer to a large one takes longer, as an error may.
  const waitMs = (): number => {
    const longestMs = Math.max(rttMs() ?? Infinity, socket?.answers.latestMs ?? 0);
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, longestMs * WAIT_RTTS));
  };
  let socket: SharedSocket | undefined;
  let sequence = 0;
  const attempt: Try = async (bytes, tries, leastMs = 0) => {
    const patienceMs = (): number => Math.max(leastMs, waitMs());
    let answer: Answer | undefined;
    let [left, stallsLeft] = [tries, STALLED_TRIES];
    while (left > 0 && (answer === undefined || answer.kind === 'silent')) {
      const isOver = sequence >= maxPackets || signal.aborted || remainingMs() < patienceMs() + RESERVE_MS;
      if (isOver) return undefined;
      sequence += 1;
      answer = await tryBytes(socket!, target, sequence, bytes, patienceMs, signal);
      if (answer.kind === 'unsent') sequence -= 1;
      else echo.sent += 1;
      if (answer.kind === 'arrived') echo.received += 1;
      if (answer.kind === 'silent') answer = lateAnswer(socket!, bytes) ?? answer;
      if (answer.kind === 'silent' && answer.isStalled && stallsLeft > 0) stallsLeft -= 1;
      else left -= 1;
    }
    return answer;
  };
  try {
    socket = sharedSocket(await opening, dscp);
    signal.addEventListener('abort', () => socket?.close(), { once: true });
    if (isAsking) await attempt(ASKING_BYTES[target.family], 1);
    return await search(attempt, SMALLEST[target.family]);
  } catch {
    // An unexpected refusal by the kernel, or the packet process died: the result is unknown.
    return UNKNOWN_MTU;
  } finally {
    socket?.close();
  }
}

/** The answer to an earlier packet that decides this size too; it came late. */
function lateAnswer({ answers }: SharedSocket, bytes: number): Answer | undefined {
  if (answers.largest >= bytes) return { kind: 'arrived' };
  const mtu = answers.refused.get(bytes);
  return mtu === undefined ? undefined : { kind: 'too-big', mtu };
}

async function search(attempt: Try, smallest: number): Promise<PathMtu> {
  let bytes = FIRST_BYTES;
  let said: number | null = null;
  for (;;) {
    let answer: Answer | PathMtu | undefined = await attempt(bytes, TRIES);
    if (answer?.kind === 'silent') answer = await findBlackHole(attempt, smallest, bytes);
    if (answer === undefined) return { mtu: said, blackHole: null };
    if (!('kind' in answer)) return answer;
    if (answer.kind === 'arrived') return { mtu: bytes, blackHole: null };
    if (answer.kind === 'unsent') bytes -= 1;
    else {
      const isSaid = answer.mtu > 0 && answer.mtu < bytes;
      const next: number | undefined = isSaid ? answer.mtu : PLATEAUS.find((plateau) => plateau < bytes);
      if (next === undefined || next < smallest) return { mtu: said, blackHole: null };
      bytes = next;
      if (isSaid) said = next;
    }
    if (bytes < smallest) return { mtu: said, blackHole: null };
  }
}

/**
 * The largest size that arrives and the smallest that is lost, or the answer of a router that refuses packets after
 * all. Undefined if inconclusive: the target answers no echo requests, or packets of any size are lost, randomly or
 * on one of several paths.
 */
async function findBlackHole(
  attempt: Try,
  smallest: number,
  vanishing: number,
): Promise<PathMtu | Refusal | undefined> {
  let [arrived, vanished] = [smallest, vanishing];
  if ((await attempt(arrived, TRIES))?.kind !== 'arrived') return undefined;
  while (vanished - arrived > 1) {
    const middle = Math.floor((arrived + vanished) / 2);
    const answer = await attempt(middle, TRIES);
    if (answer === undefined || answer.kind === 'too-big') return answer;
    if (answer.kind === 'arrived') arrived = middle;
    else vanished = middle;
  }
  for (const first of PROVING_PAIRS) {
    const { small, large } = await sendPair(attempt, arrived, vanished, first);
    if (small?.kind !== 'arrived') return undefined;
    if (large?.kind === 'silent') continue;
    if (large?.kind === 'too-big') return large;
    // An earlier loss was random, so that of the largest packet may be too.
    const isWhole = large?.kind === 'arrived' && (await attempt(vanishing, TRIES))?.kind === 'arrived';
    return isWhole ? { mtu: vanishing, blackHole: null } : undefined;
  }
  // The router may refuse the packets, but take long for each error.
  const last = await attempt(vanished, 1, MAX_WAIT_MS);
  if (last?.kind !== 'silent') return last?.kind === 'too-big' ? last : undefined;
  return { mtu: arrived, blackHole: vanished };
}

async function sendPair(attempt: Try, arrived: number, vanished: number, first: keyof Pair): Promise<Pair> {
  const sizes = first === 'small' ? [arrived, vanished] : [vanished, arrived];
  const [one, other] = await Promise.all(sizes.map((bytes) => attempt(bytes, 1)));
  return first === 'small' ? { small: one, large: other } : { small: other, large: one };
}
