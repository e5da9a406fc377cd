import { found, type Found } from '../finding.ts';
import { thresholds } from '../thresholds.ts';
import { byText, groupBy } from '../report.ts';
import { countOf, listed, naming, percent, unique } from '../words.ts';
import { isSilent, placeKey, stepText, targetIndex, type Step, type Trace, type TraceReport } from './trace.ts';

interface Loss {
  readonly trace: Trace;
  /** The hop at which the loss begins that carries on to the target. */
  readonly begin: Step;
  readonly end: Step;
}

/**
 * Loss that is real shows at each hop from where it begins to the target; a router that answers some packets only,
 * as many do to spare themselves, loses nothing of what it passes on.
 */
export function findLosses(traces: readonly Trace[]): readonly Found[] {
  const reached = traces.filter((trace) => trace.isFinal && targetIndex(trace) !== undefined);
  const losses = reached.flatMap((trace) => lossOf(trace) ?? []);
  return [
    ...carriedOn(losses.filter(({ begin, end }) => begin !== end)),
    ...atTarget(losses.filter(({ begin, end }) => begin === end)),
    ...rateLimited(reached),
  ];
}

function lossOf(trace: Trace): Loss | undefined {
  const last = targetIndex(trace)!;
  const end = trace.steps[last]!;
  if (end.lost === 0) return undefined;
  let begin = end;
  for (const step of trace.steps.slice(0, last).toReversed()) {
    // One that never answers says nothing of what it passes on.
    if (isSilent(step)) continue;
    if (step.lost === 0) break;
    begin = step;
  }
  return { trace, begin, end };
}

function carriedOn(losses: readonly Loss[]): readonly Found[] {
  return byPlace(losses).map((own) => {
    const where = unique(own.map(({ begin }) => stepText(begin)));
    const severity = lostOf(own) >= thresholds.lostPackets ? 'warning' : 'info';
    const begins = own.length === 1 ? 'Loss begins' : `Loss of ${countOf(own.length, 'path')} begins`;
    const text = `${begins} at ${listed(where, 3)} and carries on to the target, where ${sharesOf(own)}.`;
    const brief = `loss begins at ${stepText(own[0]!.begin)}`;
    return found('path_loss', severity, reportsOf(own), text, brief);
  });
}

function atTarget(losses: readonly Loss[]): readonly Found[] {
  if (losses.length === 0) return [];
  const text = `Packets are lost at the target’s own hop alone, where ${sharesOf(losses)}: on its last link, or because it answers some only.`;
  return [found('loss_at_target', 'info', reportsOf(losses), text)];
}

function rateLimited(traces: readonly Trace[]): readonly Found[] {
  const limited = traces.flatMap((trace) => {
    const clean = trace.steps
      .slice(0, targetIndex(trace)! + 1)
      .findLastIndex((step) => step.lost === 0 && step.sent > 0);
    return trace.steps
      .slice(0, Math.max(0, clean))
      .filter((step) => !isSilent(step) && step.lost > 0)
      .map((step) => ({ trace, step }));
  });
  if (limited.length === 0) return [];
  const where = unique(limited.map(({ step }) => stepText(step)));
  const reports = reportsOf(limited);
  const routers = where.length === 1 ? 'One router does' : `${where.length} routers do`;
  const text = `${routers} not answer every packet of ${naming(reports)}, and hops beyond answer all: ${listed(where, 3)}. That is no loss of what they pass on.`;
  return [found('rate_limited_hop', 'info', reports, text)];
}

function byPlace(losses: readonly Loss[]): readonly (readonly Loss[])[] {
  const groups = groupBy(
    losses.map(({ trace }) => trace.report),
    (report) => placeKey(losses.find(({ trace }) => trace.report === report)!.begin),
  );
  return groups.map(([, reports]) => losses.filter(({ trace }) => reports.includes(trace.report)));
}

function lostOf(losses: readonly Loss[]): number {
  return losses.reduce((sum, { end }) => sum + end.lost, 0);
}

function sharesOf(losses: readonly Loss[]): string {
  const values = losses.map(({ trace, end }) => `${trace.report.probe} loses ${percent(end.lost / end.sent)}`);
  return listed(values);
}

function reportsOf(of: readonly { readonly trace: Trace }[]): readonly TraceReport[] {
  const reports = new Set(of.map(({ trace }) => trace.report));
  return [...reports].toSorted((a, b) => byText(a.probe, b.probe));
}
