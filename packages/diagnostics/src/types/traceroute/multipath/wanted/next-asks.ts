import type { TracePacket } from '../../probing/trace.ts';
import { circleAsks } from './circles.ts';
import { deadEndAsks } from './dead-ends.ts';
import { lossAsks } from './loss-asks.ts';
import { wantedAsks } from './plan.ts';
import { quietAsks } from './silence.ts';
import { surveyOf, type Ask, type Survey } from '../survey.ts';

/**
 * The packets that the search sends next; none if it is complete. First each vertex is searched at its own risk, then
 * until the sum of the risks of all balancers is as small; finally silence, loops and dead ends are tested, and loss at
 * the target.
 *
 * @param isLate true if dead ends are to be tested before all else
 */
export function nextAsks(
  packets: readonly TracePacket[],
  flows: number,
  maxHops: number,
  room: number,
  isLate = false,
): readonly Ask[] {
  const survey = surveyOf(packets, flows);
  const late = isLate ? deadEndAsks(survey, packets) : [];
  if (late.length > 0) return late;
  const asks = wantedAsks(survey, { maxHops, room, balancers: 0 });
  if (asks.length > 0) return asks;
  const balancers = balancersIn(survey);
  const more = balancers === 0 ? [] : wantedAsks(survey, { maxHops, room, balancers });
  if (more.length > 0) return more;
  const silent = quietAsks(survey);
  if (silent.length > 0) return silent;
  const circles = circleAsks(survey, maxHops);
  if (circles.length > 0) return circles;
  const ends = deadEndAsks(survey, packets);
  return ends.length > 0 ? ends : lossAsks(packets);
}

function balancersIn({ vertices }: Survey): number {
  return vertices.filter(({ kind, seenNext }) => kind === 'router' && seenNext.size > 1).length;
}
