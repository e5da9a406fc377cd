import { thresholds } from '../thresholds.ts';
import { buildFinding, type FindingDraft } from '../finding.ts';
import { listed } from '../words.ts';
import type { Sample } from './chance.ts';
import { countedSteps } from './counted-steps.ts';
import { outageOf } from './rounds/outage.ts';
import { withoutPause } from './rounds/pause.ts';
import { targetIndex, type Trace } from './trace.ts';

/**
 * Packets to the target a second or more apart, which the usual limits of answers leave alone; undefined without any.
 * Those of `rounds` are without the first one, which belongs to a trace.
 */
function spacedOf(trace: Trace): Sample | undefined {
  const { spaced, rounds = 1, hops = [] } = trace.probeResult.result;
  if (spaced !== undefined) return { sent: spaced.sent, lost: Math.max(0, spaced.sent - spaced.received) };
  const index = targetIndex(trace);
  if (rounds < 2 || index === undefined) return undefined;
  const { hop, lost } = countedSteps(trace)[index]!;
  const rtts = (hops.find((one) => one.hop === hop)?.rtts ?? []).slice(1);
  return { sent: rtts.length, lost: Math.min(lost, rtts.filter((rtt) => rtt === null).length) };
}

/**
 * The traces whose spaced packets prove loss on the way to the target. Some routers answer `udpPerSecond` datagrams a
 * second in all: those of more probes prove nothing.
 */
export function lossyWhenSpaced(traces: readonly Trace[]): readonly Trace[] {
  const { lostPackets, udpPerSecond } = thresholds;
  const counted = traces.map((trace) => withoutPause(trace, traces.length));
  const asked = counted.filter(
    (trace) => trace.isFinal && trace.isReached && outageOf(trace) === undefined && spacedOf(trace) !== undefined,
  );
  const isUdp = ({ probeResult }: Trace): boolean => probeResult.result.protocol === 'udp';
  const isShared = asked.filter(isUdp).length > udpPerSecond;
  return asked.filter((trace) => spacedOf(trace)!.lost >= lostPackets && !(isShared && isUdp(trace)));
}

/** Finding: loss that spaced packets prove, at no known place. */
export function findSpacedLoss(proved: readonly Trace[]): readonly FindingDraft[] {
  if (proved.length === 0) return [];
  const shares = listed(
    proved.map((trace) => {
      const { sent, lost } = spacedOf(trace)!;
      return `${trace.probeResult.probe} lost ${lost} of ${sent}`;
    }),
  );
  const text = `Packets to the target are lost: of those a second or more apart ${shares}, which the usual limits of answers do not explain. Where they are lost is not proved.`;
  const results = proved.map(({ probeResult }) => probeResult);
  return [buildFinding('loss_at_target', 'warning', results, text, `packets to it are lost: ${shares}`)];
}
