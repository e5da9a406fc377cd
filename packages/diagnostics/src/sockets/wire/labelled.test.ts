import { describe, expect, it } from '@jest/globals';

import { onesComplementSum, pseudoHeader } from './checksum.ts';
import { echoRequest } from './icmp.ts';
import { IPPROTO, parseIp } from './ip.ts';
import { labelledPacket } from './labelled.ts';

const ends = { source: '2001:db8::1', destination: '2001:db8:5::7' } as const;

describe('an IPv6 packet with a flow label', () => {
  it('has its header, and the ICMPv6 checksum that the kernel leaves out', () => {
    const request = echoRequest(6, 40_001, 7, Uint8Array.of(1, 2, 3, 4));
    const packet = labelledPacket(request, { ...ends, protocol: IPPROTO.icmpv6, hopLimit: 9, label: 0xabcde, dscp: 0 });
    const message = packet.subarray(40);

    expect(Buffer.from(packet).readUInt32BE(0)).toBe(0x600abcde);
    expect(parseIp(6, packet)).toMatchObject({ ...ends, protocol: 58, hopLimit: 9, totalBytes: 52 });
    expect(onesComplementSum(pseudoHeader(ends.source, ends.destination, 58, message.length), message)).toBe(0xffff);
    expect(request.subarray(2, 4)).toEqual(Uint8Array.of(0, 0));
  });

  it('carries datagrams and segments as they are', () => {
    const datagram = Uint8Array.from({ length: 12 }, (_, index) => index);

    const packet = labelledPacket(datagram, { ...ends, protocol: IPPROTO.udp, hopLimit: 1, label: 1, dscp: 46 });
    expect(packet.subarray(40)).toEqual(datagram);
    expect(parseIp(6, packet)).toMatchObject({ dscp: 46, hopLimit: 1 });
  });
});
