import type { LookUpPlace } from '@vantage/contract';

import { found, type Found } from '../finding.ts';
import { groupBy } from '../report.ts';
import { thresholds } from '../thresholds.ts';
import { asText, listed, naming, shown, unique } from '../words.ts';
import { isSilent, placeKey, stepText, type Step, type Trace, type TraceReport } from './trace.ts';

export function findEnds(traces: readonly Trace[], placeOf: LookUpPlace | undefined): readonly Found[] {
  return [...loops(traces), ...refusals(traces), ...stops(traces, placeOf), ...mtus(traces)];
}

/** The routers of the circle, in the order in which they are passed. */
export function circleOf({ steps, report }: Trace): readonly Step[] {
  const { loop } = report.result;
  if (loop === null || loop === undefined) return [];
  return steps.filter(({ hop }) => hop >= loop.start && hop < loop.start + loop.length);
}

/** The last hop that answered. */
export function lastAnswer({ steps }: Trace): Step | undefined {
  return steps.findLast((step) => !isSilent(step));
}

export function reasonOf(trace: Trace): 'reached' | 'loop' | 'refused' | 'silent' | 'pending' {
  if (trace.isReached) return 'reached';
  if (!trace.isFinal) return 'pending';
  if (trace.report.result.loop !== null && trace.report.result.loop !== undefined) return 'loop';
  const last = lastAnswer(trace);
  return last?.mark === null || last === undefined ? 'silent' : 'refused';
}

function loops(traces: readonly Trace[]): readonly Found[] {
  const looping = traces.filter((trace) => reasonOf(trace) === 'loop');
  return grouped(looping, (trace) => unique(circleOf(trace).map(placeOrPosition)).join(' ')).map((own) => {
    const circle = circleOf(own[0]!);
    const routers = circle.map(({ hop, routers: [router] }) =>
      router === undefined ? `hop ${hop}` : shown(router.ip),
    );
    const networks = unique(circle.flatMap(({ routers: [router] }) => asText(router?.asn, router?.asName) ?? []));
    const where = networks.length === 0 ? '' : `, in ${listed(networks, 3)}`;
    const text = `Packets of ${naming(reports(own))} go round in a circle of ${listed(routers, 6)}${where}: the routers there disagree about the way.`;
    return found('routing_loop', 'critical', reports(own), text, 'packets go round in a circle');
  });
}

function placeOrPosition({ hop, routers: [router] }: Step): string {
  return router?.ip ?? `hop ${hop}`;
}

/** What `traceroute` prints behind a hop. */
const marks: ReadonlyMap<string, string> = new Map([
  ['!H', 'the host is unreachable'],
  ['!N', 'the network is unreachable'],
  ['!P', 'the protocol is unreachable'],
  ['!X', 'a filter forbids the traffic'],
  ['!F', 'the packets are too big'],
  ['!S', 'the source route failed'],
  ['!V', 'the host is forbidden by precedence'],
  ['!C', 'the precedence is too low'],
]);

function refusals(traces: readonly Trace[]): readonly Found[] {
  const refused = traces.filter((trace) => reasonOf(trace) === 'refused');
  return grouped(refused, (trace) => `${placeKey(lastAnswer(trace)!)} ${lastAnswer(trace)!.mark}`).map((own) => {
    const last = lastAnswer(own[0]!)!;
    const meaning = marks.get(last.mark!) ?? 'the packets go no further';
    const where = unique(own.map((trace) => stepText(lastAnswer(trace)!)));
    const text = `A router said that ${meaning} (${shown(last.mark!, 16)}) to packets of ${naming(reports(own))}: ${listed(where, 3)}.`;
    return found('path_refused', 'warning', reports(own), text, `the path ends at ${stepText(last)}`);
  });
}

function stops(traces: readonly Trace[], placeOf: LookUpPlace | undefined): readonly Found[] {
  const silent = traces.filter((trace) => reasonOf(trace) === 'silent');
  const keyOf = (trace: Trace): string => {
    const last = lastAnswer(trace);
    return last === undefined ? '' : placeKey(last);
  };
  return grouped(silent, keyOf).map((own) => {
    const who = naming(reports(own));
    const last = lastAnswer(own[0]!);
    if (last === undefined) {
      const text = `No hop answered on the way from ${who}: the network of the probe may drop such packets.`;
      return found('path_stops', 'warning', reports(own), text);
    }
    const where = unique(own.map((trace) => stepText(lastAnswer(trace)!)));
    const asn = last.routers[0]?.asn ?? null;
    const isOwnNetwork = own.some(({ target }) => asn !== null && target !== null && placeOf?.(target).asn === asn);
    const note = isOwnNetwork ? ' That is the target’s own network: a filter there may drop what a trace sends.' : '';
    const text = `Nothing answers beyond ${listed(where, 3)}, on the way from ${who}.${note}`;
    return found('path_stops', 'warning', reports(own), text, `the path ends at ${stepText(last)}`);
  });
}

function mtus(traces: readonly Trace[]): readonly Found[] {
  const { ordinary, ipv6Minimum } = thresholds.mtu;
  const small = traces.filter(({ report }) => (report.result.pathMtu ?? ordinary) < ordinary);
  if (small.length === 0) return [];
  const least = Math.min(...small.map(({ report }) => report.result.pathMtu!));
  const values = listed(small.map(({ report }) => `${report.probe} ${report.result.pathMtu} bytes`));
  const text = `The path carries packets of less than ${ordinary.toLocaleString('en')} bytes only: ${values}.`;
  return [found('path_mtu_small', least < ipv6Minimum ? 'warning' : 'info', reports(small), text)];
}

function reports(traces: readonly Trace[]): readonly TraceReport[] {
  return traces.map(({ report }) => report);
}

function grouped(traces: readonly Trace[], keyOf: (trace: Trace) => string): readonly (readonly Trace[])[] {
  const byReport = new Map(traces.map((trace) => [trace.report, trace]));
  return groupBy(reports(traces), (report) => keyOf(byReport.get(report)!)).map(([, own]) =>
    own.map((report) => byReport.get(report)!),
  );
}
