/** What one run of a check sends to its target and makes it send, at most. */
export interface Traffic {
  /** Packets that the probe sends. Those of TCP go with its bytes, but for what opens and ends connections. */
  readonly packets: number;
  /** Bytes on the network, both directions together. */
  readonly bytes: number;
}

/** Traffic that costs 1. */
export type TrafficUnit = Traffic;

/** Of a client's limit: a check of each type with its default options costs 1. */
export const CLIENT_UNIT: TrafficUnit = { packets: 144, bytes: 256 * 1024 };
/** Of the limits of a target and, at each probe, of a network. */
export const TARGET_UNIT: TrafficUnit = { packets: 48, bytes: 256 * 1024 };

/**
 * An ordinary page as a browser loads it. It may load more: what it does is counted by the agent that loads it, at each network it
 * comes from.
 */
export const SCREENSHOT_TRAFFIC: Traffic = { packets: 320, bytes: 2 * 1024 * 1024 };

/** The one measure of every limit of what checks send. At least 1. */
export function costOf({ packets, bytes }: Traffic, unit: TrafficUnit): number {
  return Math.max(1, Math.ceil(Math.max(packets / unit.packets, bytes / unit.bytes)));
}
