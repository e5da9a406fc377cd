import type { Family } from '@vantage/contract';

/**
 * The seam to raw sockets: the packet process implements it for the agent, a fake implements it in tests. A diagnostic
 * sees packets and times, never descriptors.
 */
export interface PacketSockets {
  /**
   * Opens a socket of one protocol in the packet process. All sockets of a family and protocol share one descriptor
   * there; each gets only what answers its own identifier.
   *
   * @throws `NodeJS.ErrnoException`: EPERM or EACCES when the privilege is missing, EAFNOSUPPORT when the machine lacks
   *   the family, ECHILD when the packet process cannot be started, EADDRINUSE when the identifier is taken
   */
  readonly open: (options: PacketSocketOptions) => Promise<PacketSocket>;
  /**
   * The address that the kernel puts into packets for a destination; checksums of UDP and TCP cover it. No packet is
   * sent.
   *
   * @throws `NodeJS.ErrnoException` when there is no route to the destination
   */
  readonly sourceFor: (destination: string) => Promise<string>;
}

export type PacketProtocol = 'icmp' | 'udp' | 'tcp';

export interface PacketSocketOptions {
  readonly family: Family;
  /** Protocol of the packets to send. ICMP errors about them arrive whatever the protocol. */
  readonly protocol: PacketProtocol;
  /** ICMP identifier, or local port for UDP and TCP. Without it a free one is chosen at random. */
  readonly identifier?: number | undefined;
  /**
   * Hears the ICMP errors about packets that a socket of the kernel's sends from the local port `identifier`, and sends
   * none: also the errors that came in the last `recallMs` milliseconds. Any number of these may hear of one port.
   */
  readonly errorsOnly?: { readonly recallMs: number } | undefined;
}

export interface PacketSocket {
  /** ICMP identifier, or local port for UDP and TCP, of every packet to send. */
  readonly identifier: number;
  /**
   * Sends one packet, payload of the IP header, with its own TTL or hop limit, never fragmented. The checksum of an
   * ICMPv6 message is the kernel's work. Resolves with the monotonic send time in milliseconds, taken in the packet
   * process.
   *
   * @param label flow label of an IPv6 packet; without one the kernel chooses, the same for every socket
   * @throws `NodeJS.ErrnoException` with what the kernel said (EMSGSIZE, EHOSTUNREACH, EPERM …)
   */
  readonly send: (packet: Uint8Array, destination: string, ttl: number, label?: FlowLabel) => Promise<number>;
  /**
   * Calls back for each packet that carries the identifier until the socket is closed: echo replies, UDP and TCP
   * packets to the local port, and ICMP messages that quote one of its packets. Nothing but the identifier was
   * checked: another program may use the same.
   */
  readonly onPacket: (listener: (packet: ReceivedPacket) => void) => void;
  /** Calls back when the packet process died; nothing more comes. */
  readonly onLost: (listener: (error: Error) => void) => void;
  /** True if ICMP errors may have come in the time to recall before anyone listened. */
  readonly isRecallPartial?: boolean;
  readonly close: () => void;
}

/** The header that the packet process writes itself needs the source too: that of `sourceFor`. */
export interface FlowLabel {
  /** From 1 to 0xfffff (RFC 6437). */
  readonly label: number;
  readonly source: string;
}

/**
 * Which clock an arrival was taken by: `kernel` when the kernel got the packet, `process` when the packet process read it,
 * which is later by however long that had to wait for a processor.
 */
export type Clock = 'kernel' | 'process';

export interface ReceivedPacket {
  /** Protocol of `data`: the socket's own, or `icmp` for an error about one of its packets. */
  readonly protocol: PacketProtocol;
  /** The packet without its IP header, at most `MAX_PACKET_BYTES`. */
  readonly data: Uint8Array;
  readonly from: string;
  /** TTL or hop limit at arrival; null for IPv6 with clock `process`, because a raw socket does not report it. */
  readonly hopLimit: number | null;
  /** On the same clock as the send times, milliseconds. */
  readonly receivedMs: number;
  readonly clock: Clock;
}

/** Longest packet that is sent or handed on, without its IP header. */
export const MAX_PACKET_BYTES = 2_048;
