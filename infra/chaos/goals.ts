import type { Figure } from '../bench/goals.ts';
import { PROMISED_MS } from './verify-check.ts';
import { rules, type Rule, type Tally } from './ledger.ts';

/**
 * A goal for each promise, over all faults, and for the accepted checks and the worst lateness.
 *
 * @param indulgenceMs see `RunOptions`
 */
export function goalsOf(tallies: readonly Tally[], indulgenceMs: number): readonly Figure[] {
  const broken = (Object.entries(rules) as [Rule, string][]).map(([rule, name]) => ({
    name,
    unit: '',
    atMost: 0,
    value: tallies.reduce((sum, tally) => sum + (tally.broken[rule] ?? 0), 0),
  }));
  return [
    { name: 'checks accepted', value: tallies.reduce((sum, { accepted }) => sum + accepted, 0), unit: '', atLeast: 1 },
    ...broken,
    {
      name: 'worst lateness after a deadline',
      value: Math.max(...tallies.map(({ worstLatenessMs }) => worstLatenessMs)),
      unit: 'ms',
      atMost: PROMISED_MS + indulgenceMs,
    },
  ];
}

/** Describes the outcomes under a fault, in lines of text. */
export function describe(tally: Tally): readonly string[] {
  const { fault, accepted, broken, refused, refusalsMs, cutOff, timedOut, slowestRecoveryMs, worstLatenessMs } = tally;
  const lateness = Number.isFinite(worstLatenessMs) ? `${Math.round(worstLatenessMs)} ms` : 'none';
  const promises = Object.entries(broken).map(([rule, count]) => `${count} × ${rule}`);
  return [
    fault,
    `  accepted ${accepted}, refused ${refused} (slowest ${Math.round(Math.max(0, ...refusalsMs))} ms), cut off ${cutOff}, ` +
      `results that timed out ${timedOut}, slowest probe afterwards ${slowestRecoveryMs} ms, worst lateness ${lateness}; ` +
      `promises broken: ${promises.length === 0 ? 'none' : promises.join(', ')}`,
    ...tally.notes.map((text) => `  ! ${text}`),
  ];
}
