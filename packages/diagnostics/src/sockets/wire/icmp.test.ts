import { describe, expect, it } from '@jest/globals';

import { echoReplyTo, icmpError, ipPacket, withChecksum } from '../../../test/raw-packets.ts';
import { checksum, onesComplementSum } from './checksum.ts';
import { echoRequest, ICMP_TYPES, parseIcmp, type IcmpError } from './icmp.ts';
import { IPPROTO } from './ip.ts';

const payload = Buffer.from('sixteen bytes of');
const request = echoRequest(4, 0x1234, 7, payload);
const quotation = ipPacket('192.0.2.1', '198.51.100.7', IPPROTO.icmp, request);

/** An RFC 4884 structure with one MPLS stack of the given words. */
function extensions(...words: readonly number[]): Buffer {
  const structure = Buffer.alloc(8 + words.length * 4);
  structure[0] = 0x20;
  structure.writeUInt16BE(4 + words.length * 4, 4);
  structure.set([1, 1], 6);
  words.forEach((word, index) => structure.writeUInt32BE(word, 8 + index * 4));
  structure.writeUInt16BE(checksum(structure), 2);
  return structure;
}

function padded(bytes: Uint8Array, length: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]);
}

describe('ICMP echo', () => {
  it('is requested with a right checksum over IPv4 and none over IPv6, where the kernel fills it in', () => {
    expect(onesComplementSum(request)).toBe(0xffff);
    expect([...echoRequest(6, 1, 2, payload).subarray(0, 8)]).toEqual([128, 0, 0, 0, 0, 1, 0, 2]);
  });

  it.each([4, 6] as const)('is read from a reply over IPv%i', (family) => {
    const reply = echoReplyTo(family, echoRequest(family, 0x1234, 7, payload));

    expect(parseIcmp(family, reply)).toEqual({
      kind: 'echo-reply',
      identifier: 0x1234,
      sequence: 7,
      payload: Uint8Array.from(payload),
      intact: true,
    });
  });

  it('is distinguished from a reply that was damaged on the way', () => {
    const reply = echoReplyTo(4, request);
    reply[12]! ^= 0xff;

    expect(parseIcmp(4, reply)).toMatchObject({ kind: 'echo-reply', intact: false });
  });

  it('leaves requests of others alone', () => {
    expect(parseIcmp(4, request)).toBeUndefined();
    expect(parseIcmp(6, echoRequest(6, 1, 1, payload))).toBeUndefined();
  });
});

