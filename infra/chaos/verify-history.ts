import type { Answer, HistoryRecord, LostTime, Setup, StreamEvent } from './history.ts';
import { verifyCheck } from './verify-check.ts';
import { verifyRefusal } from './verify-refusal.ts';
import { breakRule, newTally, type Tally } from './ledger.ts';
import type { CheckHistory, VerifyContext } from './seen.ts';

/** Time within which each probe recovers after any fault. */
const RECOVERS_WITHIN_MS = 5_000;

/**
 * Compares a history with the promises in `rules`, without any other input.
 *
 * @returns a tally per fault that the history mentions
 */
export function verifyHistory(records: readonly HistoryRecord[]): readonly Tally[] {
  const tallies = new Map<string, Tally>();
  for (const deployment of byDeployment(records)) verifyDeployment(deployment, tallies);
  return [...tallies.values()];
}

function byDeployment(records: readonly HistoryRecord[]): readonly (readonly HistoryRecord[])[] {
  const deployments: HistoryRecord[][] = [];
  for (const record of records) {
    if (record.kind === 'setup') deployments.push([]);
    deployments.at(-1)?.push(record);
  }
  return deployments;
}

function verifyDeployment(records: readonly HistoryRecord[], tallies: Map<string, Tally>): void {
  const tallyOf = (fault: string): Tally => {
    const tally = tallies.get(fault) ?? newTally(fault);
    tallies.set(fault, tally);
    return tally;
  };
  const context: VerifyContext = {
    setup: records[0] as Setup,
    faults: records.filter((record) => record.kind === 'fault'),
    lostWithin: lostTimes(
      records.filter((record): record is LostTime => record.kind === 'outage' || record.kind === 'stall'),
    ),
  };
  const answers = records.filter((record) => record.kind === 'answer');
  for (const answer of answers) verifyRefusal(answer, tallyOf(answer.fault), context);
  for (const check of checksOf(
    answers,
    records.filter((record) => record.kind === 'event'),
  )) {
    verifyCheck(check, tallyOf(check.start.fault), context);
  }
  for (const { name, unended } of context.faults) {
    if (unended !== undefined) breakRule(tallyOf(name), 'unended', unended);
  }
  for (const record of records) {
    if (record.kind !== 'recovery') continue;
    const tally = tallyOf(record.fault);
    const ms = record.ms ?? Number.POSITIVE_INFINITY;
    tally.slowestRecoveryMs = Math.max(tally.slowestRecoveryMs, ms);
    const countedMs = record.ms === null ? ms : ms - context.lostWithin(record.from, record.from + ms);
    if (countedMs <= RECOVERS_WITHIN_MS + context.setup.indulgenceMs) continue;
    breakRule(tally, 'deaf', `${record.probe} had no success for ${countedMs} ms after the fault`);
  }
}

/** Each accepted check with all observations of it, in the order of the history. */
function checksOf(answers: readonly Answer[], events: readonly StreamEvent[]): readonly CheckHistory[] {
  const checks = new Map<string, { start: Answer; answers: Answer[]; events: StreamEvent[] }>();
  for (const answer of answers) {
    if (answer.operation !== 'start' || answer.status !== 202) continue;
    const { checkId } = answer.body as { readonly checkId: string };
    checks.set(checkId, { start: answer, answers: [], events: [] });
  }
  for (const answer of answers) {
    if (answer.operation !== 'start') checks.get(answer.check ?? '')?.answers.push(answer);
  }
  for (const event of events) checks.get(event.check)?.events.push(event);
  return [...checks.values()];
}

/** Overlapping spans count once. */
function lostTimes(spans: readonly LostTime[]): (from: number, to: number) => number {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return (from, to) =>
    merged.reduce((sum, span) => sum + Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)), 0);
}
