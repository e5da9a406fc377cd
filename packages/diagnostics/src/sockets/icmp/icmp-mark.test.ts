import { describe, expect, it } from '@jest/globals';

import { icmpError, ipPacket } from '../../../test/raw-packets.ts';
import { parseIcmp } from '../wire/icmp.ts';
import { icmpMark } from './icmp-failure.ts';

const addresses = { 4: ['192.0.2.1', '198.51.100.7'], 6: ['2001:db8::1', '2001:db8::7'] } as const;

describe('the mark of an ICMP error', () => {
  it.each([
    [4, 3, 0, '!N'],
    [4, 3, 1, '!H'],
    [4, 3, 8, '!N'],
    [4, 3, 13, '!X'],
    [6, 1, 0, '!N'],
    [6, 1, 1, '!X'],
    [6, 1, 2, '!H'],
    [6, 1, 3, '!H'],
  ] as const)('is that of traceroute(8): IPv%i, type %i, code %i: %s', (family, type, code, mark) => {
    const [source, destination] = addresses[family];
    const quoted = ipPacket(source, destination, 17, new Uint8Array(64), 1);
    const error = parseIcmp(family, icmpError(family, type, code, quoted));
    if (error === undefined || error.kind === 'echo-reply') throw new Error('no error was read');

    expect(icmpMark(family, error, false)).toBe(mark);
  });
});
