import { buildFinding, type FindingDraft } from './finding.ts';
import { ofType, type ProbeResult } from './probe-result.ts';
import { countOf, listed, ms } from './words.ts';

/** Types whose results leave out packets that a stall makes doubtful. */
const OF_PACKETS: ReadonlySet<string> = new Set(['ping', 'traceroute']);

/**
 * True if the probe stalled during the check, so that times of the result may include the stall; never for
 * `OF_PACKETS`.
 */
export function hasDoubtfulTimes(type: string, { result }: ProbeResult): boolean {
  return !OF_PACKETS.has(type) && result.stalled !== undefined;
}

/** Stalls shorter than this make measured times longer, but do not explain silence for seconds. */
const LEAST_SILENT_MS = 1_000;

/** True if the probe may have missed answers, so that their absence proves nothing. */
export function hasDoubtfulSilence(type: string, probeResult: ProbeResult): boolean {
  return hasDoubtfulTimes(type, probeResult) && (probeResult.result.stalled ?? 0) >= LEAST_SILENT_MS;
}

/** Findings: probes stalled during the check, or did not send. */
export function findStalled(type: string, all: readonly ProbeResult[]): readonly FindingDraft[] {
  return [...findStoodStill(type, all), ...findUnsent(type, all)];
}

/** Finding: probes that did not stall could not send packets for some time. */
function findUnsent(type: string, all: readonly ProbeResult[]): readonly FindingDraft[] {
  const unsent = all.filter(({ result }) => longest(result) === 0 && leftOut(type, { result }) !== '');
  if (unsent.length === 0) return [];
  const values = unsent.map((probeResult) => `${probeResult.probe}${leftOut(type, probeResult)}`);
  const text = `Some packets may not have left the probe, as it had no route, or no next hop that answers: ${listed(values)}. They count neither as sent nor as lost.`;
  return [buildFinding('probe_stalled', 'info', unsent, text)];
}

function findStoodStill(type: string, all: readonly ProbeResult[]): readonly FindingDraft[] {
  const stalled = all.filter(({ result }) => longest(result) > 0);
  if (stalled.length === 0) return [];
  const values = stalled.map(
    (probeResult) => `${probeResult.probe} ${ms(longest(probeResult.result))}${leftOut(type, probeResult)}`,
  );
  const isOne = stalled.length === 1;
  const effect = OF_PACKETS.has(type)
    ? 'Packets that did not leave, or whose answers may be unread, count neither as sent nor as lost.'
    : 'Times that were measured meanwhile prove nothing.';
  const text = `${isOne ? 'A probe' : 'Probes'} stood still during the check: ${listed(values)}. ${effect}`;
  return [buildFinding('probe_stalled', 'info', stalled, text)];
}

function longest(result: ProbeResult['result']): number {
  const { otherFamily } = ofType<'ping'>([{ result } as ProbeResult])[0]!.result;
  return Math.max(result.stalled ?? 0, otherFamily?.stalled ?? 0);
}

function leftOut(type: string, { result }: Pick<ProbeResult, 'result'>): string {
  const { roundsLeftOut = 0, packetsLeftOut = 0 } = result as {
    readonly roundsLeftOut?: number;
    readonly packetsLeftOut?: number;
  };
  const [count, unit] = type === 'traceroute' ? [roundsLeftOut, 'round'] : [packetsLeftOut, 'packet'];
  return count === 0 ? '' : ` (${countOf(count, unit)} left out)`;
}
