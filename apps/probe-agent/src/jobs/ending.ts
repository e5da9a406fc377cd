import { probeFailure } from '@vantage/agent-loop';
import { roundMs, type AnyCheckType, type Failure, type FailurePhase, type Family } from '@vantage/contract';
import type { Outcome } from '@vantage/diagnostics';

import type { Fields } from './fit-result.ts';
import type { ProcessStalls } from './process-stalls.ts';

/**
 * Least share of the check's time budget that a run must have had for its timeout to be evidence of the target's
 * silence.
 */
const LEAST_SHARE = 0.5;

/**
 * Share of the measured time from which the sum of short stalls is reported: the time may be twice what it would have
 * been on an idle machine.
 */
const LEAST_STALL_SHARE = 0.5;

/** Why a timeout proves nothing: if the machine was stopped, packets to it may be lost. */
const STOOD_STILL = 'The probe stood still during the check, so that silence proves nothing.';

/** How the run of a diagnostic ended. */
export type Ending =
  | { readonly outcome: Outcome<AnyCheckType> }
  /** `measured`: the last partial result. */
  | {
      readonly failure: Failure;
      readonly result?: 'timeout';
      readonly stalled?: number;
      readonly measured?: Fields;
    };

export interface EndingTimes extends ProcessStalls {
  /** Milliseconds until the deadline when the run started. */
  readonly leftMs: number;
  /** Milliseconds of the whole time budget of the check. */
  readonly wholeMs: number;
}

/** How a run ended: adds stalls of this process, and replaces a timeout that proves nothing by a failure. */
export function endingOf(
  outcome: Outcome<AnyCheckType>,
  { leftMs, wholeMs, longStallsMs, allStallsMs }: EndingTimes,
  { needsRawSockets }: Pick<AnyCheckType, 'needsRawSockets'>,
): Ending {
  const stalled = roundMs((outcome.stalled ?? 0) + longStallsMs);
  if (stalled > 0) {
    // Diagnostics with raw packets decide themselves what a stall makes doubtful.
    if (needsRawSockets) return { outcome: { ...outcome, stalled } };
    const isDoubtful = outcome.result === 'timeout';
    return isDoubtful ? { failure: stoodStill(), stalled } : { outcome: { ...withDoubt(outcome), stalled } };
  }
  // Times of raw packets are the kernel's, or taken in a separate process.
  const isStalled = !needsRawSockets && allStallsMs > 0 && allStallsMs >= LEAST_STALL_SHARE * (outcome.rt ?? Infinity);
  if (isStalled) return { outcome: { ...outcome, stalled: roundMs(allStallsMs) } };
  // Too little of the check's time was left for the target to answer.
  const isUnproven = leftMs / wholeMs < LEAST_SHARE && outcome.result === 'timeout';
  return isUnproven ? { failure: outOfTime(outcome.error), result: 'timeout' } : { outcome };
}

const UNDER_WAY: Readonly<Partial<Record<FailurePhase, string>>> = {
  resolve: 'for the resolution of the name',
  connect: 'to await the connection',
  tls: 'for the TLS handshake',
  request: 'to send the request',
  response: 'to await the answer',
};

/** The failure of a run whose time was cut, with the phase that was under way. */
function outOfTime(error: Failure | null): Failure {
  const failure = probeFailure('probe_timeout');
  const what = error === null ? undefined : UNDER_WAY[error.phase];
  if (error === null || what === undefined) return failure;
  return { ...failure, phase: error.phase, message: `Too little of the time of the check was left ${what}.` };
}

/** Replaces a timeout of the measurement over the other family, which a stall makes doubtful as well. */
function withDoubt(outcome: Outcome<AnyCheckType>): Outcome<AnyCheckType> {
  const { otherFamily } = outcome as { readonly otherFamily?: { readonly family: Family; readonly result?: string } };
  if (otherFamily?.result !== 'timeout') return outcome;
  const { family } = otherFamily;
  const doubted = { ...outcome, otherFamily: { family, result: 'error', rt: null, error: stoodStill() } };
  return doubted;
}

function stoodStill(): Failure {
  return { ...probeFailure('probe_interrupted'), message: STOOD_STILL };
}
