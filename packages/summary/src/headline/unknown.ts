import type { Check } from '@vantage/contract';

import { isMade } from '../dns-answer.ts';
import type { Partition } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { hostOf, portOf, recordTypeOf } from './request.ts';

/** Why it is not known whether the target answers. */
export function unknownOf(check: Check, probeResults: readonly ProbeResult[], partition: Partition): string {
  const { counts, silent, notMeasured, lone } = partition;
  const host = hostOf(check);
  if (lone !== undefined) {
    const ofType = check.type === 'dns' ? ` (${recordTypeOf(probeResults)})` : '';
    const said = `Only the resolver of ${lone.probe} says something about ${host}${ofType}: ${reasonsOf([lone])}`;
    return `${said}; ${partition.unlearned.length} others say nothing${partition.unlearned.some(({ result }) => isMade(result)) ? ' that counts' : ''}, so that it proves too little`;
  }
  if (silent.length > 0 && check.type === 'dns') {
    const what = silent.some(({ result }) => isMade(result)) ? 'an answer that counts' : 'an answer';
    return `No probe got ${what} for ${host} (${recordTypeOf(probeResults)}): ${reasonsOf(silent)}`;
  }
  if (silent.length > 0 && check.type === 'traceroute') {
    return `No probe can tell whether ${host} is reached: ${reasonsOf(silent)}`;
  }
  if (silent.length > 0) {
    return `No probe heard back from port ${portOf(probeResults)} of ${host}: with UDP that proves neither that it is open nor that it is closed`;
  }
  if (counts.pending > 0) return `No probe has measured ${host} yet`;
  if (notMeasured.length === 0) return `No probe measured ${host}`;
  return `No probe could measure ${host}: ${reasonsOf(notMeasured)}`;
}
