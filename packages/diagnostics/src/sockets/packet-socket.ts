import type { Family } from '@vantage/contract';

/**
 * The seam to raw sockets: the packet process implements it for the agent, a fake implements it in tests. A diagnostic
 * sees packets and times, never descriptors.
 */
export interface PacketSockets {
  /**
   * Opens one raw socket in the packet process.
   *
   * @throws when the privilege is missing or the packet process cannot be started
   */
  readonly open: (options: PacketSocketOptions) => Promise<PacketSocket>;
}

export type PacketProtocol = 'icmp' | 'udp' | 'tcp';

export interface PacketSocketOptions {
  readonly family: Family;
  readonly protocol: PacketProtocol;
}

export interface PacketSocket {
  /**
   * Sends one packet, payload of the IP header, with its own TTL or hop limit. Resolves with the monotonic send time
   * in milliseconds, taken in the packet process.
   *
   * @throws `NodeJS.ErrnoException` with what the kernel said (EMSGSIZE, EHOSTUNREACH, EPERM …)
   */
  readonly send: (packet: Uint8Array, destination: string, ttl: number) => Promise<number>;
  /** Calls back for each packet that the socket receives until it is closed. */
  readonly onPacket: (listener: (packet: ReceivedPacket) => void) => void;
  /** Calls back when the packet process died; nothing more comes. */
  readonly onLost: (listener: (error: Error) => void) => void;
  readonly close: () => void;
}

export interface ReceivedPacket {
  /** What the kernel gives a raw socket: with the IP header for IPv4, without for IPv6. */
  readonly data: Uint8Array;
  readonly from: string;
  /** On the same clock as the send times, milliseconds. */
  readonly receivedMs: number;
}
