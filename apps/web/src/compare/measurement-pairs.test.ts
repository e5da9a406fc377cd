import { describe, expect, it } from '@jest/globals';

import { measurementPairs } from './measurement-pairs.ts';

type Check = Parameters<typeof measurementPairs>[1];

describe('the pairs of measurements of two checks', () => {
  const four = { result: 'success', resolvedIp: '192.0.2.1' };
  const six = { result: 'success', resolvedIp: '2001:db8::1' };
  const both = { ...four, otherFamily: { ...six, family: 6 } };
  const of = (result: object) => ({ results: { 'fra-1': result } }) as unknown as Check;
  const addresses = (a: object, b: object) =>
    measurementPairs(['fra-1'], of(a), of(b)).map(([id, ofA, ofB]) => [
      id,
      ...[ofA, ofB].map((one) => (one as unknown as typeof four).resolvedIp),
    ]);

  it('are of one family each', () => {
    expect(addresses(both, both)).toEqual([
      ['fra-1 IPv4', '192.0.2.1', '192.0.2.1'],
      ['fra-1 IPv6', '2001:db8::1', '2001:db8::1'],
    ]);
    expect(addresses(six, both)).toEqual([['fra-1', '2001:db8::1', '2001:db8::1']]);
    expect(addresses(both, four)).toEqual([['fra-1', '192.0.2.1', '192.0.2.1']]);
    // Without an address the family is not known.
    expect(addresses({ result: 'failure', resolvedIp: null }, both)).toEqual([['fra-1', null, '192.0.2.1']]);
  });
});
