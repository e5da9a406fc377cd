import { describe, expect, it } from '@jest/globals';

import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { checksum } from '../../../sockets/wire/checksum.ts';
import { echoReplyTo, icmpError, ipPacket, protocolNumber, timeExceeded } from '../../../../test/raw-packets.ts';
import { LENGTHS, traceFlow, type FlowOptions } from './flow.ts';

const addresses = {
  4: { source: '192.0.2.1', destination: '198.51.100.7' },
  6: { source: '2001:db8::1', destination: '2001:db8:5::7' },
} as const;

const cases = ([4, 6] as const).flatMap((family) =>
  (['icmp', 'udp', 'tcp'] as const).map((protocol) => ({ family, protocol })),
);

function options(family: 4 | 6, protocol: 'icmp' | 'udp' | 'tcp', more: Partial<FlowOptions> = {}): FlowOptions {
  return { family, protocol, identifier: 61_000, port: 80, tag: 'vantage-test', ...addresses[family], ...more };
}

function received(
  data: Uint8Array,
  protocol: ReceivedPacket['protocol'] = 'icmp',
  from = '203.0.113.1',
): ReceivedPacket {
  return { protocol, data, from, hopLimit: null, receivedMs: 1, clock: 'kernel' };
}

describe.each(cases)('a flow of $protocol over IPv$family', ({ family, protocol }) => {
  const { source, destination } = addresses[family];
  const flow = traceFlow(options(family, protocol));
  const number = protocolNumber(family, protocol);

  it('looks the same to a load balancer in every packet', () => {
    const hashed = (packet: Uint8Array): string =>
      Buffer.from(packet.subarray(0, protocol === 'icmp' ? 6 : 4)).toString('hex');
    const seen = new Set([0, 1, 2, 300, 639].map((index) => hashed(flow.packet(index))));

    expect(seen.size).toBe(1);
  });

  it('has an ICMP checksum that stays the same, for IPv6 once the kernel has filled it in', () => {
    if (protocol !== 'icmp') return;
    const sums = new Set(
      [0, 1, 2, 639].map((index) =>
        checksum(Uint8Array.from([...flow.packet(index)].map((byte, at) => (at === 2 || at === 3 ? 0 : byte)))),
      ),
    );

    expect(sums.size).toBe(1);
  });

  it('has packets that all differ, of one length unless that numbers them', () => {
    const packets = Array.from({ length: 640 }, (_, index) => Buffer.from(flow.packet(index)));

    expect(new Set(packets.map((packet) => packet.length)).size).toBe(protocol === 'udp' ? LENGTHS : 1);
    expect(new Set(packets.map((packet) => packet.toString('hex'))).size).toBe(640);
  });

  it('knows each of its packets from the whole quotation and from eight bytes of it', () => {
    for (const index of [0, 1, 17, 639]) {
      for (const quoted of [flow.packet(index), flow.packet(index).slice(0, 8)]) {
        const message = timeExceeded(family, source, destination, number, quoted);

        expect(flow.match(received(message))).toMatchObject({ index, error: { kind: 'time-exceeded' } });
      }
    }
  });

  it('knows them where the quotation is padded with zeros', () => {
    const quoted = Buffer.concat([flow.packet(5).slice(0, 8), Buffer.alloc(100)]);

    expect(flow.match(received(timeExceeded(family, source, destination, number, quoted)))).toMatchObject({ index: 5 });
  });

  it('does not know the packets of another target', () => {
    const other = traceFlow(options(family, protocol, { destination: source }));
    const message = timeExceeded(family, source, source, number, other.packet(3));

    expect(flow.match(received(message))).toBeUndefined();
  });

  it('says which fields of a quotation are not as they were sent', () => {
    const changes = (from: string, to: string, change: (quoted: Uint8Array) => void): unknown => {
      const quoted = flow.packet(3);
      change(quoted);
      const match = flow.match(received(timeExceeded(family, from, to, number, quoted)));
      return match?.error ? flow.rewritten(3, match.error) : undefined;
    };
    const at = { icmp: 2, udp: 6, tcp: 16 }[protocol];
    const isKnown = protocol !== 'icmp' || family === 4;

    expect(changes(source, destination, () => undefined)).toEqual([]);
    expect(changes(destination, destination, () => undefined)).toEqual(['source']);
    expect(changes(source, destination, (quoted) => (quoted[at]! ^= 0x5a))).toEqual(isKnown ? ['checksum'] : []);
    expect(changes(source, destination, (quoted) => quoted.fill(0, at, at + 2))).toEqual([]);
    // A SYN has no room for a cookie, which would prove that it is the same packet.
    expect(changes(source, source, () => undefined)).toEqual(protocol === 'tcp' ? undefined : ['destination']);
  });

  it('has the size that was asked for, and stays one flow', () => {
    if (protocol === 'tcp') return;
    const large = traceFlow(options(family, protocol, { bytes: 1_400 }));
    const packets = Array.from({ length: 640 }, (_, index) => large.packet(index));

    expect(new Set(packets.map(({ length }) => length))).toEqual(new Set([1_400 - (family === 4 ? 20 : 40)]));
    for (const index of [0, 5, 200, 639]) {
      for (const quoted of [packets[index]!, packets[index]!.slice(0, 8)]) {
        const message = timeExceeded(family, source, destination, number, quoted);
        expect(large.match(received(message))).toMatchObject({ index });
      }
    }
  });

  it('does not know the packets of another check with the same identifier', () => {
    const other = traceFlow(options(family, protocol));
    const message = timeExceeded(family, source, destination, number, other.packet(3));
    // A TCP SYN has no space for a cookie: its random sequence number distinguishes the checks.
    const match = flow.match(received(message));

    if (protocol === 'tcp') expect(match?.index).not.toBe(3);
    else expect(match).toBeUndefined();
  });

  it('does not know the packets of another port', () => {
    const other = traceFlow(options(family, protocol, { identifier: 61_001 }));

    expect(flow.match(received(timeExceeded(family, source, destination, number, other.packet(3))))).toBeUndefined();
  });

  it('throws at nothing that arrives, and takes nothing damaged for its own', () => {
    const whole = timeExceeded(family, source, destination, number, flow.packet(9));
    for (let length = 0; length <= whole.length; length += 1) {
      for (const by of ['icmp', 'udp', 'tcp'] as const) {
        expect(() => flow.match(received(whole.slice(0, length), by, destination))).not.toThrow();
      }
    }
    if (family === 6) return;
    const damaged = Uint8Array.from(whole);
    damaged[30]! ^= 0x40;
    expect(flow.match(received(damaged))).toBeUndefined();
  });
});

