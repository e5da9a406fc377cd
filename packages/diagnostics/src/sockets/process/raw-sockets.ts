import type { Family } from '@vantage/contract';
import type * as rawSocket from 'raw-socket';

import { errnoOf } from '../errno.ts';
import { openKernelReceiver, type KernelPacket } from './kernel-receiver.ts';
import type { Libc } from '../libc.ts';
import { MAX_PACKET_BYTES, type Clock, type FlowLabel, type PacketProtocol } from '../packet-socket.ts';
import { filterIcmp } from './icmp-filter.ts';
import { identifierFilter, type SelectIdentifiers } from './identifier-filter.ts';
import { headerWriter, prepareSender } from './sender-options.ts';
import { receivedIcmpTypes } from '../wire/icmp.ts';
import { IPPROTO, parseIp } from '../wire/ip.ts';
import { labelledPacket } from '../wire/labelled.ts';

export type RawSocketLibrary = typeof rawSocket;

/** A packet as it arrived, without its IP header; `data` is valid until the call returns. */
export interface ArrivedPacket {
  readonly family: Family;
  readonly protocol: PacketProtocol;
  readonly data: Uint8Array;
  readonly from: string;
  readonly hopLimit: number | null;
  readonly receivedMs: number;
  readonly clock: Clock;
}

/** Descriptors of a family and protocol, shared within the process. */
export interface SharedRawSocket {
  /** Calls back with the errno, empty for none, and the time just before the system call. */
  readonly send: (outgoing: Outgoing, done: SendDone) => void;
  /** From now on packets of other identifiers may be dropped; before the first call none are. */
  readonly select: SelectIdentifiers;
  readonly close: () => void;
}

export interface Outgoing {
  readonly packet: Uint8Array;
  readonly destination: string;
  readonly ttl: number;
  readonly label: FlowLabel | null;
  readonly dscp: number;
}

export type SendDone = (errno: string, sentMs: number) => void;

/** From `asm-generic/socket.h` and `linux/in6.h` of Linux. */
const LINUX = { IPPROTO_IPV6: 41, SOL_SOCKET: 1, SO_RCVBUF: 8, IPV6_HDRINCL: 36 } as const;

/** Size of the buffer: the longest packet after an IPv4 header with options. */
const BUFFER_BYTES = MAX_PACKET_BYTES + 60;
const RECEIVE_QUEUE_BYTES = 1_048_576;
const RETRY_EVERY_MS = 2;
const MAX_RETRIES = 5;

/**
 * Opens one raw socket for sending and one for receiving: raw-socket does not send while packets wait to be read, which
 * during a flood is always.
 *
 * @param libc for kernel timestamps and packet filters; undefined if unavailable: then the process takes the times, and
 *   receives the packets of all identifiers
 * @throws Error with the text of strerror(3)
 */
