import type { Check } from '@vantage/contract';

import { answerKindOf } from '../dns-answer.ts';
import { answersEchoAlone } from '../partition.ts';
import { ofType, type ProbeResult } from '../probe-result.ts';
import { isTranslated } from '../types/dns/not-public.ts';
import { countOf } from '../words.ts';

/**
 * The results that the headline counts as answers of the target: for dns those with records, or without them if the only
 * records are addresses of DNS64; for traceroute those that reached it; all of `up` if there are none, and for other
 * types.
 */
export function confirmingResults({ type }: Check, up: readonly ProbeResult[]): readonly ProbeResult[] {
  if (type === 'traceroute') {
    const reached = ofType<'traceroute'>(up).filter(({ result }) => !answersEchoAlone(result));
    return reached.length > 0 ? reached : up;
  }
  if (type !== 'dns') return up;
  const answered = ofType<'dns'>(up).filter(({ result }) => answerKindOf(result) === 'answer');
  const denied = up.filter((one) => !answered.includes(one));
  if (answered.every(isTranslated) && denied.length > 0) return denied;
  return answered.length > 0 ? answered : up;
}

/**
 * Clause with the number of probes of a traceroute to which the target answered only echo requests; empty unless others
 * reached it.
 */
export function ofEchoAlone(check: Check, up: readonly ProbeResult[]): string {
  const others = up.length - confirmingResults(check, up).length;
  if (check.type !== 'traceroute' || others === 0) return '';
  return `; of ${countOf(others, 'probe')} it answers echo requests alone`;
}
