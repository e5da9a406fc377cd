import { pause } from '@vantage/timers';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import { rtOf } from '../hops/target-answers.ts';
import { MAX_GROUPS, type SpacedGroups } from '../options/spaced-results.ts';
import type { Trace } from '../probing/trace-state.ts';
import { countsAtTarget, isDoubtful } from '../hops/doubt.ts';
import { GroupSender, type RepeatedPacket, type SpacedFlows } from './group-sender.ts';
import { areLost, isClean, isLimited, isProved } from './groups.ts';

/**
 * After this number of groups, at most one of which is not settled, no more are sent if every packet of the settled
 * ones was answered.
 */
const CLEAN_GROUPS = 6;
/** Time between two groups: more than a second, because common rate limits allow one answer a second. */
const EVERY_MS = 1_100;
/** Time between two single SYNs, which together count as a group. */
const SYN_EVERY_MS = EVERY_MS / 2;
/**
 * Wait before the first group if the target answered less than half of the packets: it may apply one rate limit to all
 * probes together, whose traces then have time to end.
 */
const AFTER_OTHERS_MS = 7_000;
const [MIN_WAIT_MS, MAX_WAIT_MS, WAIT_RTTS] = [2_000, 4_000, 3] as const;

interface Options extends Pick<DiagnosticContext, 'signal' | 'abandoned' | 'remainingMs'> {
  readonly maxPackets: number;
  /**
   * True after a search for all paths, in which all packets that can reach the target count, not only those at its hop.
   */
  readonly isOfAllFlows: boolean;
}

/**
 * Sends the target groups of packets, more than a second apart, in a flow that reached it; if its port accepts
 * connections, single SYNs, `SYN_EVERY_MS` apart. The packets of a group leave together: a rate limit answers the first
 * of them, so if a later one alone is answered, the earlier one was lost.
 *
 * @param flows those of the trace, which has ended: the socket of one flow is used
 * @returns null if the trace gives no reason to suspect loss, if answers do not show which packet they answer, after an
 *   abort, if the answers prove nothing (`GroupSender.settled`), and if no group can be evaluated
 */
export async function sendSpaced(
  trace: Trace,
  flows: SpacedFlows,
  { maxPackets, isOfAllFlows, signal, abandoned, remainingMs }: Options,
): Promise<SpacedGroups | null> {
  const asked = trace.packets.findLast(({ answer }) => answer?.kind === 'target');
  if (asked === undefined || !isDoubtful(trace, isOfAllFlows) || hasNoNumbers(flows, asked)) return null;
  const awaitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (rtOf(trace) ?? 0) * WAIT_RTTS));
  const sender = new GroupSender(trace, flows, asked, awaitMs, signal);
  const isEnough = (): boolean => {
    const groups = sender.counted();
    const [enough, clean] = sender.areHandshakes()
      ? [areLost(groups), isClean(groups, 2 * CLEAN_GROUPS - 1)]
      : [isProved(groups) || isLimited(groups), isClean(groups, CLEAN_GROUPS - 1)];
    return enough || (sender.groups() >= CLEAN_GROUPS && clean);
  };
  const { answered, lost } = countsAtTarget(trace, isOfAllFlows);
  if (answered < lost) await pause(AFTER_OTHERS_MS, signal);
  while (sender.groups() < MAX_GROUPS && sender.sent() + sender.nextSize() <= maxPackets) {
    // There is a pause before the first group too: the last packets of the trace may have used up the rate limit of the
    // target.
    await pause(sender.nextSize() === 1 ? SYN_EVERY_MS : EVERY_MS, signal);
    if (signal.aborted || abandoned?.aborted === true || remainingMs() < awaitMs) break;
    await sender.poll();
    if (isEnough()) break;
    sender.send();
  }
  const isKnown = await sender.settled();
  if (signal.aborted || !isKnown) return null;
  const { groups, reordered } = sender.counted();
  if (groups.length === 0) return null;
  const packets = groups.flat();
  return {
    sent: packets.length,
    received: packets.filter((rtt) => rtt !== null).length,
    groups: sender.areHandshakes() ? pairsOf(packets) : groups,
    ...(reordered > 0 && { reordered }),
    ...(sender.areHandshakes() && { handshakes: true }),
  };
}

function pairsOf<T>(all: readonly T[]): T[][] {
  return all.flatMap((_, index) => (index % 2 === 0 ? [all.slice(index, index + 2)] : []));
}

/** The answer of a UDP service does not reveal which datagram it answers. */
function hasNoNumbers({ protocol }: SpacedFlows, { answer }: RepeatedPacket): boolean {
  return protocol === 'udp' && answer?.error === null;
}
