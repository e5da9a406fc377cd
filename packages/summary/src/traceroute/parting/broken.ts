import type { PathEnd } from '@vantage/contract';

import { listed } from '../../words.ts';
import { endReason, lastAnswer } from '../end-reason.ts';
import { HIDDEN_ROUTER, refusalOf, type PathRefusal } from '../refusals/refusals.ts';
import { joinedPlaces } from '../steps/places.ts';
import { withoutEarlierRefuser, stepText, type Trace } from '../trace.ts';

/**
 * A failing trace with its end. A router that refused packets on the way to a hop is not among the routers of that hop.
 */
export interface Broken extends Trace {
  readonly end: PathEnd['reason'];
  readonly refusal: PathRefusal | undefined;
}

export function withEnd(trace: Trace): Broken {
  const end = endReason(trace);
  const refusal = end === 'refused' ? refusalOf(trace) : undefined;
  return { ...trace, steps: trace.steps.map(withoutEarlierRefuser), end, refusal };
}

/** True if the packets end where the answers do: an error or a loop shows it, silence does not. */
export const isEndKnown = ({ end }: Broken): boolean => end === 'refused' || end === 'loop';

/**
 * Sentence about silence beyond the last answers: packets may be lost on the forward path, or answers on the return
 * path.
 */
export function silenceText(broken: readonly Broken[]): string {
  const isOpen = broken.some(({ end }) => end === 'silent') && !broken.some(isEndKnown);
  return isOpen ? ' (the packets or their answers are lost)' : '';
}

/**
 * `The failing ones go no further than hop 4, 192.0.2.9`, or that nothing answers beyond it. Names at most three
 * distinct ends; further ones are only counted.
 */
export function endsText(broken: readonly Broken[]): string {
  const lasts = listed(joinedPlaces(broken.map(endText)), 3);
  if (broken.every(isCircle)) return `The failing ones go round in a circle that includes ${lasts}`;
  if (broken.every(isEndKnown)) return `The failing ones go no further than ${lasts}`;
  return `Nothing answers the failing ones beyond ${lasts}${silenceText(broken)}`;
}

/** False for a single router that answers for all hops. */
function isCircle({ end, probeResult: { result } }: Broken): boolean {
  return end === 'loop' && (result.loop?.length ?? 0) > 1;
}

function endText(trace: Broken): string {
  const { refusal } = trace;
  const last = lastAnswer(trace);
  if (last === undefined) return 'the probe itself';
  // A router also refuses packets to hops beyond it, so a withheld sender may be nearer than the hop of the error.
  if (refusal?.ip === null && last.isPrivate) return `${HIDDEN_ROUTER} at hop ${last.hop} or nearer`;
  return refusal?.step?.hop === last.hop ? refusal.where : stepText(last);
}
