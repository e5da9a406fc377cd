import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

import type { Family } from '@vantage/contract';

import type { Answer, Request } from '../channel/messages.ts';
import { errnoOf } from '../errno.ts';
import type { Libc } from '../libc.ts';
import type { PacketProtocol } from '../packet-socket.ts';
import { ownerOf } from '../wire/owner.ts';
import { openRawSocket, type ArrivedPacket, type RawSocketLibrary, type SharedRawSocket } from './raw-sockets.ts';
import { createRecentErrors } from './recent-errors.ts';

type OpenRequest = Extract<Request, { op: 'open' }>;
type WatchRequest = Extract<Request, { op: 'watch' }>;
type Packet = Omit<ArrivedPacket, 'family'>;

export interface AgentChannel {
  readonly answer: (answer: Answer) => void;
  /** True if the agent does not read its packets fast enough. */
  readonly isFull: () => boolean;
}

/** The sockets of an agent, and the assignment of packets to them. */
export class PacketServer {
  readonly #library: RawSocketLibrary;
  readonly #libc: Libc | undefined;
  readonly #channel: AgentChannel;
  readonly #opened = new Map<number, OpenRequest>();
  readonly #owners = new Map<string, number>();
  readonly #shared = new Map<string, SharedRawSocket>();
  /** Identifiers of the ICMP sockets that the agent will open next. */
  readonly #expected = new Map<Family, readonly number[]>();
  /** Identifiers whose packets each descriptor receives. */
  readonly #selected = new Map<string, ReadonlySet<number>>();
  readonly #watched = new Map<number, WatchRequest>();
  readonly #recent = createRecentErrors<Packet>();

  constructor(library: RawSocketLibrary, libc: Libc | undefined, channel: AgentChannel) {
    this.#library = library;
    this.#libc = libc;
    this.#channel = channel;
  }

  handle(request: Request): void {
    const { answer } = this.#channel;
    switch (request.op) {
      case 'open': {
        const errno = this.#open(request);
        return request.isAwaited ? answer({ op: 'opened', ref: request.ref, errno }) : undefined;
      }
      case 'expect':
        this.#expected.set(request.family, request.identifiers);
        return this.#select(request.family, 'icmp');
      case 'watch':
        return this.#watch(request);
      case 'close':
        return this.#close(request.ref);
      case 'send':
        return this.#send(request);
      case 'source':
        return findSource(request.destination, (errno, address) =>
          answer({ op: 'source', token: request.token, address, errno }),
        );
    }
  }

  #onPacket({ family, ...packet }: ArrivedPacket): void {
    const owner = ownerOf(family, packet.protocol, packet.data);
    if (owner === undefined) return;
    const key = ownerKey(family, owner.protocol, owner.identifier);
    const ref = this.#owners.get(key);
    if (ref !== undefined) this.#handOn(ref, packet);
    if (packet.protocol !== 'icmp' || owner.protocol === 'icmp') return;
    this.#recent.add(key, { ...packet, data: Uint8Array.from(packet.data) });
    for (const watch of this.#watched.values()) if (keyOf(watch) === key) this.#handOn(watch.ref, packet);
  }

  #handOn(ref: number, packet: Packet): void {
    if (!this.#channel.isFull()) this.#channel.answer({ op: 'packet', ref, ...packet });
  }

  #share(family: Family, protocol: PacketProtocol): SharedRawSocket {
    const key = `${family}/${protocol}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const socket = openRawSocket(this.#library, this.#libc, family, protocol, (packet) => this.#onPacket(packet));
    this.#shared.set(key, socket);
    this.#select(family, protocol);
    return socket;
  }

  /**
   * Lets the kernel drop packets that belong to no open or expected socket; those of sockets closed since the last call
   * still arrive.
   */
  #select(family: Family, protocol: PacketProtocol): void {
    const key = `${family}/${protocol}`;
    const open = [...this.#opened.values()].filter((one) => one.family === family && one.protocol === protocol);
    const expected = protocol === 'icmp' ? (this.#expected.get(family) ?? []) : [];
    const selected = new Set([...open.map(({ identifier }) => identifier), ...expected]);
    this.#selected.set(key, selected);
    this.#shared.get(key)?.select([...selected]);
  }

  /** Answers after a turn of the event loop, in which pending packets are read. */
  #watch(request: WatchRequest): void {
    const { answer } = this.#channel;
    const { ref, recallMs } = request;
    let errno = '';
    try {
      this.#share(request.family, 'icmp');
    } catch (error) {
      errno = errnoOf(error);
    }
    setImmediate(() => {
      if (errno !== '') return answer({ op: 'opened', ref, errno });
      this.#watched.set(ref, request);
      for (const packet of this.#recent.since(keyOf(request), recallMs)) this.#handOn(ref, packet);
      return answer({ op: 'opened', ref, errno });
    });
  }

  /** @returns the errno; empty on success */
  #open(request: OpenRequest): string {
    const key = keyOf(request);
    if (this.#owners.has(key) || this.#opened.has(request.ref)) return 'EADDRINUSE';
    try {
      this.#share(request.family, 'icmp');
      this.#share(request.family, request.protocol);
    } catch (error) {
      return errnoOf(error);
    }
    this.#owners.set(key, request.ref);
    this.#opened.set(request.ref, request);
    return '';
  }

  #close(ref: number): void {
    this.#watched.delete(ref);
    const request = this.#opened.get(ref);
    if (request === undefined) return;
    const { family, protocol, identifier } = request;
    this.#opened.delete(ref);
    this.#owners.delete(ownerKey(family, protocol, identifier));
    const isLast = [...this.#opened.values()].every((other) => other.family !== family || other.protocol !== protocol);
    // Every UDP or TCP packet of the machine passes such a socket: it stays open only while a check needs it.
    if (!isLast || protocol === 'icmp') return;
    this.#shared.get(`${family}/${protocol}`)?.close();
    this.#shared.delete(`${family}/${protocol}`);
  }

  #send({ ref, token, packet, destination, label, dscp, ttl }: Extract<Request, { op: 'send' }>): void {
    const { answer } = this.#channel;
    const request = this.#opened.get(ref);
    const isOfFamily = request !== undefined && (request.family === 6) === isIPv6(destination);
    if (!isOfFamily) return answer({ op: 'sent', token, sentMs: 0, errno: 'EBADF' });
    const { family, protocol, identifier } = request;
    const socket = this.#share(family, protocol);
    if (this.#selected.get(`${family}/${protocol}`)?.has(identifier) !== true) this.#select(family, protocol);
    socket.send({ packet, destination, ttl, label, dscp }, (errno, sentMs) =>
      answer({ op: 'sent', token, sentMs, errno }),
    );
  }
}

function ownerKey(family: Family, protocol: PacketProtocol, identifier: number): string {
  return `${family}/${protocol}/${identifier}`;
}

function keyOf({ family, protocol, identifier }: OpenRequest | WatchRequest): string {
  return ownerKey(family, protocol, identifier);
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
