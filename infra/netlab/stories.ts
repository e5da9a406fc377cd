import { networks } from './topology.ts';

/** Impairments of link 9 for the packets of one network, by number of the ICMP echo request or reply. */
export interface LinkStory {
  /** Delay of every outgoing packet. */
  readonly delayMs?: number;
  /** Delay of every packet that comes back. */
  readonly delayBackMs?: number;
  /** Requests that never arrive. */
  readonly lose?: readonly number[];
  /** Share of all packets lost at random, in each direction. */
  readonly loseShare?: number;
  /** Extra copies per reply number. */
  readonly copies?: Readonly<Record<number, number>>;
  /** Additional delay of replies. */
  readonly holdMs?: Readonly<Record<number, number>>;
  /** Replies held until another one was sent, so that their order does not depend on the speed of the machine. */
  readonly behind?: Readonly<Record<number, number>>;
  /** Replies with a changed byte and a wrong or a correct checksum, or without their last bytes. */
  readonly damage?: Readonly<Record<number, 'checksum' | 'payload' | 'cut'>>;
  /** Label stack (RFC 4950) that the link, as a router, reports in its ICMP errors. */
  readonly mpls?: readonly number[];
}

/** Delay of the link, below ten because `ping` prints hundredths only there. */
export const DELAY_MS = 9;
/** Delay of distant hops, longer than showing earlier replies takes, and less than the 250 ms after which a hop counts as silent. */
const FAR_MS = 60;
export const LABELS = [16_001, 24_123] as const;
/** Delay of a late reply, longer than the four seconds for which a reply is awaited. */
const LATE_MS = 4_300;
/** Delay of a held packet, longer than two intervals of the tests: its reply is read after those of the next two packets. */
const HOLD_MS = 700;

export const stories: Readonly<Record<number, LinkStory>> = {
  [networks.labelled]: { mpls: LABELS },
  [networks.distant]: { delayMs: DELAY_MS },
  [networks.remote]: { delayMs: FAR_MS },
  [networks.even]: { delayMs: DELAY_MS },
  [networks.lossy]: { delayMs: DELAY_MS, lose: [2, 5, 8, 11, 14] },
  [networks.doubling]: { delayMs: DELAY_MS, copies: { 1: 1, 3: 2 } },
  [networks.reordering]: { delayMs: DELAY_MS, holdMs: { 1: HOLD_MS }, behind: { 1: 3 } },
  [networks.damaging]: { delayMs: DELAY_MS, damage: { 2: 'checksum', 3: 'payload', 4: 'cut' } },
  [networks.lossyDistant]: { delayMs: DELAY_MS, loseShare: 0.1 },
  [networks.late]: { delayMs: DELAY_MS, holdMs: { 1: LATE_MS } },
};
