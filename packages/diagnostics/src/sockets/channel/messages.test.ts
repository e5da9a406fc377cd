import { describe, expect, it } from '@jest/globals';

import { MAX_PACKET_BYTES } from '../packet-socket.ts';
import { decodeAnswer, decodeRequest, encodeAnswer, encodeRequest, type Answer, type Request } from './messages.ts';

const requests: readonly Request[] = [
  { op: 'open', ref: 1, family: 6, protocol: 'tcp', identifier: 65_535, isAwaited: true },
  { op: 'open', ref: 2, family: 4, protocol: 'icmp', identifier: 1, isAwaited: false },
  { op: 'close', ref: 0xffff_ffff },
  {
    op: 'send',
    ref: 1,
    token: 2,
    ttl: 255,
    destination: '2001:db8::1',
    label: null,
    dscp: 63,
    packet: Uint8Array.of(1, 2, 3),
  },
  {
    op: 'send',
    ref: 1,
    token: 2,
    ttl: 9,
    destination: '2001:db8::1',
    packet: Uint8Array.of(1, 2, 3),
    label: { label: 0xfffff, source: '2001:db8::9' },
    dscp: 0,
  },
  {
    op: 'send',
    ref: 1,
    token: 2,
    ttl: 1,
    destination: '192.0.2.1',
    label: null,
    dscp: 46,
    packet: new Uint8Array(MAX_PACKET_BYTES),
  },
  { op: 'source', token: 3, destination: '192.0.2.1' },
  { op: 'watch', ref: 1, family: 4, protocol: 'udp', identifier: 40_000, recallMs: 65_535 },
  { op: 'expect', family: 6, identifiers: [1, 65_535] },
];

const answers: readonly Answer[] = [
  { op: 'ready', errno: 'ENOSYS', reason: 'Für nichts' },
  { op: 'opened', ref: 4, errno: '' },
  { op: 'sent', token: 5, sentMs: 123.456_789, errno: '' },
  { op: 'source', token: 6, address: '192.0.2.1', errno: '' },
  {
    op: 'packet',
    ref: 7,
    protocol: 'udp',
    hopLimit: null,
    receivedMs: 0.25,
    clock: 'kernel',
    from: '192.0.2.1',
    data: new Uint8Array(MAX_PACKET_BYTES),
  },
  {
    op: 'packet',
    ref: 7,
    protocol: 'icmp',
    hopLimit: 0,
    clock: 'process',
    receivedMs: 1,
    from: '::1',
    data: Uint8Array.of(9),
  },
];

describe('messages of the packet process', () => {
  it.each(requests)('say the same after the way: $op', (request) => {
    expect(decodeRequest(encodeRequest(request))).toEqual(request);
  });

  it.each(answers)('answer the same after the way: $op', (answer) => {
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  });

  it('are refused where they are cut off or too long', () => {
    for (const request of requests.filter(({ op }) => op !== 'send')) {
      const body = encodeRequest(request);
      for (let length = 0; length < body.length; length += 1) {
        expect(() => decodeRequest(body.subarray(0, length))).toThrow(expect.objectContaining({ name: 'RangeError' }));
      }
      expect(() => decodeRequest(Buffer.concat([body, Buffer.alloc(1)]))).toThrow(
        expect.objectContaining({ name: 'RangeError' }),
      );
    }
  });

  it.each([
    ['an unknown kind', Buffer.from('09', 'hex')],
    ['an unknown family', Buffer.from('0000000001050000ff', 'hex')],
    ['a TTL of zero', encodeRequest({ ...(requests[3] as Extract<Request, { op: 'send' }>), ttl: 0 })],
    ['a name in place of an address', encodeRequest({ op: 'source', token: 1, destination: 'localhost' })],
  ])('are refused with %s', (_reason, body) => {
    expect(() => decodeRequest(body)).toThrow(expect.objectContaining({ name: 'RangeError' }));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('are refused with a time of %d', (sentMs) => {
    expect(() => decodeAnswer(encodeAnswer({ op: 'sent', token: 1, sentMs, errno: '' }))).toThrow(
      expect.objectContaining({ name: 'RangeError' }),
    );
  });

  it('throw nothing but RangeErrors, whatever the bytes', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 0x7fff_ffff);
    const wrong: unknown[] = [];
    for (let round = 0; round < 3_000; round += 1) {
      const body = Buffer.from(Array.from({ length: 1 + (random() % 40) }, () => random() & 0xff));
      body[0]! %= 5;
      for (const decode of [decodeRequest, decodeAnswer]) {
        try {
          decode(body);
        } catch (error) {
          if ((error as Error).name !== 'RangeError') wrong.push(error);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});
