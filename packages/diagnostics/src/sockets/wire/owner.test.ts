import { describe, expect, it } from '@jest/globals';

import { echoReplyTo, icmpError, ipPacket } from '../../../test/raw-packets.ts';
import { echoRequest } from './icmp.ts';
import { ownerOf } from './owner.ts';

const echo = echoRequest(4, 777, 1, Buffer.alloc(4));
const ports = Buffer.from('ee490050deadbeef', 'hex');
const quoting = (protocol: number, payload: Uint8Array): Uint8Array =>
  icmpError(4, 11, 0, ipPacket('192.0.2.1', '198.51.100.7', protocol, payload));

describe('the owner of a packet', () => {
  it.each([
    ['an echo reply', 'icmp', echoReplyTo(4, echo), { protocol: 'icmp', identifier: 777 }],
    ['an error about an echo request', 'icmp', quoting(1, echo), { protocol: 'icmp', identifier: 777 }],
    ['an error about a datagram', 'icmp', quoting(17, ports), { protocol: 'udp', identifier: 0xee49 }],
    ['an error about a segment', 'icmp', quoting(6, ports), { protocol: 'tcp', identifier: 0xee49 }],
    ['a segment to a local port', 'tcp', ports, { protocol: 'tcp', identifier: 80 }],
    ['a datagram to a local port', 'udp', ports, { protocol: 'udp', identifier: 80 }],
    ['no socket: an echo request', 'icmp', echo, undefined],
    ['no socket: an error about an echo reply', 'icmp', quoting(1, echoReplyTo(4, echo)), undefined],
    ['no socket: an error about another protocol', 'icmp', quoting(47, ports), undefined],
    ['no socket: too short', 'tcp', ports.subarray(0, 7), undefined],
    ['no socket: empty', 'icmp', Buffer.alloc(0), undefined],
  ] as const)('is found for %s', (_reason, protocol, data, owner) => {
    expect(ownerOf(4, protocol, data)).toEqual(owner);
  });

  it('is looked for in any bytes without a throw', () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 0x7fff_ffff);
    const thrown: string[] = [];
    for (let round = 0; round < 3_000; round += 1) {
      const bytes = Uint8Array.from({ length: random() % 200 }, () => random() & 0xff);
      // Half of them begin like an ICMP error about an IPv4 packet.
      if (round % 2 === 0) bytes.set([11, 0, 0, 0, 0, random() & 0x3f, 0, 0, 0x45].slice(0, bytes.length));
      for (const family of [4, 6] as const) {
        for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
          try {
            ownerOf(family, protocol, bytes);
          } catch {
            thrown.push(Buffer.from(bytes).toString('hex'));
          }
        }
      }
    }
    expect(thrown).toEqual([]);
  });
});
