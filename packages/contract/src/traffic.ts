/** Upper bound of the traffic between probe and target in one run. */
export interface Traffic {
  /**
   * Packets sent by the probe. TCP data segments count by bytes; only connection setup and teardown count as packets.
   */
  readonly packets: number;
  /** Bytes on the network, both directions. */
  readonly bytes: number;
}

/** Traffic with a cost of 1. */
export type TrafficUnit = Traffic;

/** Unit of the client limit: a check of each type with default options costs 1, so that the limit counts requests. */
export const CLIENT_UNIT: TrafficUnit = { packets: 192, bytes: 256 * 1024 };
/** Unit of the target limits and of the per-probe network limits. */
export const TARGET_UNIT: TrafficUnit = { packets: 48, bytes: 256 * 1024 };

/** Typical page load in a browser. A page may load more: the agent counts actual traffic per network. */
export const SCREENSHOT_TRAFFIC: Traffic = { packets: 320, bytes: 2 * 1024 * 1024 };

/** Cost of traffic in a unit, at least 1. */
export function costOf({ packets, bytes }: Traffic, unit: TrafficUnit): number {
  return Math.max(1, Math.ceil(Math.max(packets / unit.packets, bytes / unit.bytes)));
}