describe('what the target answers', () => {
  it('is an echo reply', () => {
    const flow = traceFlow(options(4, 'icmp'));

    expect(flow.match(received(echoReplyTo(4, flow.packet(11)), 'icmp', addresses[4].destination))).toEqual({
      index: 11,
      error: null,
    });
  });

  it('is a closed UDP port', () => {
    const flow = traceFlow(options(4, 'udp'));
    const { source, destination } = addresses[4];
    const message = icmpError(4, 3, 3, ipPacket(source, destination, 17, flow.packet(4)));

    expect(flow.match(received(message, 'icmp', destination))).toMatchObject({ index: 4, error: { code: 3 } });
  });

  it('is a datagram, which does not say for which packet it is', () => {
    const flow = traceFlow(options(4, 'udp'));
    const datagram = Buffer.from('0050ee4800080000', 'hex');

    expect(flow.match(received(datagram, 'udp', addresses[4].destination))).toEqual({ index: null, error: null });
    expect(flow.match(received(datagram, 'udp', '203.0.113.50'))).toBeUndefined();
  });

  it.each([
    ['SYN-ACK', 0x12, { reply: 'accepted' }],
    ['RST', 0x14, { reply: 'reset' }],
    ['bare ACK', 0x10, {}],
  ])('is a %s that acknowledges the SYN', (_name, flags, kind) => {
    const flow = traceFlow(options(4, 'tcp'));
    const syn = Buffer.from(flow.packet(21));
    const segment = Buffer.alloc(20);
    segment.writeUInt16BE(80, 0);
    segment.writeUInt16BE(61_000, 2);
    segment.writeUInt32BE((syn.readUInt32BE(4) + 1) >>> 0, 8);
    segment[13] = flags;

    expect(flow.match(received(segment, 'tcp', addresses[4].destination))).toEqual({
      index: 21,
      error: null,
      ...kind,
    });
  });

  it('is known from a quoted number where address translation changed the checksum', () => {
    const flow = traceFlow(options(4, 'udp'));
    const { source, destination } = addresses[4];
    const translated = flow.packet(8);
    translated[6]! ^= 0x5a;

    expect(flow.match(received(timeExceeded(4, source, destination, 17, translated)))).toMatchObject({ index: 8 });
  });

  it.each([0, 8, 126, 127, 300])(
    'is known by its length from eight bytes with another checksum: packet %i',
    (index) => {
      const flow = traceFlow(options(4, 'udp'));
      const { source, destination } = addresses[4];
      const translated = flow.packet(index).slice(0, 8);
      translated[7]! ^= 0x5a;

      expect(flow.match(received(timeExceeded(4, source, destination, 17, translated)))).toMatchObject({
        index: null,
        remainder: index % LENGTHS,
      });
    },
  );

  it('is known from eight bytes of which address translation changed the checksum', () => {
    const flow = traceFlow(options(4, 'icmp'));
    const { source, destination } = addresses[4];
    const translated = flow.packet(8).slice(0, 8);
    translated[3]! ^= 0x5a;

    expect(flow.match(received(timeExceeded(4, source, destination, 1, translated)))).toMatchObject({ index: 8 });
  });
});
