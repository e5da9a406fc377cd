import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { Try } from './black-hole.ts';
import type { Answer, SharedSocket } from './try-packet.ts';

/** Maximum number of packets of one size that are sent again because of a long stall: then silence is no evidence. */
const STALLED_TRIES = 4;
const RESERVE_MS = 500;

export interface AttemptLimits {
  /** Maximum number of packets that are sent. */
  readonly maxPackets: number;
  /** Wait for an answer. */
  readonly waitMs: () => number;
  /** Wait for the answer to a packet that is to prove a black hole. */
  readonly proofMs: () => number;
}

/**
 * Attempts over one socket, within the limits and the time of the check.
 *
 * @param trySize sends one packet of a size, and awaits its answer
 * @param onAnswer called with the outcome of each packet as observed, even if earlier answers then imply another one
 */
export function attemptsOver(
  socket: SharedSocket,
  { maxPackets, waitMs, proofMs }: AttemptLimits,
  trySize: (sequence: number, bytes: number, waitMs: () => number) => Promise<Answer>,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
  onAnswer: (answer: Answer) => void = () => undefined,
): Try {
  let sequence = 0;
  return async (bytes, tries, proof) => {
    const patienceMs = proof === undefined ? waitMs : proofMs;
    let answer: Answer | undefined;
    let [left, stallsLeft] = [tries, STALLED_TRIES];
    while (left > 0 && (answer === undefined || answer.kind === 'silent')) {
      const isOver = sequence >= maxPackets || signal.aborted || remainingMs() < patienceMs() + RESERVE_MS;
      if (isOver) return undefined;
      sequence += 1;
      answer = await trySize(sequence, bytes, patienceMs);
      if (answer.kind === 'unsent') sequence -= 1;
      onAnswer(answer);
      if (answer.kind === 'silent' && proof !== 'small') answer = lateAnswer(socket, bytes) ?? answer;
      if (answer.kind === 'silent' && answer.isStalled && stallsLeft > 0) stallsLeft -= 1;
      else left -= 1;
    }
    return answer;
  };
}

/** The answer to a packet of this size that earlier answers imply, late ones included; undefined if they imply none. */
function lateAnswer({ answers }: SharedSocket, bytes: number): Answer | undefined {
  if (answers.largest >= bytes) return { kind: 'arrived' };
  const mtu = answers.refused.get(bytes);
  return mtu === undefined ? undefined : { kind: 'too-big', mtu };
}
