import type { Check } from '@vantage/contract';

import type { FindingDraft } from '../finding.ts';
import { firstByteOf } from '../first-byte.ts';
import { median } from '../geography.ts';
import { timedOf } from '../latency.ts';
import { ofType, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { SYN_AGAIN_MS } from '../round-trip.ts';
import { ms } from '../words.ts';

/** The time that an `up` target took, and the first warning without a clause, if there is one. */
export function supplementOf({ type }: Check, up: readonly ProbeResult[], findings: readonly FindingDraft[]): string {
  const warning = findings.find(({ severity, brief }) => severity === 'warning' && brief === undefined);
  const time = type === 'http' ? pageTimeOf(up) : roundTripOf(type, up);
  return warning === undefined ? time : `${time}; ${lower(warning.text).replace(/\.$/, '')}`;
}

function roundTripOf(type: string, up: readonly ProbeResult[]): string {
  const timed = timedOf(type, up).map(({ shownMs }) => shownMs);
  if (timed.length === 0) return '';
  const [time, which] = [median(timed), timed.length === 1 ? '' : 'median '];
  // A long round trip looks the same as a SYN that was sent again.
  if (type === 'tcp' && time >= SYN_AGAIN_MS) {
    return ` (${which}handshake ${ms(time)}, in which a packet may have been sent again)`;
  }
  return ` (${which}round trip ${ms(time)})`;
}

/** First byte and total time of the page, with the redirects before it, in place of the round trip of TCP. */
function pageTimeOf(up: readonly ProbeResult[]): string {
  const results = ofType<'http'>(up).map(({ result }) => ({ ...result, beforeMs: redirectMs(result) }));
  const first = results.flatMap(({ timings, beforeMs }) => {
    const ownMs = firstByteOf(timings);
    return ownMs === undefined ? [] : [beforeMs + ownMs];
  });
  const total = results.flatMap(({ timings, beforeMs }) => (timings === undefined ? [] : [beforeMs + timings.total]));
  if (first.length === 0 || total.length === 0) return '';
  const included = results.some(({ beforeMs }) => beforeMs > 0) ? ', redirects included' : '';
  return ` (${first.length === 1 ? '' : 'median '}first byte ${ms(median(first))}, total ${ms(median(total))}${included})`;
}

function redirectMs({ redirects = [] }: SparseResultOf<'http'>): number {
  return redirects.reduce((sum, { timings }) => sum + timings.total, 0);
}

function lower(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
