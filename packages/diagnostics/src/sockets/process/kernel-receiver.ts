import { randomInt } from 'node:crypto';

import type { Family } from '@vantage/contract';
import type { RawSocket } from 'raw-socket';

import type { Libc, LibcMemory, WallTime } from '../libc.ts';
import type { Clock } from '../packet-socket.ts';
import { addressText } from '@vantage/contract/address';
import { arrivalClock } from './arrival-clock.ts';

/** A packet as recvmsg returned it; `bytes` is valid only until the callback returns. */
export interface KernelPacket {
  readonly bytes: Uint8Array;
  readonly from: string;
  /** Hop limit from the ancillary data, for IPv6 only: IPv4 packets include their header. */
  readonly hopLimit: number | null;
  readonly receivedMs: number;
  readonly clock: Clock;
}

export interface KernelReceiver {
  readonly descriptor: number;
  /**
   * Reads a bounded number of waiting packets without blocking. False after an unexpected reply of the kernel: then
   * raw-socket must read.
   */
  readonly drain: (onPacket: (packet: KernelPacket) => void) => boolean;
  readonly close: () => void;
}

/** From `asm-generic/socket.h`, `linux/in6.h`, `linux/socket.h` and `asm-generic/errno-base.h` of Linux. */
const LINUX = {
  SOL_SOCKET: 1,
  SO_RCVLOWAT: 18,
  SO_TIMESTAMPNS: 35,
  IPPROTO_IPV6: 41,
  IPV6_RECVHOPLIMIT: 51,
  IPV6_HOPLIMIT: 52,
  MSG_DONTWAIT: 0x40,
  EINTR: 4,
  EAGAIN: 11,
} as const;

/** Offsets in one block of memory: struct msghdr, struct iovec, sender's address, ancillary data, packet. */
const AT = { iovec: 56, name: 72, control: 104, packet: 360 } as const;
const NAME_BYTES = 28;
const CONTROL_BYTES = AT.packet - AT.control;
/** Size of struct cmsghdr: a length of eight bytes, level, type. */
const CMSG_HEADER_BYTES = 16;

const MAX_PER_CALL = 64;
/**
 * Bound of the search for a descriptor: the packet process has a few dozen, and the kernel assigns the lowest free
 * ones.
 */
const MAX_DESCRIPTORS = 256;

/**
 * Reads the descriptor of a raw-socket by recvmsg, for data that raw-socket does not provide: the kernel's receive
 * time, and the hop limit of IPv6. raw-socket keeps the descriptor and reports readability. Undefined if this is not
 * possible.
 */
export function openKernelReceiver(
  libc: Libc,
  socket: RawSocket,
  family: Family,
  packetBytes: number,
): KernelReceiver | undefined {
  const descriptor = descriptorOf(socket, libc);
  if (descriptor === undefined) return undefined;
  try {
    socket.setOption(LINUX.SOL_SOCKET, LINUX.SO_TIMESTAMPNS, 1);
    if (family === 6) socket.setOption(LINUX.IPPROTO_IPV6, LINUX.IPV6_RECVHOPLIMIT, 1);
  } catch {
    return undefined;
  }
  const memory = libc.allocate(AT.packet + packetBytes);
  prepareHeader(memory, packetBytes);
  const arrivals = arrivalClock(libc);
  let isOpen = true;

  const drain: KernelReceiver['drain'] = (onPacket) => {
    const arrival = arrivals();
    for (let count = 0; count < MAX_PER_CALL && isOpen; count += 1) {
      // recvmsg overwrites both lengths with the sizes that it has filled.
      memory.view.setUint32(8, NAME_BYTES, true);
      memory.view.setBigUint64(40, BigInt(CONTROL_BYTES), true);
      const bytes = libc.recvmsg(descriptor, memory, LINUX.MSG_DONTWAIT);
      if (bytes < 0) {
        const errno = libc.errno();
        return errno === LINUX.EAGAIN || errno === LINUX.EINTR;
      }
      const { stamp, hopLimit } = ancillary(memory.view);
      const from = senderOf(memory.view, family);
      onPacket({ bytes: slice(memory, AT.packet, bytes), from, hopLimit, ...arrival(stamp) });
    }
    return true;
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    memory.free();
  };
  return { descriptor, drain, close };
}

/**
 * raw-socket hides its descriptor: it is found by a random option value set through raw-socket. Raw sockets ignore
 * SO_RCVLOWAT (`datagram_poll`); it is reset to 1 afterwards.
 */
function descriptorOf(socket: RawSocket, libc: Libc): number | undefined {
  const mark = randomInt(0x1_0000, 0x7fff_ffff);
  try {
    socket.setOption(LINUX.SOL_SOCKET, LINUX.SO_RCVLOWAT, mark);
    const descriptors = Array.from({ length: MAX_DESCRIPTORS }, (_, descriptor) => descriptor);
    return descriptors.find((one) => libc.intOption(one, LINUX.SOL_SOCKET, LINUX.SO_RCVLOWAT) === mark);
  } catch {
    return undefined;
  } finally {
    socket.setOption(LINUX.SOL_SOCKET, LINUX.SO_RCVLOWAT, 1);
  }
}

function prepareHeader({ view, address }: LibcMemory, packetBytes: number): void {
  const at = (offset: number): bigint => address + BigInt(offset);
  for (let offset = 0; offset < AT.name; offset += 8) view.setBigUint64(offset, 0n, true);
  view.setBigUint64(0, at(AT.name), true);
  view.setBigUint64(16, at(AT.iovec), true);
  view.setBigUint64(24, 1n, true);
  view.setBigUint64(32, at(AT.control), true);
  view.setBigUint64(AT.iovec, at(AT.packet), true);
  view.setBigUint64(AT.iovec + 8, BigInt(packetBytes), true);
}

function senderOf({ buffer }: DataView, family: Family): string {
  const [offset, bytes] = family === 4 ? [AT.name + 4, 4] : [AT.name + 8, 16];
  return addressText(new Uint8Array(buffer, offset, bytes));
}

function slice({ view }: LibcMemory, offset: number, bytes: number): Uint8Array {
  return new Uint8Array(view.buffer, offset, bytes);
}

interface Ancillary {
  stamp: WallTime | undefined;
  hopLimit: number | null;
}

function ancillary(view: DataView): Ancillary {
  const found: Ancillary = { stamp: undefined, hopLimit: null };
  const end = AT.control + Math.min(CONTROL_BYTES, Number(view.getBigUint64(40, true)));
  let offset: number = AT.control;
  while (offset + CMSG_HEADER_BYTES <= end) {
    const bytes = Number(view.getBigUint64(offset, true));
    if (bytes < CMSG_HEADER_BYTES || offset + bytes > end) break;
    const [level, type] = [view.getInt32(offset + 8, true), view.getInt32(offset + 12, true)];
    const data = offset + CMSG_HEADER_BYTES;
    if (level === LINUX.SOL_SOCKET && type === LINUX.SO_TIMESTAMPNS) {
      const [seconds, nanoseconds] = [view.getBigInt64(data, true), view.getBigInt64(data + 8, true)];
      found.stamp = { seconds: Number(seconds), nanoseconds: Number(nanoseconds) };
    }
    if (level === LINUX.IPPROTO_IPV6 && type === LINUX.IPV6_HOPLIMIT) found.hopLimit = view.getInt32(data, true) & 0xff;
    offset += Math.ceil(bytes / 8) * 8;
  }
  return found;
}
