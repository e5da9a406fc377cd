import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { observeTrace, type ObservedTrace } from './observed-trace.ts';
import { isSample, soundAnswer } from './truth.ts';

/**
 * Complains if the loss at the target over all probes is no plausible sample of the share lost according to the log.
 */
export function verifyLoss(traces: readonly ObservedTrace[]): readonly Complaint[] {
  const { places, scenario } = traces[0]!.of;
  // If a place drops or refuses some packets, the fate of one implies nothing about the others.
  const isMixed = places.some(({ hole, refuse }) => hole === true || refuse !== undefined);
  // With a rate limit the first packets are answered and later ones are not: no random sample.
  const isLimited = places.at(-1)!.limit !== undefined;
  if (isMixed || isLimited || scenario.truth?.isUnsteady === true) return [];
  const { lost, of, trueShare } = targetLoss(traces);
  if (isSample(lost, of, trueShare)) return [];
  return [{ kind: 'loss', text: `the target's hop lost ${lost} of ${of}, in truth ${Math.round(trueShare * 100)} %` }];
}

/** Reported and true loss at the target. */
function targetLoss(traces: readonly ObservedTrace[]): {
  readonly lost: number;
  readonly of: number;
  readonly trueShare: number;
} {
  let [lost, of, trulyLost, trulyOf] = [0, 0, 0, 0];
  for (const { traced, own, firstEnd, of: one } of traces) {
    const isTarget = ({ ip }: { readonly ip: string | null }): boolean =>
      one.places.at(-1)!.addresses.includes(ip ?? '');
    const row = traced.hops?.find(({ hop, responders }) => hop >= firstEnd && responders.some(isTarget));
    if (row === undefined) continue;
    const pool = own.filter(({ ttl }) => ttl >= row.hop);
    // In truth, an answer that came after the end of the check is no loss.
    of += row.rtts.length;
    lost += row.rtts.filter((rtt) => rtt === null).length;
    trulyOf += pool.length;
    trulyLost += pool.filter((passage) => soundAnswer(passage) === undefined).length;
  }
  return { lost, of, trueShare: trulyOf === 0 ? 0 : trulyLost / trulyOf };
}

export function targetLossOf(runs: readonly CaseRun[]): ReturnType<typeof targetLoss> {
  return targetLoss(runs.flatMap(({ of, shares }) => shares.map((share) => observeTrace(of, share))));
}
