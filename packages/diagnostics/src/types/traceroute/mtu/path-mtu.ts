import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { PacketSocket } from '../../../sockets/packet-socket.ts';
import { MAX_WAIT_MS, narrow, prove, type Bracket, type TooBig, type Try } from './black-hole.ts';
import { attemptsOver } from './attempts.ts';
import { tryBytes } from './try-bytes.ts';
import { sharedSocket, type Answer, type CaughtUp, type ReportedMtus, type SharedSocket } from './try-packet.ts';

/** Size of the largest packets; the search begins with one unless it first asks with a small one (`isAsking`). */
export const FIRST_BYTES = 1_500;
/** Smallest MTU of a link (RFC 791, RFC 8200 section 5). */
const SMALLEST = { 4: 68, 6: 1_280 } as const;
/**
 * Bytes of a packet that hardly any path refuses: the size that every IPv4 host must accept (RFC 791), and the smallest
 * MTU of IPv6.
 */
export const ASKING_BYTES = { 4: 576, 6: 1_280 } as const;
/**
 * Sizes to try if a router does not report its MTU: the plateaus of RFC 1191 section 7.1 below 1,500, and four common
 * MTUs.
 */
const PLATEAUS = [1_492, 1_480, 1_400, 1_280, 1_006, 576, 508, 296, 68] as const;
/** Packets of one size without an answer after which the size counts as vanished. */
const TRIES = 2;
/**
 * Wait for an answer as a multiple of the round-trip time. It is short, because the pairs that prove a black hole
 * reveal a random loss.
 */
const WAIT_RTTS = 1.5;
/** Minimum wait for an answer. */
const MIN_WAIT_MS = 250;

export interface PathMtu {
  /**
   * Size in bytes of the largest packet that reached the target, or the smallest MTU that a router reported; null if
   * unknown.
   */
  readonly mtu: number | null;
  /**
   * Size in bytes of the smallest packet that vanished while smaller ones were answered, by the target or by a router
   * that refuses them; null if none is proved.
   */
  readonly blackHole: number | null;
}

export const UNKNOWN_MTU: PathMtu = { mtu: null, blackHole: null };

export interface PathMtuLimits {
  /** Round-trip time to the target, milliseconds; null until it answers. */
  readonly rttMs: () => number | null;
  /** Maximum number of packets that the search sends. */
  readonly maxPackets: number;
  /** Echo requests of the search, and replies of the target. */
  readonly echo: EchoCount;
  readonly reported: ReportedMtus;
  /** Whether the search begins with a small packet, which shows if the target answers echo requests. */
  readonly isAsking: boolean;
  readonly dscp: number | undefined;
  readonly caughtUp: CaughtUp;
}

export interface EchoCount {
  sent: number;
  received: number;
}

/**
 * Finds the MTU of a path with echo requests that no router may fragment: after a small one if `isAsking`, first with
 * `FIRST_BYTES`, then with the MTU that each refusing router reports (RFC 1191, RFC 8201), else of the next plateau.
 * Packets above the MTU of the probe’s own link are not sent, so that MTU is found byte by byte. A reported MTU is kept
 * even if the target answers no echo requests. If large packets vanish (a black hole), the search looks for the
 * smallest size that vanishes, also if a router refuses packets as too big.
 *
 * @param opening an ICMP socket of the target’s family, which this function closes
 */
export async function findPathMtu(
  opening: Promise<PacketSocket>,
  target: Target,
  { rttMs, maxPackets, echo, reported, isAsking, dscp, caughtUp }: PathMtuLimits,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): Promise<PathMtu> {
  // On a slow link a large packet takes longer than those of the trace, and so may the error that answers it.
  const waitMs = (): number => {
    const { rttMs: ownMs, latestMs } = socket!.answers;
    const longestMs = Math.max(rttMs() ?? ownMs, latestMs);
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, longestMs * WAIT_RTTS));
  };
  let socket: SharedSocket | undefined;
  try {
    const shared = sharedSocket(await opening, { dscp }, reported, caughtUp);
    socket = shared;
    signal.addEventListener('abort', () => socket?.close(), { once: true });
    const limits = { maxPackets, waitMs, proofMs: () => MAX_WAIT_MS };
    const attempt = attemptsOver(
      shared,
      limits,
      (sequence, bytes, patienceMs) => tryBytes(shared, target, sequence, bytes, patienceMs, signal),
      { signal, remainingMs },
      ({ kind }) => {
        if (kind !== 'unsent') echo.sent += 1;
        if (kind === 'arrived') echo.received += 1;
      },
    );
    if (isAsking) await attempt(ASKING_BYTES[target.family], 1);
    return await search(attempt, SMALLEST[target.family], signal);
  } catch {
    // The socket did not open, the packet process ended, or the kernel refused a packet for another reason than its
    // size.
    return UNKNOWN_MTU;
  } finally {
    socket?.close();
  }
}

async function search(attempt: Try, smallest: number, signal: AbortSignal): Promise<PathMtu> {
  let bytes = FIRST_BYTES;
  let said: number | null = null;
  let hole: Bracket | undefined;
  for (;;) {
    let answer: Answer | PathMtu | undefined = await attempt(bytes, TRIES);
    if (answer?.kind === 'silent') {
      const found = await findBlackHole(attempt, { answered: smallest, vanished: bytes }, said, signal);
      hole = 'vanished' in found ? found : undefined;
      answer = found;
    }
    if (answer === undefined) return { mtu: said, blackHole: null };
    if (!('kind' in answer)) return answer;
    if (answer.kind === 'arrived') return { mtu: bytes, blackHole: await holeAbove(attempt, hole, signal) };
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
 * Finds the largest size that is answered and the smallest that vanishes, and proves them. If a router refuses a packet
 * meanwhile, returns its answer, and before the proof also the sizes between which packets begin to vanish.
 *
 * @param said MTU that a router reported; the result if the losses may be random
 */
async function findBlackHole(
  attempt: Try,
  sizes: Bracket,
  said: number | null,
  signal: AbortSignal,
): Promise<PathMtu | TooBig | (TooBig & Bracket)> {
  const bracket = await narrow(attempt, sizes, true);
  if (bracket === 'cut') return UNKNOWN_MTU;
  if (bracket === 'unproved') return { mtu: said, blackHole: null };
  const { answered, vanished, refusal } = bracket;
  if (refusal !== undefined) return { ...refusal, answered, vanished };
  const proof = await prove(attempt, bracket, signal);
  if (proof === 'cut') return UNKNOWN_MTU;
  if (proof === 'proved') return { mtu: answered, blackHole: vanished };
  if (proof === 'unproved') return { mtu: said, blackHole: null };
  if (proof.kind === 'too-big') return proof;
  // A packet of a vanished size was answered after all: the loss of the first packet may have been random too.
  const isWhole = (await attempt(sizes.vanished, TRIES))?.kind === 'arrived';
  return { mtu: isWhole ? sizes.vanished : said, blackHole: null };
}

/**
 * Size in bytes of the smallest packet that vanishes while a router answers smaller ones with a refusal; null if that
 * is not proved.
 */
async function holeAbove(attempt: Try, sizes: Bracket | undefined, signal: AbortSignal): Promise<number | null> {
  const bracket = sizes === undefined ? 'unproved' : await narrow(attempt, sizes, false);
  if (typeof bracket === 'string') return null;
  return (await prove(attempt, bracket, signal)) === 'proved' ? bracket.vanished : null;
}