describe('an ICMP error', () => {
  it.each([
    ['a TTL that ran out', 4, 11, 0, 'time-exceeded'],
    ['an unreachable host', 4, 3, 1, 'unreachable'],
    ['a bad header', 4, 12, 0, 'parameter-problem'],
    ['an unreachable address', 6, 1, 3, 'unreachable'],
    ['a hop limit that ran out', 6, 3, 0, 'time-exceeded'],
    ['an unknown next header', 6, 4, 1, 'parameter-problem'],
  ] as const)('is read: %s', (_reason, family, type, code, kind) => {
    const [source, destination] = family === 4 ? ['192.0.2.1', '198.51.100.7'] : ['2001:db8::1', '2001:db8:5::7'];
    const quoted = ipPacket(source, destination, 17, Buffer.alloc(8), 3);

    expect(parseIcmp(family, icmpError(family, type, code, quoted))).toMatchObject({
      kind,
      type,
      code,
      quoted: { source, destination, protocol: 17, hopLimit: 3 },
      intact: true,
    });
  });

  it.each([
    ['IPv4, next-hop MTU of RFC 1191', 4, 3, 4],
    ['IPv6, packet too big', 6, 2, 0],
  ] as const)('says how much the next link carries: %s', (_reason, family, type, code) => {
    const quoted = family === 4 ? quotation : ipPacket('2001:db8::1', '2001:db8:5::7', 58, request);

    expect(parseIcmp(family, icmpError(family, type, code, quoted, 1_400))).toMatchObject({
      kind: 'too-big',
      mtu: 1_400,
    });
  });

  it('quotes a packet behind IPv6 extension headers', () => {
    const hopByHop = Buffer.from([IPPROTO.udp, 0, 0, 0, 0, 0, 0, 0]);
    const datagram = Buffer.from('1234567890abcdef', 'hex');
    const quoted = ipPacket('2001:db8::1', '2001:db8:5::7', 0, Buffer.concat([hopByHop, datagram]));
    const message = parseIcmp(6, icmpError(6, ICMP_TYPES[6].timeExceeded, 0, quoted)) as IcmpError;

    expect(message.quoted.protocol).toBe(IPPROTO.udp);
    expect([...message.quoted.payload]).toEqual([...datagram]);
  });

  it('is not of this probe when it quotes a later fragment', () => {
    const fragment = Uint8Array.from(quotation);
    fragment[7] = 1;

    expect(parseIcmp(4, icmpError(4, 11, 0, fragment))).toBeUndefined();
  });

  it.each([
    ['stated length', padded(quotation, 128), 32 << 16],
    ['no length, as routers before RFC 4884', padded(quotation, 128), 0],
  ])('carries an MPLS stack behind its quotation: %s', (_reason, quoted, word) => {
    const stack = extensions((24_001 << 12) | (5 << 9) | 1, (17 << 12) | (1 << 8) | 254);
    const message = parseIcmp(4, icmpError(4, 11, 0, Buffer.concat([quoted, stack]), word)) as IcmpError;

    expect(message.mpls).toEqual([
      { label: 24_001, trafficClass: 5, bottomOfStack: false, ttl: 1 },
      { label: 17, trafficClass: 0, bottomOfStack: true, ttl: 254 },
    ]);
    expect(message.quoted.payload.length).toBe(128 - 20);
  });

  it('carries it over IPv6, where the length counts words of eight bytes', () => {
    const quoted = padded(ipPacket('2001:db8::1', '2001:db8:5::7', 58, request), 128);
    const message = icmpError(6, 3, 0, Buffer.concat([quoted, extensions((99 << 12) | (1 << 8) | 7)]), 16 << 24);

    expect(parseIcmp(6, message)).toMatchObject({ mpls: [{ label: 99, ttl: 7 }] });
  });

  it('has no stack where the extensions are damaged', () => {
    const stack = extensions((24_001 << 12) | 1);
    stack[9]! ^= 0xff;
    const message = icmpError(4, 11, 0, Buffer.concat([padded(quotation, 128), stack]), 32 << 16);

    expect(parseIcmp(4, message)).toMatchObject({ kind: 'time-exceeded', mpls: [] });
  });

  it('carries what the router says of its interfaces', () => {
    // RFC 5837 section 4: incoming, with index, IPv4 address, name and MTU; outgoing, with an IPv6 address alone.
    const name = Buffer.from('ge-0/0/1\0\0\0');
    const incoming = Buffer.concat([
      Buffer.from([0, 32, 2, 0x0f, 0, 0, 0, 7, 0, 1, 0, 0, 192, 0, 2, 9, name.length + 1]),
      name,
      Buffer.from([0, 0, 5, 220]),
    ]);
    const outgoing = Buffer.from('001802840002000020010db8000000000000000000000009', 'hex');
    const head = Buffer.from([0x20, 0, 0, 0]);
    const structure = Buffer.concat([head, incoming, outgoing]);
    const message = icmpError(4, 11, 0, Buffer.concat([padded(quotation, 128), structure]), 32 << 16);

    expect(parseIcmp(4, message)).toMatchObject({
      interfaces: [
        { role: 'incoming', index: 7, address: '192.0.2.9', name: 'ge-0/0/1', mtu: 1_500 },
        { role: 'outgoing', index: null, address: '2001:db8::9', name: null, mtu: null },
      ],
    });
    // An object that ends before its fields do is ignored.
    const cut = Buffer.concat([head, Buffer.from([0, 8, 2, 0x0f, 0, 0, 0, 7])]);
    const short = icmpError(4, 11, 0, Buffer.concat([padded(quotation, 128), cut]), 32 << 16);
    expect(parseIcmp(4, short)).toMatchObject({ kind: 'time-exceeded', interfaces: [] });
  });

  it('never throws, wherever it is cut off', () => {
    const whole = icmpError(4, 11, 0, Buffer.concat([padded(quotation, 128), extensions(1 << 12)]), 32 << 16);
    for (const family of [4, 6] as const) {
      for (let length = 0; length <= whole.length; length += 1) {
        const part = whole.slice(0, length);
        // A checksum needs the first four bytes.
        expect(() => parseIcmp(family, length < 4 ? part : withChecksum(family, part))).not.toThrow();
      }
    }
  });
});
