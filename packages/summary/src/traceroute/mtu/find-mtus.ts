import { buildFinding, type FindingDraft } from '../../finding.ts';
import { thresholds } from '../../thresholds.ts';
import { listed, unique } from '../../words.ts';
import { stepText, type Trace } from '../trace.ts';

/**
 * Findings about packet sizes. The search sends echo requests: a filter for large ones looks like a path that drops large
 * packets, unless larger packets of the trace itself reached the target.
 */
export function findMtus(traces: readonly Trace[]): readonly FindingDraft[] {
  return [...blackHoles(traces), ...smallMtus(traces)];
}

function blackHoles(traces: readonly Trace[]): readonly FindingDraft[] {
  const holes = traces.filter(({ probeResult }) => typeof probeResult.result.mtuBlackHole === 'number');
  const isPassed = (trace: Trace): boolean => arrivedFrom(trace, holeOf(trace)!) !== undefined;
  const [passed, others] = [holes.filter(isPassed), holes.filter((trace) => !isPassed(trace))];
  return [
    ...(others.length > 0 ? [blackHole(others)] : []),
    // Packets of another protocol show that the path carries this size.
    ...(passed.length > 0 ? [echoFilter(passed)] : []),
  ];
}

function blackHole(holes: readonly Trace[]): FindingDraft {
  const text = `Large echo requests vanish on the way without an ICMP error, and small ones are answered: ${sizesOf(holes)}. If it concerns other packets, too, connections that send full packets hang there; a filter for large pings looks the same.`;
  return buildFinding('path_mtu_black_hole', 'warning', resultsOf(holes), text, 'large pings vanish on the way');
}

function echoFilter(holes: readonly Trace[]): FindingDraft {
  const arrived = unique(holes.map((trace) => arrivedFrom(trace, holeOf(trace)!)!));
  const text = `Large echo requests vanish on the way without an ICMP error, and small ones are answered: ${sizesOf(holes)}. ${listed(arrived)} arrive: a filter drops large pings, or other packets take another way.`;
  return buildFinding('path_mtu_black_hole', 'info', resultsOf(holes), text);
}

function sizesOf(holes: readonly Trace[]): string {
  return listed(holes.map((trace) => `${trace.probeResult.probe} from ${holeOf(trace)} bytes on`));
}

function holeOf({ probeResult }: Trace): number | null | undefined {
  return probeResult.result.mtuBlackHole;
}

function smallMtus(traces: readonly Trace[]): readonly FindingDraft[] {
  const { ordinary, ipv6Minimum } = thresholds.mtu;
  const small = traces.filter((trace) => (reportedMtu(trace) ?? ordinary) < ordinary);
  if (small.length === 0) return [];
  const least = Math.min(...small.map((trace) => reportedMtu(trace)!));
  const values = listed(
    small.map((trace) => `${trace.probeResult.probe} ${reportedMtu(trace)} bytes${reporterText(trace)}`),
  );
  const arrived = unique(small.flatMap((trace) => arrivedFrom(trace, reportedMtu(trace)! + 1) ?? []));
  const others = arrived.length === 0 ? '' : ` ${listed(arrived)} arrive all the same: they may take another way.`;
  const text = `Echo requests of less than ${ordinary.toLocaleString('en')} bytes only fit the path, as a router or the probe’s link reports: ${values}.${others}`;
  const isWarning = least < ipv6Minimum && arrived.length === 0;
  return [buildFinding('path_mtu_small', isWarning ? 'warning' : 'info', resultsOf(small), text)];
}

/** The path MTU, unless it is only the size up to which packets do not vanish, which the black hole says. */
function reportedMtu({ probeResult: { result } }: Trace): number | undefined {
  const { pathMtu, mtuBlackHole } = result;
  return typeof pathMtu !== 'number' || mtuBlackHole === pathMtu + 1 ? undefined : pathMtu;
}

/** The nearest router that reported the path MTU; empty if none of a hop did. */
function reporterText(trace: Trace): string {
  const { hops = [] } = trace.probeResult.result;
  const reporter = hops.find(({ nextMtu }) => nextMtu !== undefined && nextMtu === reportedMtu(trace));
  const step = trace.steps.find(({ hop }) => hop === reporter?.hop);
  return step === undefined ? '' : `, behind ${stepText(step)}`;
}

/** `UDP packets of 1,500 bytes`, if the trace reached the target with packets of at least this size. */
function arrivedFrom({ probeResult: { result }, isReached }: Trace, bytes: number): string | undefined {
  const { size, protocol = 'icmp' } = result;
  if (!isReached || typeof size !== 'number' || size < bytes) return undefined;
  return `${protocol.toUpperCase()} packets of ${size.toLocaleString('en')} bytes`;
}

function resultsOf(traces: readonly Trace[]): readonly Trace['probeResult'][] {
  return traces.map(({ probeResult }) => probeResult);
}
