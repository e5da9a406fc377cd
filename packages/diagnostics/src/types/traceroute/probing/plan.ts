import type { PacketHeader, PacketProtocol, PacketSocket } from '../../../sockets/packet-socket.ts';
import type { TraceFlow } from './flow.ts';

export interface ProbeLoopFlow {
  readonly socket: PacketSocket;
  readonly flow: TraceFlow;
  /** DSCP, and the flow label of IPv6 packets: routers may balance by it (RFC 6438). */
  readonly header: PacketHeader;
}

export interface ProbeLoopPlan {
  readonly flows: readonly ProbeLoopFlow[];
  readonly destination: string;
  readonly protocol: PacketProtocol;
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
  readonly maxPackets: number;
  /** Packets under way at once; `WINDOW` if absent. */
  readonly window?: number;
  /** True if the trace ends, with its last packets still awaited, as soon as a flow has stalled. */
  readonly endsInSilence?: boolean;
  /** Total time, milliseconds. */
  readonly budgetMs: number;
  /** Resolves when the packet process has forwarded what it had received: only then is an unanswered packet lost. */
  readonly caughtUp?: (() => Promise<unknown>) | undefined;
}

/** Limit of packets in flight; one that is in flight for longer than `SILENT_AFTER_MS` makes room for another. */
export const WINDOW = 16;
/** Limit of packets sent back to back: a longer burst may meet the routers’ ICMP limits. */
export const BURST = 8;
/** Time between two bursts. */
export const BURST_EVERY_MS = 1;
/** Silence after which the target is probed with the full TTL, and each further hop once. */
export const SILENT_AFTER_MS = 500;
