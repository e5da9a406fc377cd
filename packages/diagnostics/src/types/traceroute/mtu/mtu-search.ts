import type { Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import type { PacketSocket, PacketSockets } from '../../../sockets/packet-socket.ts';
import { MAX_MTU_PACKETS } from '../contract.ts';
import type { TraceOptions } from '../trace-options.ts';
import { ASKING_BYTES, findPathMtu, UNKNOWN_MTU, type EchoCount, type PathMtu } from './path-mtu.ts';
import { noteReport, type ReportedMtus } from './try-packet.ts';
import { FULL_QUERIES, type Trace } from '../probing/trace-state.ts';
import { isLossy, isReached, rtOf } from '../hops/target-answers.ts';

export interface MtuSearch {
  /**
   * Starts the search if the packet limit has room for it and the trace. Called at the beginning of the trace, so that
   * the search takes no additional time.
   */
  readonly start: () => void;
  /** Sets the trace whose round-trip time to the target decides how long answers are awaited. */
  readonly note: (trace: Trace) => void;
  /**
   * Waits for the search, and starts it if it has not begun. If the trace failed or did not reach the target, and its
   * packets are not large, no search is awaited: the result is the MTU that routers reported.
   */
  readonly result: (trace: Trace) => Promise<PathMtu>;
  /** The echo requests of the search so far, and the target’s replies; null before the first. */
  readonly echo: () => EchoCount | null;
  /** Smallest MTU that each router reported to a packet of the search, by its address; other packets may add to it. */
  readonly reports: ReportedMtus;
  /** Smallest MTU that each router reported to a packet of the search or of the trace, by its address. */
  readonly reported: (trace: Trace) => ReadonlyMap<string, number>;
  readonly stop: () => void;
}

/**
 * Searches the path MTU of a trace. If trace and search fit into the packet limit together, the socket is opened at
 * once.
 */
export function mtuSearch(
  { protocol, firstHop, maxHops, queries, flows, size, dscp, mostPackets }: TraceOptions,
  target: Target,
  packets: PacketSockets,
  { signal, remainingMs }: Pick<DiagnosticContext, 'signal' | 'remainingMs'>,
): MtuSearch {
  const over = new AbortController();
  const context = { signal: AbortSignal.any([signal, over.signal]), remainingMs };
  const planned = ((maxHops - firstHop + 1) * queries + FULL_QUERIES) * flows;
  let found: Promise<PathMtu> | undefined;
  let noted: Trace | undefined;
  const echo: EchoCount = { sent: 0, received: 0 };
  const reported: ReportedMtus = new Map();
  const open = (): Promise<PacketSocket> => packets.open({ family: target.family, protocol: 'icmp' });
  // Large packets of the trace may be refused or vanish; the search finds the size that passes.
  const isLarge = size !== undefined && size > ASKING_BYTES[target.family];
  const hasRoom = planned + MAX_MTU_PACKETS <= mostPackets;
  const opening = hasRoom ? open() : undefined;
  // Marks a rejection as handled; the code that awaits `opening` still gets it.
  opening?.catch(() => undefined);
  const search = (maxPackets: number): void => {
    found ??= findPathMtu(
      opening ?? open(),
      target,
      // `rttMs` is computed at each use: the send time of a packet may become known only after the last answer of the
      // trace.
      {
        rttMs: () => (noted === undefined ? null : rtOf(noted)),
        maxPackets,
        echo,
        reported,
        isAsking: protocol !== 'icmp' || isLarge,
        dscp,
        caughtUp: () => packets.sourceFor(target.address),
      },
      context,
    );
  };
  return {
    start: () => {
      if (hasRoom) search(MAX_MTU_PACKETS);
    },
    note: (trace) => {
      noted = trace;
    },
    result: async (trace) => {
      const isAnswered = isReached(trace) && trace.failure === null;
      if (!isAnswered && !isLarge) return { mtu: reportedMtu(trace), blackHole: null };
      search(Math.min(MAX_MTU_PACKETS, mostPackets - trace.packets.length));
      return withReported((await found) ?? UNKNOWN_MTU, trace, isAnswered && isLossy(trace));
    },
    echo: () => (echo.sent === 0 ? null : { ...echo }),
    reports: reported,
    reported: (trace) => withReports(reported, trace, size),
    stop: () => {
      over.abort();
      if (found === undefined) opening?.then((socket) => socket.close()).catch(() => undefined);
    },
  };
}

function withReports(found: ReportedMtus, { packets }: Trace, size = Infinity): ReportedMtus {
  const all: ReportedMtus = new Map(found);
  for (const { answer } of packets) {
    if (answer?.error?.kind === 'too-big') noteReport(all, answer.from, answer.error.mtu, size);
  }
  return all;
}

/**
 * Combines the found MTU with the smallest one that routers reported. On a lossy path a black hole is dropped, and so
 * is the MTU that was found with it: there the loss of large packets proves neither.
 */
function withReported({ mtu, blackHole }: PathMtu, trace: Trace, isLossy: boolean): PathMtu {
  const reported = reportedMtu(trace);
  if (blackHole !== null && isLossy) return { mtu: reported, blackHole: null };
  const isReported = reported !== null && (mtu === null || reported <= mtu);
  return { mtu: isReported ? reported : mtu, blackHole };
}

/** Smallest MTU of at least 68 bytes that a router reported to a packet of the trace; null if there is none. */
function reportedMtu({ packets }: Trace): number | null {
  const reported = packets.flatMap(({ answer }) =>
    answer?.error?.kind === 'too-big' && answer.error.mtu >= 68 ? [answer.error.mtu] : [],
  );
  return reported.length === 0 ? null : Math.min(...reported);
}
