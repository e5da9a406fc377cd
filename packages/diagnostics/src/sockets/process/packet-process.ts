import { createSocket } from 'node:dgram';
import { isIPv6, Socket } from 'node:net';

import type { Family } from '@vantage/contract';

import { errnoOf } from '../errno.ts';
import { frame, frameReader } from '../channel/frames.ts';
import { findLibc, type Libc } from '../libc.ts';
import { decodeRequest, encodeAnswer, PARTIAL_RECALL, type Answer, type Request } from '../channel/messages.ts';
import type { PacketProtocol } from '../packet-socket.ts';
import { openRawSocket, type ArrivedPacket, type RawSocketLibrary, type SharedRawSocket } from './raw-sockets.ts';
import { createRecentErrors } from './recent-errors.ts';
import { ownerOf } from '../wire/owner.ts';

/**
 * The packet process: the only program that loads raw-socket, and the only one that needs CAP_NET_RAW. It knows packets,
 * identifiers and times, and nothing of checks. It speaks frames over descriptor 3 and ends with it.
 */

type OpenRequest = Extract<Request, { op: 'open' }>;
type WatchRequest = Extract<Request, { op: 'watch' }>;
type Packet = Omit<ArrivedPacket, 'family'>;

/** Packets beyond this backlog of an agent that does not read are dropped, as a full socket buffer drops them. */
const MAX_BACKLOG_BYTES = 1_048_576;

function ownerKey(family: Family, protocol: PacketProtocol, identifier: number): string {
  return `${family}/${protocol}/${identifier}`;
}

function keyOf({ family, protocol, identifier }: OpenRequest | WatchRequest): string {
  return ownerKey(family, protocol, identifier);
}

function serve(
  library: RawSocketLibrary,
  libc: Libc | undefined,
  pipe: Socket,
  answer: (answer: Answer) => void,
): void {
  const opened = new Map<number, OpenRequest>();
  const owners = new Map<string, number>();
  const shared = new Map<string, SharedRawSocket>();
  const openedAtMs = new Map<string, number>();
  const watched = new Map<number, WatchRequest>();
  const recent = createRecentErrors<Packet>();

  const handOn = (ref: number, packet: Packet): void => {
    if (pipe.writableLength < MAX_BACKLOG_BYTES) answer({ op: 'packet', ref, ...packet });
  };
  const onPacket = ({ family, ...packet }: ArrivedPacket): void => {
    const owner = ownerOf(family, packet.protocol, packet.data);
    if (owner === undefined) return;
    const key = ownerKey(family, owner.protocol, owner.identifier);
    const ref = owners.get(key);
    if (ref !== undefined) handOn(ref, packet);
    if (packet.protocol !== 'icmp' || owner.protocol === 'icmp') return;
    recent.add(key, { ...packet, data: Uint8Array.from(packet.data) });
    for (const watch of watched.values()) if (keyOf(watch) === key) handOn(watch.ref, packet);
  };
  const share = (family: Family, protocol: PacketProtocol): SharedRawSocket => {
    const key = `${family}/${protocol}`;
    const socket = shared.get(key) ?? openRawSocket(library, libc, family, protocol, onPacket);
    if (!shared.has(key)) openedAtMs.set(key, performance.now());
    shared.set(key, socket);
    return socket;
  };
  /** Reads pending packets before it answers, so that no earlier one is missed. */
  const watch = (request: WatchRequest): void => {
    const { ref, recallMs } = request;
    let errno = '';
    try {
      share(request.family, 'icmp');
    } catch (error) {
      errno = errnoOf(error);
    }
    setImmediate(() => {
      if (errno !== '') return answer({ op: 'opened', ref, errno });
      watched.set(ref, request);
      for (const packet of recent.since(keyOf(request), recallMs)) handOn(ref, packet);
      // Nothing is known of the time before the socket existed.
      const listensMs = performance.now() - (openedAtMs.get(`${request.family}/icmp`) ?? 0);
      return answer({ op: 'opened', ref, errno: recallMs > listensMs ? PARTIAL_RECALL : '' });
    });
  };
  const open = (request: OpenRequest): string => {
    const key = keyOf(request);
    if (owners.has(key) || opened.has(request.ref)) return 'EADDRINUSE';
    try {
      share(request.family, 'icmp');
      share(request.family, request.protocol);
    } catch (error) {
      return errnoOf(error);
    }
    owners.set(key, request.ref);
    opened.set(request.ref, request);
    return '';
  };
  const close = (ref: number): void => {
    watched.delete(ref);
    const request = opened.get(ref);
    if (request === undefined) return;
    const { family, protocol, identifier } = request;
    opened.delete(ref);
    owners.delete(ownerKey(family, protocol, identifier));
    const isLast = [...opened.values()].every((other) => other.family !== family || other.protocol !== protocol);
    // Every UDP or TCP packet of the machine passes such a socket: it stays open only while someone needs it.
    if (!isLast || protocol === 'icmp') return;
    shared.get(`${family}/${protocol}`)?.close();
    shared.delete(`${family}/${protocol}`);
  };
  const send = ({ ref, token, packet, destination, label, ttl }: Extract<Request, { op: 'send' }>): void => {
    const request = opened.get(ref);
    const isOfFamily = request !== undefined && (request.family === 6) === isIPv6(destination);
    if (!isOfFamily) return answer({ op: 'sent', token, sentMs: 0, errno: 'EBADF' });
    share(request.family, request.protocol).send({ packet, destination, ttl, label }, (errno, sentMs) =>
      answer({ op: 'sent', token, sentMs, errno }),
    );
  };

  const handle = (request: Request): void => {
    switch (request.op) {
      case 'open': {
        const errno = open(request);
        return request.isAwaited ? answer({ op: 'opened', ref: request.ref, errno }) : undefined;
      }
      case 'watch':
        return watch(request);
      case 'close':
        return close(request.ref);
      case 'send':
        return send(request);
      case 'source':
        return findSource(request.destination, (errno, address) =>
          answer({ op: 'source', token: request.token, address, errno }),
        );
    }
  };
  const reader = frameReader();
  pipe.on('data', (piece: Buffer) => {
    for (const body of reader.push(piece)) handle(decodeRequest(body));
  });
}

/** Connecting a UDP socket makes the kernel choose route and source address, and sends nothing. */
function findSource(destination: string, done: (errno: string, address: string) => void): void {
  const socket = createSocket(isIPv6(destination) ? 'udp6' : 'udp4');
  const settle = (errno: string, address: string): void => {
    socket.removeAllListeners().on('error', () => undefined);
    socket.close();
    done(errno, address);
  };
  socket.once('error', (error) => settle(errnoOf(error), ''));
  socket.once('connect', () => settle('', socket.address().address));
  socket.connect(9, destination);
}

async function main(): Promise<void> {
  const pipe = new Socket({ fd: 3, readable: true, writable: true });
  const answer = (message: Answer): void => void pipe.write(frame(encodeAnswer(message)));
  // The agent has exited.
  pipe.on('error', () => process.exit(0));
  pipe.on('close', () => process.exit(0));
  // A terminal and systemd signal the whole group: the agent drains, and needs its packets for that.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  try {
    const library = await import('raw-socket');
    answer({ op: 'ready', errno: '', reason: '' });
    serve(library, await findLibc(), pipe, answer);
  } catch (error) {
    answer({ op: 'ready', errno: errnoOf(error), reason: Error.isError(error) ? error.message : String(error) });
    pipe.end();
  }
}

await main();
