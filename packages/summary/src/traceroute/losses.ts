import { found, type Found } from '../finding.ts';
import { chanceOfMore } from './chance.ts';
import { thresholds } from '../thresholds.ts';
import { byText, groupBy, type ResultOf } from '../report.ts';
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
  const steps = countedSteps(trace);
  const end = steps[last]!;
  if (end.lost === 0) return undefined;
  let begin = end;
  for (const step of steps.slice(0, last).toReversed()) {
    // One that never answers says nothing of what it passes on.
    if (isSilent(step)) continue;
    if (step.lost === 0) break;
    begin = step;
  }
  const carried = steps.slice(steps.indexOf(begin), last + 1);
  return { trace, begin: isLimited(trace, carried) ? end : begin, end };
}

/** The hops with the packets of those flows alone that reach the target: what others lose is another path. */
function countedSteps(trace: Trace): readonly Step[] {
  const { steps, ways } = trace;
  const last = targetIndex(trace);
  const reaching = ways.filter((way) => way.isReached);
  if (reaching.length === 0) return steps;
  return steps.map((step, index) => {
    const all = reaching.flatMap((way) => way.steps[index] ?? []);
    // A router that never answers loses nothing of what the others of its hop pass on.
    const answering = all.filter((one) => !isSilent(one));
    const own = index === last || answering.length === 0 ? all : answering;
    const sum = (count: (one: Step) => number): number => own.reduce((total, one) => total + count(one), 0);
    return { ...step, sent: sum(({ sent }) => sent), lost: sum(({ lost }) => lost) };
  });
}

/**
 * Whether each of the hops answered the first packets and none after them, as hosts and routers do that limit their ICMP
 * errors. Of a target only those answer, where datagrams are sent.
 */
function isLimited({ report }: Trace, steps: readonly Step[]): boolean {
  return report.result.protocol === 'udp' && steps.every(({ hop }) => isCutShort(report.result.hops ?? [], hop));
}

function isCutShort(hops: NonNullable<ResultOf<'traceroute'>['hops']>, hop: number): boolean {
  const rtts = hops.find((one) => one.hop === hop)?.rtts ?? [];
  const firstLost = rtts.indexOf(null);
  return firstLost === -1 || firstLost > rtts.findLastIndex((rtt) => rtt !== null);
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
    const steps = countedSteps(trace).slice(0, targetIndex(trace)! + 1);
    return steps.flatMap((step, index) => {
      const beyond = steps.slice(index + 1).filter((one) => !isSilent(one));
      const passedOn = { sent: sumOf(beyond, 'sent'), lost: sumOf(beyond, 'lost') };
      // A few packets prove nothing: with real loss some hop beyond may have answered all of them by chance.
      const isProved = step.lost > 0 && chanceOfMore(step, passedOn) <= thresholds.lossByChance;
      return !isSilent(step) && isProved ? [{ trace, step }] : [];
    });
  });
  if (limited.length === 0) return [];
  const where = unique(limited.map(({ step }) => stepText(step)));
  const reports = reportsOf(limited);
  const routers = where.length === 1 ? 'One router does' : `${where.length} routers do`;
  const text = `${routers} not answer every packet of ${naming(reports)}, and more packets than that come back from the hops beyond: ${listed(where, 3)}. That is no loss of what they pass on.`;
  return [found('rate_limited_hop', 'info', reports, text)];
}

function byPlace(losses: readonly Loss[]): readonly (readonly Loss[])[] {
  const groups = groupBy(
    losses.map(({ trace }) => trace.report),
    (report) => placeKey(losses.find(({ trace }) => trace.report === report)!.begin),
  );
  return groups.map(([, reports]) => losses.filter(({ trace }) => reports.includes(trace.report)));
}

function sumOf(steps: readonly Step[], what: 'sent' | 'lost'): number {
  return steps.reduce((sum, step) => sum + step[what], 0);
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
