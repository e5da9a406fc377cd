import { buildFinding, type FindingDraft } from '../../finding.ts';
import { thresholds } from '../../thresholds.ts';
import { listed, unique } from '../../words.ts';
import { stepText, type Trace } from '../trace.ts';

/**
 * Findings about packet sizes. The search sends echo requests: a filter for large ones looks like a path that drops
 * large packets, unless packets of the trace’s own protocol show more.
 */
export function findMtus(traces: readonly Trace[]): readonly FindingDraft[] {
  return [...blackHoles(traces), ...smallMtus(traces)];
}

export interface BlackHole {
  readonly text: string;
  /** True if echo requests and packets of the trace’s protocol vanish. */
  readonly isCertain: boolean;
}

/**
 * Black holes for large packets, without those that only SYNs with data show, and those in which echo requests vanish
 * while packets of the trace’s protocol arrive.
 */
export function blackHolesOf(traces: readonly Trace[]): readonly BlackHole[] {
  const certain = new Set(resultsOf(traces.filter(isHoleOfBoth)).map(({ probe }) => probe));
  return blackHoles(traces)
    .filter(({ severity }) => severity === 'warning')
    .map(({ text, probes }) => ({ text, isCertain: probes.every((probe) => certain.has(probe)) }));
}

const isHoleOfBoth = (trace: Trace): boolean => typeof holeOf(trace) === 'number' && ownLost(trace) !== undefined;

function blackHoles(traces: readonly Trace[]): readonly FindingDraft[] {
  const holes = traces.filter((trace) => typeof holeOf(trace) === 'number');
  const passed = holes.filter((trace) => passedBy(trace) !== undefined);
  const both = holes.filter(isHoleOfBoth);
  const unknown = holes.filter((trace) => !passed.includes(trace) && !both.includes(trace));
  const own = traces.filter((trace) => !holes.includes(trace) && ownLost(trace) !== undefined);
  return [
    ...(both.length > 0 ? [blackHole(both)] : []),
    ...(unknown.length > 0 ? [echoHole(unknown)] : []),
    ...(own.length > 0 ? [ownHole(own)] : []),
    // Packets of the trace arrived although echo requests vanish.
    ...(passed.length > 0 ? [echoFilter(passed)] : []),
  ];
}

/** Finding: large echo requests and large packets of the trace’s protocol vanish. */
function blackHole(holes: readonly Trace[]): FindingDraft {
  const lost = listed(unique(holes.map((trace) => ownLost(trace)!)));
  const text = `Large packets vanish on the way without an ICMP error, and small ones are answered: echo requests of ${sizesOf(holes)}, and ${lost}. Connections that send full packets hang there.`;
  return buildFinding('path_mtu_black_hole', 'warning', resultsOf(holes), text, 'large packets vanish on the way');
}

/** Finding: large echo requests get no answer, and nothing is known of other packets. */
function echoHole(holes: readonly Trace[]): FindingDraft {
  const text = `${ECHO_HOLE}: ${sizesOf(holes)}. They vanish on the way, or their answers, which are as large, on the way back: if other packets do so, too, connections that send full packets hang there. A filter for large pings looks the same.`;
  return buildFinding('path_mtu_black_hole', 'warning', resultsOf(holes), text, 'large pings get no answer');
}

/** Finding: large packets of the trace’s protocol vanish, and the search by echo requests found no black hole. */
function ownHole(holes: readonly Trace[]): FindingDraft {
  const lost = listed(unique(holes.map((trace) => ownLost(trace)!)));
  const isTcp = holes.every(({ probeResult }) => probeResult.result.protocol === 'tcp');
  const isEchoed = holes.every(({ probeResult: { result } }) => (result.pathMtu ?? 0) >= result.fullSize!.bytes);
  const echoes = isEchoed ? ' Echo requests of this size arrive:' : ' Echo requests show nothing of it:';
  const reason = isTcp
    ? 'a filter drops SYNs with data, which connections do not send, or TCP takes another way, where those that send full packets hang'
    : `a filter drops large UDP packets, or they take another way, which drops full packets`;
  const text = `${lost} vanish on the way without an ICMP error, and small ones are answered: ${listed(resultsOf(holes).map(({ probe }) => probe))}.${echoes} ${reason}.`;
  const brief = isTcp ? undefined : 'large UDP packets vanish on the way';
  return buildFinding('path_mtu_black_hole', isTcp ? 'info' : 'warning', resultsOf(holes), text, brief);
}

/** An echo reply is as large as its request, so either of them may be the packet that vanishes. */
const ECHO_HOLE = 'Large echo requests get neither an answer nor an ICMP error, and small ones are answered';

