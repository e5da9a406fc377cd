import { partAsked } from './dns-answer.ts';
import type { SparseResultOf } from './probe-result.ts';
import { countOf } from './words.ts';

/** The reason for a trace that failed at the root servers, for example because the probe's network blocks queries. */
export function ofRoot(reason: string): string {
  const servers = 'the root servers that were asked';
  const named = reason.replace(/\bthe resolver\b/, servers);
  return named === reason ? `${servers} gave no answer: ${reason}` : named;
}

/**
 * The reason for a trace that failed at the servers of another zone, with the number of servers that were queried if
 * not all were.
 */
export function ofZone(reason: string, result: SparseResultOf<'dns'>): string {
  const part = partAsked(result);
  const named = reason.replace(/\bthe resolver\b/, 'a name server of the zone');
  if (part === undefined) return named;
  if (part.asked === 0) return 'the trace ended before it asked the name servers of the last zone';
  return `${named}, with ${part.asked === 1 ? 'one' : part.asked} of the ${countOf(part.all, 'name server')} of the zone asked`;
}
