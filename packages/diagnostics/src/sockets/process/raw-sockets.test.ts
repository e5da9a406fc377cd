import { randomInt } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

import { describe, expect, it } from '@jest/globals';

import type { Family } from '@vantage/contract';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { icmpError, ipPacket } from '../../../test/raw-packets.ts';
import { findLibc } from '../libc.ts';
import type { PacketProtocol } from '../packet-socket.ts';
import { echoRequest, ICMP_TYPES } from '../wire/icmp.ts';
import { IPPROTO } from '../wire/ip.ts';
import { ownerOf } from '../wire/owner.ts';
import { tcpSyn, udpDatagram } from '../wire/transport.ts';
import { openRawSocket, type ArrivedPacket, type RawSocketLibrary, type SharedRawSocket } from './raw-sockets.ts';

const rawSocket = createRequire(import.meta.url)('raw-socket') as RawSocketLibrary;
const rootMissing = process.getuid?.() === 0 ? null : 'raw sockets need root';
const itWithIpv4 = itNeeding(rootMissing, process.env['CI']);
const itWithIpv6 = itNeeding(rootMissing ?? ipv6Missing(), process.env['CI']);

class FakeRawSocket extends EventEmitter {
  isOpen = true;
  readonly wrap = Object.assign(new EventEmitter(), { send: () => undefined });
  readonly refuses: boolean;

  constructor(refuses: boolean) {
    super();
    this.refuses = refuses;
  }

  send(): this {
    return this;
  }

  setOption(): void {
    if (this.refuses) throw new Error('Operation not permitted');
  }

  pauseRecv(): this {
    return this;
  }

  close(): this {
    this.isOpen = false;
    return this;
  }
}

/** A raw-socket with one defect, and the sockets that it created. */
function failingLibrary(broken: string): { readonly library: RawSocketLibrary; readonly given: FakeRawSocket[] } {
  const given: FakeRawSocket[] = [];
  const createSocket = (): FakeRawSocket => {
    const name = given.length === 0 ? 'receiver' : 'sender';
    if (broken === `${name} creation`) throw new Error('Too many open files');
    const socket = new FakeRawSocket(broken === `${name} option`);
    given.push(socket);
    return socket;
  };
  return { library: { createSocket, AddressFamily: { IPv4: 1, IPv6: 2 } }, given };
}

describe('a raw socket', () => {
  it.each([
    ['sender creation', 1],
    ['receiver option', 1],
    ['sender option', 2],
  ])('leaves no descriptor open when opening fails halfway: %s', (broken, atLeast) => {
    const { library, given } = failingLibrary(broken);

    expect(() => openRawSocket(library, undefined, 4, 'icmp', () => undefined)).toThrow(/^(Too many|Operation)/);
    expect(given.length).toBeGreaterThanOrEqual(atLeast);
    expect(given.filter(({ isOpen }) => isOpen)).toEqual([]);
  });
});

/**
 * Sends an echo request to loopback, and returns the types of the messages that arrive until its reply. Sends it again
 * each second: other suites ping loopback too, and the kernel drops what does not fit into the socket's receive buffer.
 */
async function typesOfEcho(family: Family, destination: string): Promise<readonly number[]> {
  const types: number[] = [];
  const replied = Promise.withResolvers<void>();
  const identifier = randomInt(0x1_0000);
  const socket = openRawSocket(rawSocket, undefined, family, 'icmp', ({ data }) => {
    if (data[4] !== identifier >> 8 || data[5] !== (identifier & 0xff)) return;
    types.push(data[0]!);
    if (data[0] === ICMP_TYPES[family].echoReply) replied.resolve();
  });
  const packet = echoRequest(family, identifier, 1, new Uint8Array(8));
  const send = (): string | undefined => {
    let sent: string | undefined;
    socket.send({ packet, destination, ttl: 64, label: null, dscp: 0 }, (errno) => (sent = errno));
    return sent;
  };
  const sentAtOnce = send();
  const again = setInterval(send, 1_000);
  await replied.promise;
  clearInterval(again);
  socket.close();
  expect(sentAtOnce).toBe('');
  return types;
}

describe('a raw socket of the kernel', () => {
  itWithIpv4('sends at once, and gets the reply without the request, over IPv4', async () => {
    expect(await typesOfEcho(4, '127.0.0.1')).toEqual([ICMP_TYPES[4].echoReply]);
  });

  itWithIpv6('sends at once, and gets the reply without the request, over IPv6', async () => {
    expect(await typesOfEcho(6, '::1')).toEqual([ICMP_TYPES[6].echoReply]);
  });
});

const LOOPBACK = { 4: '127.0.0.1', 6: '::1' } as const;
/** Port of the error that ends a run; no suite binds so low a port. */
const END_PORT = 7;
const [OWN, FOREIGN] = [randomInt(1_100, 0x7fff), randomInt(0x8000, 0x1_0000)];

/** Interval at which packets are repeated, milliseconds. */
const REST_MS = 50;

/**
 * Sends packets to loopback in one turn from a socket that selects identifiers. Then sends an error about `END_PORT`
 * until one arrives, and returns the owners of what arrived before.
 *
 * @param repeated packets that are sent repeatedly, since a busy kernel may drop one of many
 */
