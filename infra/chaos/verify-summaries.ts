import { breakRule, type Tally } from './ledger.ts';
import { idOf, type CheckHistory, type SeenCheck, type SeenResult } from './seen.ts';

interface SeenSummary {
  readonly status: string;
  readonly verdict: string;
  readonly counts: Readonly<Record<'up' | 'down' | 'silent' | 'notMeasured' | 'pending', number>>;
}

/** A summary of a completed check counts the results of the check, and is the same each time. */
export function verifySummaries({ start, answers }: CheckHistory, tally: Tally): void {
  const wrong = (text: string): void => breakRule(tally, 'summary', `${idOf(start)}: ${text}`);
  const results = answers.filter(({ operation, status }) => operation === 'results' && status === 200);
  const completed = results.find(({ body }) => (body as SeenCheck).status === 'completed');
  let first: string | undefined;
  for (const { operation, status, body, at } of answers) {
    if (operation !== 'summary' || status !== 200) continue;
    const summary = body as SeenSummary;
    const { up, down, silent, notMeasured, pending } = summary.counts;
    const selected = Object.keys((results[0]?.body as SeenCheck | undefined)?.results ?? {}).length;
    const counted = up + down + silent + notMeasured + pending;
    if (selected > 0 && counted !== selected) wrong(`it counts ${counted} of ${selected} probes`);
    if (summary.status === 'pending') {
      if (completed !== undefined && at > completed.doneAt) wrong('it is pending after the check was completed');
      continue;
    }
    if (pending > 0) wrong(`it is completed with ${pending} pending`);
    if (completed !== undefined) verifyCounts(summary, completed.body as SeenCheck, wrong);
    const text = JSON.stringify([summary.verdict, summary.counts]);
    first ??= text;
    if (text !== first) wrong(`it said ${first} and then ${text}`);
  }
}

/**
 * Rules for every check of the trial: a probe whose own failure ended the check has measured nothing; nor has one whose
 * resolver failed, because all names of the trial exist. A success counts as up.
 */
function verifyCounts({ counts, verdict }: SeenSummary, check: SeenCheck, wrong: (text: string) => void): void {
  const results = Object.values(check.results);
  const unmeasured = results.filter(isUnmeasured).length;
  const successes = results.filter(({ result }) => result === 'success').length;
  if (counts.notMeasured !== unmeasured)
    wrong(`${counts.notMeasured} not measured, but ${unmeasured} probes measured nothing`);
  if (counts.up !== successes) wrong(`${counts.up} up, but ${successes} successes`);
  if (unmeasured === results.length && verdict !== 'unknown') wrong(`it is ${verdict}, but no probe measured`);
}

function isUnmeasured({ result, error }: SeenResult): boolean {
  return result === 'error' || error?.source === 'probe' || error?.phase === 'resolve';
}
