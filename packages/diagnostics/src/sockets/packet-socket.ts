import type { Family } from '@vantage/contract';

/**
 * Interface to raw sockets: implemented by the packet process for the agent, and by a fake in tests. A diagnostic sees
 * packets and times, never descriptors.
 */
export interface PacketSockets {
  /**
   * Opens a socket of a protocol in the packet process. Sockets of the same family and protocol share their
   * descriptors; each receives only responses to its identifier.
   *
   * @throws `NodeJS.ErrnoException`: EPERM or EACCES without the privilege, EAFNOSUPPORT without the family, ECHILD if
   * the packet process cannot be started, ESRCH if it ended and does not run again yet, EADDRINUSE if the identifier is
   *   in use, or another error of the kernel
   */
  readonly open: (options: PacketSocketOptions) => Promise<PacketSocket>;
  /**
   * The address that the kernel puts into packets for a destination; checksums of UDP and TCP cover it. No packet is
   * sent.
   *
   * @throws `NodeJS.ErrnoException`, for example without a route to the destination
   */
  readonly sourceFor: (destination: string) => Promise<string>;
}

export type PacketProtocol = 'icmp' | 'udp' | 'tcp';

export interface PacketSocketOptions {
  readonly family: Family;
  /** Protocol of the sent packets. ICMP errors about them are received for every protocol. */
  readonly protocol: PacketProtocol;
  /** ICMP identifier, or local port for UDP and TCP. Without it a free one is chosen at random. */
  readonly identifier?: number | undefined;
  /**
   * Receives ICMP errors about packets that a kernel socket sends from the local port `identifier`, and sends nothing;
   * includes the errors of the last `recallMs` milliseconds that are still kept, and perhaps some that are up to a
   * second older (`recallWithSlack`). Any number of watches may use one port.
   */
  readonly errorsOnly?: { readonly recallMs: number } | undefined;
}

export interface PacketSocket {
  /** ICMP identifier, or local port for UDP and TCP, of every packet to send. */
  readonly identifier: number;
  /**
   * Sends one packet, given without its IP header, with a TTL or hop limit, unfragmented. The checksum of ICMPv6 is
   * filled in. Resolves with the monotonic send time in milliseconds, taken in the packet process.
   *
   * @throws RangeError for invalid arguments; `NodeJS.ErrnoException`: the kernel's error (EMSGSIZE, EHOSTUNREACH,
   *   EPERM …), or that of a socket that is closed or lost
   */
  readonly send: (packet: Uint8Array, destination: string, ttl: number, header?: PacketHeader) => Promise<number>;
  /**
   * Calls back for each packet with the identifier until the socket is closed: echo replies, UDP and TCP packets to the
   * local port, and ICMP messages that quote one of its packets. Only the identifier was checked: another program may
   * use the same.
   */
  readonly onPacket: (listener: (packet: ReceivedPacket) => void) => void;
  /** Called when the packet process has ended; no more packets follow. */
  readonly onLost: (listener: (error: Error) => void) => void;
  /** True if ICMP errors may have arrived in the recalled time before the socket listened. */
  readonly isRecallPartial?: boolean;
  readonly close: () => void;
}

/** Fields of the IP header that a check may choose, besides the TTL. */
export interface PacketHeader {
  /** Flow label of an IPv6 packet; by default the kernel selects one. */
  readonly label?: FlowLabel | undefined;
  /** Differentiated services code point, 0 to 63 (RFC 2474); 0 if absent. */
  readonly dscp?: number | undefined;
}

/**
 * Flow label of an IPv6 packet. With one, the packet process writes the IPv6 header itself, and needs the source
 * address that `sourceFor` returns.
 */
export interface FlowLabel {
  /** Value from 1 to 0xfffff (RFC 6437). */
  readonly label: number;
  readonly source: string;
}

/**
 * Clock of an arrival time: `kernel` when the kernel received the packet, `process` when the packet process read it,
 * which includes scheduling delays.
 */
export type Clock = 'kernel' | 'process';

export interface ReceivedPacket {
  /** Protocol of `data`: that of the socket, or `icmp` for an error about one of its packets. */
  readonly protocol: PacketProtocol;
  /** The packet without its IP header, at most `MAX_PACKET_BYTES`. */
  readonly data: Uint8Array;
  readonly from: string;
  /** TTL or hop limit at arrival; null for IPv6 if raw-socket has read the packet, because it does not report it. */
  readonly hopLimit: number | null;
  /** Time of arrival in milliseconds, by the clock of the send times. */
  readonly receivedMs: number;
  readonly clock: Clock;
}

/** Maximum size of a sent or forwarded packet without its IP header. */
export const MAX_PACKET_BYTES = 2_048;