export function openRawSocket(
  library: RawSocketLibrary,
  libc: Libc | undefined,
  family: Family,
  protocol: PacketProtocol,
  onPacket: (packet: ArrivedPacket) => void,
): SharedRawSocket {
  const addressFamily = family === 4 ? library.AddressFamily.IPv4 : library.AddressFamily.IPv6;
  const number = protocol === 'icmp' && family === 6 ? IPPROTO.icmpv6 : IPPROTO[protocol];
  const opened: rawSocket.RawSocket[] = [];
  let byKernel: ReadByKernel | undefined;
  const open = (bufferSize: number): rawSocket.RawSocket => {
    const socket = library.createSocket({ protocol: number, addressFamily, bufferSize });
    opened.push(socket);
    return socket.on('error', () => undefined);
  };
  const close = (): void => {
    byKernel?.close();
    for (const socket of opened) socket.close();
  };
  const receive = ({ bytes, hopLimit, ...rest }: KernelPacket): void => {
    const packet = family === 4 ? parseIp(4, bytes) : { payload: bytes, hopLimit };
    if (packet === undefined) return;
    const data = packet.payload.subarray(0, MAX_PACKET_BYTES);
    onPacket({ family, protocol, data, hopLimit: packet.hopLimit, ...rest });
  };

  try {
    const receiver = open(BUFFER_BYTES);
    receiver.setOption(LINUX.SOL_SOCKET, LINUX.SO_RCVBUF, RECEIVE_QUEUE_BYTES);
    if (protocol === 'icmp') filterIcmp(receiver, family, receivedIcmpTypes(family));
    receiver.on('message', (bytes, source) => {
      const receivedMs = performance.now();
      receive({ bytes, from: withoutZone(source), hopLimit: null, receivedMs, clock: 'process' });
    });
    if (libc !== undefined) byKernel = readByKernelReceiver(libc, receiver, [family, protocol], receive);

    const sender = open(1).pauseRecv();
    prepareSender(sender, family);
    if (protocol === 'icmp') filterIcmp(sender, family, []);
    let labelled: rawSocket.RawSocket | undefined;
    const prepare = headerWriter(sender, family);
    const send: SharedRawSocket['send'] = ({ packet, destination, ttl, label, dscp }, done) => {
      if (label === null || family === 4) {
        return sendOnce(sender, Buffer.from(packet), destination, () => prepare(ttl, dscp), MAX_RETRIES, done);
      }
      labelled ??= openLabelled(open);
      const whole = labelledPacket(packet, { protocol: number, destination, hopLimit: ttl, dscp, ...label });
      return sendOnce(labelled, Buffer.from(whole), destination, () => undefined, MAX_RETRIES, done);
    };
    return { send, select: byKernel?.select ?? (() => undefined), close };
  } catch (error) {
    // Closes the sockets opened before the failure: callers may try again, and each attempt would leave descriptors
    // open.
    close();
    throw error;
  }
}

type ReadByKernel = Pick<SharedRawSocket, 'select' | 'close'>;

/** Replaces raw-socket's own reading by recvmsg as long as that works. */
function readByKernelReceiver(
  libc: Libc,
  socket: rawSocket.RawSocket,
  [family, protocol]: readonly [Family, PacketProtocol],
  receive: (packet: KernelPacket) => void,
): ReadByKernel | undefined {
  const { wrap } = socket;
  const own = wrap.listeners('recvReady');
  const reader = own.length === 1 ? openKernelReceiver(libc, socket, family, BUFFER_BYTES) : undefined;
  if (reader === undefined) return undefined;
  const onReadable = (): void => {
    if (reader.drain(receive)) return;
    wrap.removeListener('recvReady', onReadable);
    wrap.on('recvReady', own[0] as () => void);
  };
  wrap.removeAllListeners('recvReady');
  wrap.on('recvReady', onReadable);
  return { select: identifierFilter(libc, reader.descriptor, family, protocol), close: reader.close };
}

/** A socket whose packets include their IPv6 header. */
function openLabelled(open: (bufferSize: number) => rawSocket.RawSocket): rawSocket.RawSocket {
  const socket = open(1).pauseRecv();
  prepareSender(socket, 6);
  socket.setOption(LINUX.IPPROTO_IPV6, LINUX.IPV6_HDRINCL, 1);
  return socket;
}

/**
 * Sends at once: raw-socket would first wait until the socket can be written, which takes two turns of the event loop.
 * Tries again, up to `retries` times, while the kernel lacks buffer space.
 */
function sendOnce(
  sender: rawSocket.RawSocket,
  packet: Buffer,
  destination: string,
  prepare: () => void,
  retries: number,
  done: SendDone,
): void {
  let sentMs = 0;
  const before = (): void => {
    prepare();
    sentMs = performance.now();
  };
  const after = (error: unknown): void => {
    const errno = error === null ? '' : errnoOf(error);
    const isTransient = errno === 'EAGAIN' || errno === 'ENOBUFS';
    if (!isTransient || retries === 0) return done(errno, sentMs);
    setTimeout(() => sendOnce(sender, packet, destination, prepare, retries - 1, done), RETRY_EVERY_MS);
  };
  try {
    before();
    sender.wrap.send(packet, 0, packet.length, destination, () => undefined);
  } catch (error) {
    if (errnoOf(error) !== 'EAGAIN') return after(error);
    // The send buffer is full: raw-socket sends the packet once it has space.
    sender.send(packet, 0, packet.length, destination, before, after);
    return;
  }
  after(null);
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}
