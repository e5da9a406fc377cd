import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../diagnostic.ts';
import type { PacketSockets } from '../../sockets/packet-socket.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import { MAX_MTU_PACKETS, type traceroute } from './contract.ts';
import type { TraceOptions } from './trace-options.ts';
import { targetAnswers } from './hops/target-answers.ts';
import type { mtuSearch } from './mtu/mtu-search.ts';
import { isDoubtfulInSearch } from './hops/doubt.ts';
import { searchPaths } from './multipath/search.ts';
import { MAX_SPACED_PACKETS, msAfter, TRACE_MS } from './options/spaced-results.ts';
import type { OpenFlows, openFlows } from './probing/open-flows.ts';
import type { joinTraces } from './probing/other-traces.ts';
import { noteNewAddress, type OwnAddress } from './probing/own/own-address.ts';
import { ECHO_REQUESTS } from './probing/port-filter.ts';
import { runProbeLoop } from './probing/probe-loop.ts';
import type { ProbeLoopFlow, ProbeLoopPlan } from './probing/plan.ts';
import { viewsOf } from './probing/rounds/views-of.ts';
import { ROUND_MS, runRounds } from './probing/rounds/rounds.ts';
import type { Trace } from './probing/trace-state.ts';
import { dropLeftOut, type TracePacket } from './probing/trace.ts';
import { noteUnsent } from './probing/own/unsent-packets.ts';
import { MAX_WAIT_MS } from './probing/waits.ts';

/** Longest wait for PTR lookups after the trace. */
export const NAMES_MS = 1_500;
/** Time before the deadline that is left for the result to arrive. */
export const RESERVE_MS = 500;

export interface TracePlan extends ProbeLoopPlan, OwnAddress {
  readonly flows: ProbeLoopFlow[];
  readonly caughtUp: OwnAddress['caughtUp'];
  /** Time that is left for packets after the trace. */
  readonly reservedMs: number;
}

export function planOf(
  options: TraceOptions,
  { flows, source }: OpenFlows,
  target: Target,
  packets: PacketSockets,
  remainingMs: number,
): TracePlan {
  const { protocol, firstHop, maxHops, queries, rounds, isOfAllFlows, mostPackets } = options;
  // A coordinator of an earlier release sets a deadline without the time for packets after the trace.
  const reservedMs = Math.min(msAfter(options), Math.max(0, remainingMs - TRACE_MS));
  const roundsMs = rounds === undefined ? 0 : rounds * ROUND_MS + MAX_WAIT_MS;
  return {
    flows: [...flows],
    source,
    isBound: protocol !== 'icmp' || target.family === 6,
    protocol,
    firstHop,
    maxHops,
    queries,
    maxPackets: mostPackets,
    destination: addressText(addressBytes(target.address)),
    budgetMs: remainingMs - NAMES_MS - RESERVE_MS - roundsMs - reservedMs,
    reservedMs,
    caughtUp: () => packets.sourceFor(target.address),
    // Before a search for all paths the trace sends no unnecessary packet: the search asks other flows before the
    // silent hops of the first one.
    ...(isOfAllFlows ? { window: 1, endsInSilence: true } : {}),
  };
}

/** The search for the path MTU and the other traces to the target, and functions that show a state and open flows. */
export interface Companions {
  readonly mtu: ReturnType<typeof mtuSearch>;
  readonly others: ReturnType<typeof joinTraces>;
  readonly showPartial: (trace: Trace) => void;
  readonly openMore: (count: number) => ReturnType<typeof openFlows>;
}

/** Runs the trace, then its rounds or the search for all paths, and the search for the path MTU at the same time. */
export async function traceWithMtu(
  plan: TracePlan,
  { rounds, isOfAllFlows, mostPackets }: TraceOptions,
  { mtu, others, showPartial, openMore }: Companions,
  {
    signal,
    abandoned,
    remainingMs,
  }: Pick<DiagnosticContext<typeof traceroute>, 'signal' | 'abandoned' | 'remainingMs'>,
): Promise<Trace> {
  // Answers arrive in bursts: one partial result per burst, after all of it was read.
  let due: NodeJS.Immediate | undefined;
  const onChange = (trace: Trace): void => {
    mtu.note(trace);
    others.noteAnswers(targetAnswers(trace));
    due ??= setImmediate(() => {
      due = undefined;
      showPartial(trace);
    });
  };
  const startedMs = performance.now();
  const traced = runProbeLoop(plan, signal, (trace) => {
    // Partial states before the end of the first round already have its figures.
    if (rounds !== undefined) trace.rounds = 1;
    onChange(trace);
  });
  mtu.start();
  const trace = await traced;
  const budgetMs = remainingMs() - NAMES_MS - RESERVE_MS - plan.reservedMs;
  if (isOfAllFlows) {
    const open = async (count: number): Promise<readonly ProbeLoopFlow[]> => {
      const opened = await openMore(count);
      return 'flows' in opened ? opened.flows : [];
    };
    const searchPlan = {
      ...plan,
      // Once packets were lost, room is left for those that tell loss at the target from rate limits.
      get maxPackets(): number {
        const kept = isDoubtfulInSearch(trace) ? MAX_SPACED_PACKETS : 0;
        return mostPackets - MAX_MTU_PACKETS - ECHO_REQUESTS - kept;
      },
      budgetMs,
      open,
    };
    await searchPaths(trace, searchPlan, signal, onChange);
  } else if (rounds !== undefined) {
    trace.rounds = 1;
    const reserved = MAX_MTU_PACKETS + ECHO_REQUESTS + MAX_SPACED_PACKETS;
    const maxPackets = mostPackets - trace.packets.length - reserved;
    await runRounds(trace, { ...plan, rounds, maxPackets, budgetMs, startedMs, abandoned }, signal, onChange);
  }
  clearImmediate(due);
  await noteNewAddress(trace, plan, signal);
  noteUnsent(trace, plan);
  const leftOut = dropLeftOut(trace.packets);
  if (leftOut.some(({ isUnsent }) => isUnsent)) trace.views = viewsOf(trace, plan);
  if (rounds !== undefined) trace.roundsLeftOut = roundsLeftOut(leftOut, rounds, trace);
  return trace;
}

/**
 * Number of rounds that were affected by a stall of the probe, or whose packets did not leave it: their packets were sent
 * or awaited during it, or not sent because of it.
 */
function roundsLeftOut(leftOut: readonly TracePacket[], asked: number, { rounds = 1, isLate }: Trace): number {
  const missed = isLate === true ? Array.from({ length: asked - rounds }, (_, index) => rounds + 1 + index) : [];
  return new Set([
    ...leftOut.flatMap(({ isDoubtful, isUnsent, round = 1 }) => (isDoubtful || isUnsent ? [round] : [])),
    ...missed,
  ]).size;
}
