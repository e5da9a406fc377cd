import type { Answer, FaultRecord } from './history.ts';
import { breakRule, type Tally } from './ledger.ts';
import { CONTROL, type VerifyContext } from './seen.ts';

/** Time after the end of a fault in which it may still have effects. */
const FELT_AFTERWARDS_MS = 5_000;
const STALLS_STORE = { withinMs: 2_000, lostMs: 500 };
const STALLS_JOBS = { withinMs: 30_000, lostMs: 5_000 };

/** Statuses that need no explanation, by request. */
const expected: Readonly<Record<Answer['operation'], readonly number[]>> = {
  start: [202],
  // 404 and 410 of an accepted check have a separate rule.
  results: [200, 404, 410],
  summary: [200, 404, 410],
  events: [200, 204, 404, 410],
};

/** Verifies a request that was refused, was not answered, or was answered wrongly. */
export function verifyRefusal(answer: Answer, tally: Tally, context: VerifyContext): void {
  const { status, operation, fault, from, ran } = answer;
  const what = `${operation} at ${from}, ${Math.round(answer.doneAt - answer.at)} ms`;
  if (status === undefined) {
    if (!ran) tally.cutOff += 1;
    else if (!isExplained(answer, context.faults, [from])) breakRule(tally, 'unanswered', `${what}: ${answer.error}`);
    return;
  }
  if (expected[operation].includes(status)) return;
  const said = `${what}: ${status} ${JSON.stringify(answer.body)}`;
  // 422: no probe is available, as when every probe is offline.
  if (status !== 503 && !(status === 422 && isExplained(answer, context.faults, ['probes', 'store', from]))) {
    breakRule(tally, 'wrong', said);
    return;
  }
  tally.refused += 1;
  tally.refusalsMs.push(answer.doneAt - answer.at);
  if (status === 503 && answer.retryAfter !== true) breakRule(tally, 'wrong', `without Retry-After: ${said}`);
  if (stalled(answer, context)) return;
  if (fault === CONTROL) breakRule(tally, 'control', said);
  else if (!isExplained(answer, context.faults, dependsOn(answer))) breakRule(tally, 'unexplained', said);
}

/** A check needs probes with free capacity; reading a check does not. */
function dependsOn({ operation, from }: Answer): readonly string[] {
  return ['store', from, ...(operation === 'start' ? ['probes'] : [])];
}

/**
 * True if a fault with one of these causes was active during the request, or ended at most `FELT_AFTERWARDS_MS` before
 * it.
 */
function isExplained({ at, doneAt }: Answer, faults: readonly FaultRecord[], causes: readonly string[]): boolean {
  return faults.some(
    ({ from, to, harmed }) =>
      from <= doneAt && at <= to + FELT_AFTERWARDS_MS && harmed.some((name) => causes.includes(name)),
  );
}

/**
 * True if so much time was lost before the answer that commands to the store may have timed out or, for a new check,
 * that jobs became slow: admission depends on how long jobs took.
 */
function stalled({ at, doneAt, operation }: Answer, { lostWithin }: VerifyContext): boolean {
  const spans = [STALLS_STORE, ...(operation === 'start' ? [STALLS_JOBS] : [])];
  return spans.some(({ withinMs, lostMs }) => lostWithin(at - withinMs, doneAt) >= lostMs);
}
