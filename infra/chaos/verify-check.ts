import type { Answer, StreamEvent } from './history.ts';
import { verifyEvents } from './verify-events.ts';
import { verifySummaries } from './verify-summaries.ts';
import { breakRule, type Tally } from './ledger.ts';
import {
  comparable,
  CONTROL,
  idOf,
  type CheckHistory,
  type VerifyContext,
  type SeenCheck,
  type SeenResult,
} from './seen.ts';

/** Longest time from the deadline of a check to its end, as the service promises. */
export const PROMISED_MS = 2_000;
/** Lost time during one check, milliseconds, that explains results which timed out. */
const STARVED_MS = 1_000;
/** Time after a step of the clock in which checks may still be created with the former time. */
const NOTICED_WITHIN_MS = 5_000;

export function verifyCheck(check: CheckHistory, tally: Tally, context: VerifyContext): void {
  tally.accepted += 1;
  verifyKept(check, tally, context);
  verifyFinality(check, tally);
  verifyTime(check, tally, context);
  verifyEvents(check, tally);
  verifySummaries(check, tally);
}

/**
 * An accepted check can be read for its whole retention, or a response says why not (410). The record of that reason
 * may expire before the check would have.
 */
function verifyKept({ start, answers, events }: CheckHistory, tally: Tally, { setup }: VerifyContext): void {
  const isCompleted = completion(answers, events) !== undefined;
  const keptTo = isCompleted && setup.keptMs !== undefined ? start.at + setup.keptMs : Number.POSITIVE_INFINITY;
  const removals = answers.filter(({ status }) => status === 410).map(({ doneAt }) => doneAt);
  const saidBy = Math.min(...removals);
  const lost = answers.find(({ status, at }) => status === 404 && at >= start.doneAt && at < Math.min(saidBy, keptTo));
  if (lost !== undefined) breakRule(tally, 'lost', `${lost.check} is 404 at ${lost.from} (${lost.operation})`);
}

/** A final result never changes; a completed check is never pending again, and none of its results is pending. */
function verifyFinality({ answers, events }: CheckHistory, tally: Tally): void {
  const sightings = [
    ...answers
      .filter(({ operation, status }) => operation === 'results' && status === 200)
      .map((answer) => ({ ...span(answer), ...(answer.body as SeenCheck) })),
    ...events
      .filter(({ name }) => name === 'completed')
      .map((event) => ({ ...span(event), ...(event.data as SeenCheck) })),
    ...events.filter(({ name }) => name === 'probe').map((event) => ({ ...span(event), ...probeSighting(event) })),
  ].toSorted((a, b) => a.doneAt - b.doneAt);

  const finals = new Map<string, { readonly text: string; readonly doneAt: number }>();
  let completedBy = Number.POSITIVE_INFINITY;
  for (const { at, doneAt, status, results, check } of sightings) {
    for (const [probe, result] of Object.entries(results)) {
      const known = finals.get(probe);
      if (result.result === 'pending') {
        if (known !== undefined && at > known.doneAt)
          breakRule(tally, 'reopened', `${check}: ${probe} is pending again`);
        continue;
      }
      const text = comparable(result);
      if (known !== undefined && known.text !== text) {
        breakRule(tally, 'changed', `${check}: ${probe} said ${known.text} and then ${text}`);
      }
      if (known === undefined) finals.set(probe, { text, doneAt });
    }
    if (status === 'pending' && at > completedBy) breakRule(tally, 'reopened', `${check} is pending again`);
    if (status !== 'completed') continue;
    completedBy = Math.min(completedBy, doneAt);
    const all = Object.values(results);
    if (all.length === 0 || all.some(({ result }) => result === 'pending')) {
      breakRule(tally, 'incomplete', `${check}: ${JSON.stringify(results)}`);
    }
  }
}

function probeSighting({ data }: StreamEvent): Pick<SeenCheck, 'results'> & { readonly status?: undefined } {
  const { probe, result } = data as { readonly probe: string; readonly result: SeenResult };
  return { results: { [probe]: result } };
}

/** An event reports a state at some unknown time before it. */
function span(seen: Answer | StreamEvent): { readonly at: number; readonly doneAt: number; readonly check: string } {
  const at = seen.kind === 'answer' ? seen.at : Number.NEGATIVE_INFINITY;
  return { at, doneAt: seen.kind === 'answer' ? seen.doneAt : seen.at, check: seen.check ?? '' };
}

/** A check must be completed at most two seconds after its deadline, plus the indulgence; lost time is not counted. */
function verifyTime({ start, answers, events }: CheckHistory, tally: Tally, context: VerifyContext): void {
  const deadlineBy = start.doneAt + (start.budgetMs ?? 0);
  const mayBeLateMs = PROMISED_MS + context.setup.indulgenceMs;
  const completed = completion(answers, events);
  let latenessMs = Number.NEGATIVE_INFINITY;
  for (const { at, operation, status, body } of answers) {
    if (operation !== 'results' || status !== 200 || (body as SeenCheck).status === 'completed') continue;
    latenessMs = Math.max(latenessMs, at - deadlineBy - context.lostWithin(start.at, at));
  }
  if (completed === undefined) breakRule(tally, 'late', `${idOf(start)} was never seen completed`);
  else {
    const { createdAt, completedAt, results } = completed.body;
    const [from, to] = [Date.parse(createdAt), Date.parse(completedAt ?? '')];
    // Measured by the store's clock, to the millisecond; inconclusive if that clock was stepped.
    if (!isStepped(start.at, completed.at, context)) {
      latenessMs = Math.max(latenessMs, to - from - (start.budgetMs ?? 0) - context.lostWithin(from, to));
    }
    const timedOut = Object.values(results).filter(({ error }) => error?.code === 'probe_timeout').length;
    tally.timedOut += timedOut;
    const starvedMs = context.lostWithin(start.at, completed.at);
    if (starvedMs >= STARVED_MS) tally.timedOutByStalls += timedOut;
    const isWithoutFault = start.fault === CONTROL && !isTouched(start.at, completed.at, context);
    if (timedOut > 0 && isWithoutFault && starvedMs < STARVED_MS)
      breakRule(tally, 'control', `${idOf(start)} has results that timed out`);
  }
  tally.worstLatenessMs = Math.max(tally.worstLatenessMs, latenessMs);
  if (latenessMs > mayBeLateMs) breakRule(tally, 'late', `${idOf(start)} was late by ${Math.round(latenessMs)} ms`);
}

function completion(
  answers: readonly Answer[],
  events: readonly StreamEvent[],
): { readonly at: number; readonly body: SeenCheck } | undefined {
  const answer = answers.find(
    ({ operation, status, body }) =>
      operation === 'results' && status === 200 && (body as SeenCheck).status === 'completed',
  );
  if (answer !== undefined) return { at: answer.doneAt, body: answer.body as SeenCheck };
  const event = events.find(({ name }) => name === 'completed');
  return event === undefined ? undefined : { at: event.at, body: event.data as SeenCheck };
}

/** A check that begins at the end of the phase without a fault may overlap the next fault. */
function isTouched(from: number, to: number, { faults }: VerifyContext): boolean {
  return faults.some((fault) => fault.name !== CONTROL && fault.from <= to && from <= fault.to);
}

function isStepped(from: number, to: number, { faults }: VerifyContext): boolean {
  return faults.some(
    (fault) => fault.harmed.includes('clock') && fault.from <= to && from <= fault.to + NOTICED_WITHIN_MS,
  );
}