/**
 * Finding: large echo requests get no answer, and large packets of the trace arrive. The answers to the latter are
 * small: nothing shows that large packets pass on the return path.
 */
function echoFilter(holes: readonly Trace[]): FindingDraft {
  const arrived = unique(holes.map((trace) => passedBy(trace)!));
  const text = `${ECHO_HOLE}: ${sizesOf(holes)}. ${listed(arrived)}: a filter drops large pings, other packets take another way, or the answers, which are as large, vanish on the way back, where full packets of the target do then, too.`;
  return buildFinding('path_mtu_black_hole', 'info', resultsOf(holes), text);
}

/**
 * Clause: packets of the trace arrive in sizes in which echo requests vanish, or larger ones get an error; undefined if
 * neither is known.
 */
function passedBy(trace: Trace): string | undefined {
  const { protocol = 'icmp', fullSize } = trace.probeResult.result;
  const arrived = arrivedFrom(trace, holeOf(trace)!);
  if (arrived !== undefined) return `${arrived} arrive`;
  if (fullSize?.arrives !== true) return undefined;
  // These packets are smaller than those that vanish. Larger ones got the ICMP error of a router, so they do not
  // vanish.
  return `${protocol.toUpperCase()} packets of ${bytesText(fullSize.bytes)} arrive, and larger ones get an ICMP error`;
}

/** `UDP packets of 1,500 bytes`, if those of this size vanish. */
function ownLost({ probeResult: { result } }: Trace): string | undefined {
  const { protocol = 'icmp', fullSize } = result;
  if (fullSize?.arrives !== false) return undefined;
  return protocol === 'tcp' ? `SYNs of ${bytesText(fullSize.bytes)}` : `UDP packets of ${bytesText(fullSize.bytes)}`;
}

function bytesText(bytes: number): string {
  return `${bytes.toLocaleString('en')} bytes`;
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
  const alike = [...Map.groupBy(small, (trace) => `${reportedMtu(trace)} bytes${reporterText(trace)}`)];
  const values = listed(alike.map(([text, own]) => `${listed(resultsOf(own).map(({ probe }) => probe))} ${text}`));
  const arrived = unique(small.flatMap((trace) => arrivedFrom(trace, reportedMtu(trace)! + 1) ?? []));
  const others = arrived.length === 0 ? '' : ` ${listed(arrived)} arrive all the same: they may take another way.`;
  // The MTU may have been reported about a packet of the trace’s own protocol instead of an echo request.
  const isOwn = small.some(({ probeResult: { result } }) => result.fullSize?.bytes === result.pathMtu);
  const packets = isOwn ? 'Packets' : 'Echo requests';
  const text = `${packets} of less than ${bytesText(ordinary)} only fit the path, as a router or the probe’s link reports: ${values}.${others}`;
  const isWarning = least < ipv6Minimum && arrived.length === 0;
  return [buildFinding('path_mtu_small', isWarning ? 'warning' : 'info', resultsOf(small), text)];
}

/** The path MTU; undefined if there is none, or if it is one byte below a black hole, which has a separate finding. */
function reportedMtu({ probeResult: { result } }: Trace): number | undefined {
  const { pathMtu, mtuBlackHole } = result;
  return typeof pathMtu !== 'number' || mtuBlackHole === pathMtu + 1 ? undefined : pathMtu;
}

/**
 * Clause with the nearest router that reported the path MTU, or only with its hop if an older agent does not report
 * which of several routers it was; empty if none did.
 */
function reporterText(trace: Trace): string {
  const { hops = [] } = trace.probeResult.result;
  const isReporter = ({ nextMtu }: { readonly nextMtu?: number }): boolean =>
    nextMtu !== undefined && nextMtu === reportedMtu(trace);
  const place = hops.find(isReporter);
  const step = trace.steps.find(({ hop }) => hop === place?.hop);
  if (place === undefined || step === undefined) return '';
  const router = place.responders.find(isReporter);
  const routers = router === undefined ? step.routers : step.routers.filter(({ ip }) => ip === router.ip);
  return `, behind ${routers.length > 1 ? `hop ${step.hop}` : stepText({ ...step, routers })}`;
}

/** `UDP packets of 1,500 bytes`, if packets of at least this size reached the target. */
function arrivedFrom({ probeResult: { result }, isReached }: Trace, bytes: number): string | undefined {
  const { size, protocol = 'icmp', fullSize } = result;
  const arrived = fullSize?.arrives === true ? fullSize.bytes : isReached ? (size ?? 0) : 0;
  return arrived < bytes ? undefined : `${protocol.toUpperCase()} packets of ${bytesText(arrived)}`;
}

function resultsOf(traces: readonly Trace[]): readonly Trace['probeResult'][] {
  return traces.map(({ probeResult }) => probeResult);
}
