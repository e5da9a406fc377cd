import { describe, expect, it } from '@jest/globals';

import { agreementOf } from './words.ts';

const counts = { up: 0, down: 0, silent: 0, notMeasured: 0, pending: 0 };

describe('what probes agree about', () => {
  it.each([
    ['info', 100, 0, '100 of 100 probes agree that the host can be looked up'],
    ['info', 0, 3, '3 of 3 probes agree that the host cannot be looked up'],
    ['dns', 3, 1, '3 of 4 probes agree that the name exists'],
    ['dns', 1, 3, '3 of 4 probes agree that the name does not resolve'],
    ['http', 2, 0, '2 of 2 probes agree that it answers'],
    ['ping', 1, 2, '2 of 3 probes agree that it fails'],
    ['tcp', 2, 0, '2 of 2 probes agree that the port is open'],
    ['traceroute', 2, 0, '2 of 2 probes agree that the target is reached'],
    ['whois', 2, 0, '2 of 2 probes agree that it answers'],
  ])('is named, since their answers may differ: %s, %d up, %d down', (type, up, down, text) => {
    const agree = { n: Math.max(up, down), of: up + down };

    expect(agreementOf({ type, agree, counts: { ...counts, up, down } })).toBe(text);
  });

  it('is nothing if as many fail as do not', () => {
    const summary = { type: 'ping', agree: { n: 1, of: 2 }, counts: { ...counts, up: 1, down: 1 } };

    expect(agreementOf(summary)).toBeUndefined();
  });

  it('is nothing with one probe', () => {
    const summary = { type: 'ping', agree: { n: 1, of: 1 }, counts: { ...counts, up: 1 } };

    expect(agreementOf(summary)).toBeUndefined();
  });
});
