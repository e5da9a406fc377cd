import { describe, expect, it } from '@jest/globals';

import { onesComplementSum, pseudoHeader } from './checksum.ts';
import { writeU16 } from './bytes.ts';
import { compensation, parseTcp, parseUdp, TCP_FLAGS, tcpSyn, udpDatagram, type Flow } from './transport.ts';

const flows: readonly Flow[] = [
  { source: '192.0.2.1', destination: '198.51.100.7', sourcePort: 61_001, destinationPort: 33_434 },
  { source: '2001:db8::1', destination: '2001:db8:5::7', sourcePort: 61_001, destinationPort: 443 },
];

describe.each(flows)('packets from $source', (flow) => {
  it('has a UDP checksum that holds', () => {
    const datagram = udpDatagram(flow, Buffer.from('odd'));

    expect(onesComplementSum(pseudoHeader(flow.source, flow.destination, 17, 11), datagram)).toBe(0xffff);
    expect(parseUdp(datagram)).toMatchObject({ sourcePort: 61_001, destinationPort: flow.destinationPort });
  });

  it('has the UDP checksum that was wanted, whatever the payload', () => {
    for (const wanted of [1, 2, 0x1234, 0x7fff, 0x8000, 0xfffd, 0xfffe]) {
      for (const words of ['0000', '0000ffff', '00001234abcd56', '0000fffefffefffe']) {
        const payload = Uint8Array.from(Buffer.from(words, 'hex'));
        writeU16(payload, 0, compensation(flow, payload, wanted));

        expect(parseUdp(udpDatagram(flow, payload))?.checksum).toBe(wanted);
      }
    }
  });

  it('has a SYN with one option and a checksum that holds', () => {
    const segment = tcpSyn(flow, 0xfedc_ba98);

    expect(segment).toHaveLength(24);
    expect(onesComplementSum(pseudoHeader(flow.source, flow.destination, 6, 24), segment)).toBe(0xffff);
    expect(parseTcp(segment)).toEqual({
      sourcePort: 61_001,
      destinationPort: flow.destinationPort,
      sequence: 0xfedc_ba98,
      acknowledgment: 0,
      flags: TCP_FLAGS.syn,
    });
  });
});

describe('quotations of eight bytes', () => {
  it('suffice for the ports, the UDP checksum and the TCP sequence', () => {
    const eight = Buffer.from('ee490050deadbeef', 'hex');

    expect(parseUdp(eight)).toMatchObject({ sourcePort: 0xee49, destinationPort: 80, checksum: 0xbeef });
    expect(parseTcp(eight)).toMatchObject({ sequence: 0xdeadbeef, acknowledgment: undefined, flags: undefined });
  });

  it('are needed', () => {
    expect(parseUdp(Buffer.alloc(7))).toBeUndefined();
    expect(parseTcp(Buffer.alloc(7))).toBeUndefined();
  });
});
