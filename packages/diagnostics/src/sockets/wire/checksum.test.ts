import { describe, expect, it } from '@jest/globals';

import { checksum, fold, onesComplementSum, pseudoHeader } from './checksum.ts';

describe('the Internet checksum', () => {
  it('is that of the example in RFC 1071 section 3', () => {
    expect(onesComplementSum(Buffer.from('0001f203f4f5f6f7', 'hex'))).toBe(0xddf2);
    expect(checksum(Buffer.from('0001f203f4f5f6f7', 'hex'))).toBe(0x220d);
  });

  it('pads an odd byte with zero', () => {
    expect(checksum(Buffer.from('01', 'hex'))).toBe(checksum(Buffer.from('0100', 'hex')));
  });

  it('comes out as all ones over data that holds it', () => {
    const header = Buffer.from('45000054000040004001b1e5c0a80068c0a80001', 'hex');
    header.writeUInt16BE(0, 10);
    header.writeUInt16BE(checksum(header), 10);

    expect(onesComplementSum(header)).toBe(0xffff);
  });

  it('adds every carry back in', () => {
    expect(fold(0x2_ffff)).toBe(2);
    expect(fold(0x1_ffff)).toBe(1);
    expect(fold(0xffff)).toBe(0xffff);
  });

  it('covers a pseudo header of 12 bytes for IPv4 and 40 for IPv6', () => {
    expect(Buffer.from(pseudoHeader('192.0.2.1', '192.0.2.2', 17, 0x0102)).toString('hex')).toBe(
      'c0000201c000020200110102',
    );
    expect(Buffer.from(pseudoHeader('::1', '::2', 6, 0x0102)).toString('hex')).toBe(
      '00000000000000000000000000000001000000000000000000000000000000020000010200000006',
    );
  });
});
