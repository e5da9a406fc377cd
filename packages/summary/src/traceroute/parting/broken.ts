import type { PathEnd } from '@vantage/contract';

import { listed } from '../../words.ts';
import { endReason, lastAnswer } from '../end-reason.ts';
import { HIDDEN_ROUTER, refusalOf, type PathRefusal } from '../refusals.ts';
import { joinedPlaces } from '../steps/places.ts';
import { onTheWay, stepText, type Trace } from '../trace.ts';

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
  return { ...trace, steps: trace.steps.map(onTheWay), end, refusal };
}

/** `The failing ones go no further than hop 4, 192.0.2.9`, with each distinct end. */
export function endsText(broken: readonly Broken[]): string {
  const lasts = joinedPlaces(broken.map(endText));
  const isLoop = broken.every(({ end }) => end === 'loop');
  return isLoop
    ? `The failing ones go round in a circle that includes ${listed(lasts, 3)}`
    : `The failing ones go no further than ${listed(lasts, 3)}`;
}

function endText(trace: Broken): string {
  const { refusal } = trace;
  const last = lastAnswer(trace);
  if (last === undefined) return 'the probe itself';
  // A router refuses packets that were sent further, too.
  if (refusal?.ip === null && last.isPrivate) return `${HIDDEN_ROUTER} at hop ${last.hop} or nearer`;
  return refusal?.step?.hop === last.hop ? refusal.where : stepText(last);
}
