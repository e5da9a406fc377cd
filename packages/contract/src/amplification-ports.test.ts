import { describe, expect, it } from '@jest/globals';

import { allowsPayload, amplificationPorts } from './amplification-ports.ts';

describe('amplification ports', () => {
  it('are those of reflectors, and of DNS, NTP and SNMP', () => {
    expect(amplificationPorts).toEqual([7, 13, 17, 19, 53, 111, 123, 137, 161, 389, 520, 1900, 3702, 5353, 11_211]);
  });

  it.each([
    ['chargen', 19, false],
    ['DNS', 53, false],
    ['SNMP', 161, false],
    ['a game', 27_015, true],
  ])('%s at port %i: payload of a client allowed: %s', (_name, port, isAllowed) => {
    expect(allowsPayload(port)).toBe(isAllowed);
  });
});
