import { networks } from './topology.ts';

/**
 * Impairments of a link in user space (`link.py`) for the packets of one network; single packets are selected by the
 * sequence number of the ICMP echo request or reply.
 */
export interface LinkImpairments {
  /** Delay of every packet towards `far`. */
  readonly delayMs?: number;
  /** Delay of every packet from `far`. */
  readonly delayBackMs?: number;
  /** Sequence numbers of requests that are lost. */
  readonly lose?: readonly number[];
  /** Share of all packets lost at random, in each direction. */
  readonly loseShare?: number;
  /** Number of extra copies, by sequence number of the reply. */
  readonly copies?: Readonly<Record<number, number>>;
  /** Additional delay, by sequence number of the reply. */
  readonly holdMs?: Readonly<Record<number, number>>;
  /**
   * By sequence number of a reply, that of the reply after which it is sent, so that their order does not depend on the
   * speed of the machine.
   */
  readonly behind?: Readonly<Record<number, number>>;
  /** By sequence number of the reply: a changed byte with a wrong or a correct checksum, or the last bytes missing. */
  readonly damage?: Readonly<Record<number, 'checksum' | 'payload' | 'cut'>>;
  /** MPLS label stack (RFC 4950) that the link, as a router, reports in its ICMP errors. */
  readonly mpls?: readonly number[];
}

/** Delay of the link; below 10 ms, where `ping` prints hundredths of a millisecond. */
export const DELAY_MS = 9;
/** Delay of the network `remote`. */
const FAR_MS = 60;
/**
 * Delay of the network `slow`: longer than it takes to show the answers of nearer hops on a busy machine, and shorter
 * than the silence after which a trace probes further hops (`SILENT_AFTER_MS`).
 */
const SLOW_MS = 400;
export const LABELS = [16_001, 24_123] as const;
/** Delay of a late reply, longer than the four seconds for which ping awaits a reply. */
const LATE_MS = 4_300;
/**
 * Delay of a held reply: longer than two intervals of `quick`, so that it arrives after the replies to the next two
 * packets.
 */
const HOLD_MS = 700;

export const impairments: Readonly<Record<number, LinkImpairments>> = {
  [networks.labelled]: { mpls: LABELS },
  [networks.distant]: { delayMs: DELAY_MS },
  [networks.remote]: { delayMs: FAR_MS },
  [networks.slow]: { delayMs: SLOW_MS },
  [networks.even]: { delayMs: DELAY_MS },
  [networks.lossy]: { delayMs: DELAY_MS, lose: [2, 5, 8, 11, 14] },
  [networks.doubling]: { delayMs: DELAY_MS, copies: { 1: 1, 3: 2 } },
  [networks.reordering]: { delayMs: DELAY_MS, holdMs: { 1: HOLD_MS }, behind: { 1: 3 } },
  [networks.damaging]: { delayMs: DELAY_MS, damage: { 2: 'checksum', 3: 'payload', 4: 'cut' } },
  [networks.lossyDistant]: { delayMs: DELAY_MS, loseShare: 0.1 },
  [networks.late]: { delayMs: DELAY_MS, holdMs: { 1: LATE_MS } },
};
