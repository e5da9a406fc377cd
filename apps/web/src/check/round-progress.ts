import type { ResultFieldsOf } from '@vantage/contract';
import type { checkTypes } from '@vantage/diagnostics/contract';
import { unansweredRounds } from '@vantage/diagnostics/reply-texts';

import { plural } from '../format.ts';
import type { CheckData, Result } from './use-check.ts';

type Traceroute = Result & ResultFieldsOf<(typeof checkTypes)['traceroute']>;

/** Rounds so far of a check under way, and the answers of its target in them. */
export interface RoundProgress {
  readonly round: number;
  readonly text: string;
}

/**
 * The progress of a traceroute in rounds; undefined for a completed check, and for one that has no rounds, or none yet.
 */
export function roundProgressOf({ type, host, status, results }: CheckData): RoundProgress | undefined {
  if (status === 'completed' || type !== 'traceroute') return undefined;
  const traces = Object.values(results) as unknown as readonly Traceroute[];
  const round = Math.max(0, ...traces.map(({ rounds = 0 }) => rounds));
  if (round === 0) return undefined;
  const [sent, received] = [sumOf(traces, 'sent'), sumOf(traces, 'received')];
  const reaching = traces.filter(({ reached }) => reached === true);
  if (reaching.length === 0) {
    return { round, text: `${host} has answered none of ${plural(traces.length, 'probe')} so far.` };
  }
  const from = `${reaching.length} of ${plural(traces.length, 'probe')}`;
  const unanswered = Math.min(...reaching.map(unansweredRounds));
  // A single lost packet at the end is not worth a mention.
  const end = unanswered < 2 ? '' : `, and none in the last ${unanswered} rounds`;
  return { round, text: `${host} has answered ${from} so far: ${received} of ${plural(sent, 'packet')}${end}.` };
}

/** Packets of all traces, summed over the hops at which the target answered: those sent, or those answered. */
function sumOf(traces: readonly Traceroute[], field: 'sent' | 'received'): number {
  return traces.reduce((sum, { hops = [], resolvedIp, targetHops }) => {
    if (targetHops !== undefined && targetHops.length > 1)
      return targetHops.reduce((all, one) => all + one[field], sum);
    const target = hops.findLast(({ responders }) => responders.some(({ ip }) => ip !== null && ip === resolvedIp));
    return sum + (target?.stats?.[field] ?? 0);
  }, 0);
}
