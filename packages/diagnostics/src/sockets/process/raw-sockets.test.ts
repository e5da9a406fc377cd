import { randomInt } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

import { describe, expect, it } from '@jest/globals';

import type { Family } from '@vantage/contract';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { echoRequest, ICMP_TYPES } from '../wire/icmp.ts';
import { openRawSocket, type RawSocketLibrary } from './raw-sockets.ts';

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
