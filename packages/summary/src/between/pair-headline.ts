import type { Check } from '@vantage/contract';

import type { FindingDraft } from '../finding.ts';
import type { Partition } from '../partition.ts';
import { reasonsOf } from '../reasons.ts';
import { timedOf } from '../latency.ts';
import { median } from '../geography.ts';
import { ms } from '../words.ts';

/** The result of a check between two probes in one sentence; undefined for other checks. */
export function pairHeadline(
  { between, type }: Check,
  partition: Partition,
  limitation: string | undefined,
  findings: readonly FindingDraft[],
): string | undefined {
  const [first, second] = between ?? [];
  if (first === undefined || second === undefined) return undefined;
  const { up } = partition;
  if (up.length < 2) {
    return `${clause(first, second, partition)}; ${clause(second, first, partition)}.`;
  }
  const rtts = timedOf(type, up).map(({ shownMs }) => shownMs);
  const time = rtts.length === 0 ? '' : ` (round trip ${ms(median(rtts))})`;
  const but = limitation === undefined ? '' : `, but ${limitation}`;
  const ways = findings.find(({ code }) => code === 'directions_differ')?.brief;
  return `${first} and ${second} reach each other${time}${but}${ways === undefined ? '' : `; ${ways}`}.`;
}

function clause(from: string, to: string, { of, up, down, silent, notMeasured }: Partition): string {
  const own = [...up, ...down, ...silent, ...notMeasured].filter(({ probe }) => probe === from);
  switch (of.get(from)) {
    case 'up':
    case 'impaired':
      return `${from} reaches ${to}`;
    case 'down':
      return `${from} does not reach ${to}: ${reasonsOf(own)}`;
    case 'silent':
      return `${from} cannot tell whether it reaches ${to}: ${reasonsOf(own)}`;
    case 'notMeasured':
      return `${from} could not measure: ${reasonsOf(own)}`;
    case 'pending':
    case undefined:
      break;
  }
  return `${from} has not answered yet`;
}