async function ownersReceived(
  [family, protocol]: readonly [Family, PacketProtocol],
  selected: readonly number[],
  packets: readonly Uint8Array[],
  repeated: readonly Uint8Array[] = [],
): Promise<ReadonlySet<string>> {
  const owners: string[] = [];
  const end = Promise.withResolvers<void>();
  const libc = await findLibc();
  const receive = (received: ArrivedPacket): void => {
    const owner = ownerOf(family, received.protocol, received.data);
    if (owner?.protocol === 'udp' && owner.identifier === END_PORT) end.resolve();
    else if (owner !== undefined) owners.push(`${owner.protocol} ${owner.identifier}`);
  };
  const socket = openRawSocket(rawSocket, libc, family, protocol, receive);
  const icmp = openRawSocket(rawSocket, libc, family, 'icmp', protocol === 'icmp' ? () => undefined : receive);
  socket.select(selected);
  const errors = new Set<string>();
  const send = (from: SharedRawSocket, packet: Uint8Array): void => {
    const outgoing = { packet, destination: LOOPBACK[family], ttl: 64, label: null, dscp: 0 } as const;
    from.send(outgoing, (errno) => errors.add(errno));
  };
  for (const packet of packets) send(socket, packet);
  for (let time = 0; time < 5 && repeated.length > 0; time += 1) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REST_MS);
    for (const packet of repeated) send(socket, packet);
  }
  const ending = setInterval(() => send(icmp, errorAbout(family, 'udp', END_PORT)), REST_MS);
  await end.promise;
  clearInterval(ending);
  for (const one of [socket, icmp]) one.close();
  expect([...errors]).toEqual(['']);
  // Other suites use loopback, too.
  return new Set(owners.filter((owner) => [OWN, FOREIGN].some((identifier) => owner.endsWith(` ${identifier}`))));
}

function errorAbout(family: Family, protocol: 'icmp' | 'udp', identifier: number): Uint8Array {
  const [address, { unreachable }] = [LOOPBACK[family], ICMP_TYPES[family]];
  const echo = echoRequest(family, identifier, 1, new Uint8Array(8));
  const flow = { source: address, destination: address, sourcePort: identifier, destinationPort: 9 };
  const [number, quoted] =
    protocol === 'udp'
      ? [IPPROTO.udp, udpDatagram(flow, new Uint8Array(8))]
      : [family === 4 ? IPPROTO.icmp : IPPROTO.icmpv6, echo];
  return icmpError(family, unreachable, 1, ipPacket(address, address, number, quoted));
}

describe('the filter of a raw socket', () => {
  for (const [family, itWithFamily] of [
    [4, itWithIpv4],
    [6, itWithIpv6],
  ] as const) {
    const echo = (identifier: number, bytes = 8): Uint8Array =>
      echoRequest(family, identifier, 1, new Uint8Array(bytes));

    itWithFamily(`drops replies to other identifiers, and errors about their requests, over IPv${family}`, async () => {
      const packets = [FOREIGN, OWN].flatMap((one) => [echo(one), errorAbout(family, 'icmp', one)]);
      const udp = errorAbout(family, 'udp', FOREIGN);
      const [replies, errors] = [packets.filter((_, index) => index % 2 === 0), [packets[1]!, packets[3]!]];

      expect(await ownersReceived([family, 'icmp'], [OWN], [...replies, udp])).toEqual(
        new Set([`icmp ${OWN}`, `udp ${FOREIGN}`]),
      );
      expect(await ownersReceived([family, 'icmp'], [OWN], errors)).toEqual(new Set([`icmp ${OWN}`]));
    });

    itWithFamily(`passes the first and the last of many identifiers, over IPv${family}`, async () => {
      const others = Array.from({ length: 248 }, (_, index) => (OWN + index + 1) % 0x8000);
      const owners = await ownersReceived([family, 'icmp'], [OWN, ...others, FOREIGN], [echo(OWN), echo(FOREIGN)]);

      expect(owners).toEqual(new Set([`icmp ${OWN}`, `icmp ${FOREIGN}`]));
    });

    itWithFamily(`drops nothing for more identifiers than fit into a filter, over IPv${family}`, async () => {
      const many = Array.from({ length: 1_000 }, (_, index) => index + 1).filter((identifier) => identifier !== OWN);

      expect(await ownersReceived([family, 'icmp'], many, [echo(OWN)])).toEqual(new Set([`icmp ${OWN}`]));
    });

    itWithFamily(`keeps space for a reply while replies to other programs flood, over IPv${family}`, async () => {
      // These are more bytes than the receive buffer takes.
      const flood = Array.from({ length: 8_000 }, () => echo(FOREIGN, 1_400));
      const owners = await ownersReceived([family, 'icmp'], [OWN], flood, [echo(OWN)]);

      expect(owners).toEqual(new Set([`icmp ${OWN}`]));
    });

    itWithFamily(`drops TCP segments to other ports, over IPv${family}`, async () => {
      const address = LOOPBACK[family];
      const syns = [FOREIGN, OWN].map((sourcePort) =>
        tcpSyn({ source: address, destination: address, sourcePort, destinationPort: 1 }, 1_000),
      );

      expect(await ownersReceived([family, 'tcp'], [OWN], syns)).toEqual(new Set([`tcp ${OWN}`]));
    });
  }
});
