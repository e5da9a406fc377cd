import { describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES } from '@vantage/contract';

import type { Hop } from '../result-fields.ts';
import { fitHops } from './fit-hops.ts';

const entry = { label: 1_048_575, trafficClass: 7, bottomOfStack: false, ttl: 255 };

function hops(name: string, labels: number): readonly Hop[] {
  const who = { private: false, hostname: name, hostnameVerified: false, asn: null, asName: null };
  return Array.from({ length: 64 }, (_, index) => {
    const ip = `2001:db8:ffff:ffff:ffff:ffff:ffff:${(0xff00 + index).toString(16)}`;
    const rtts = Array.from({ length: 10 }, () => 12_345.678);
    const mpls = Array.from({ length: labels }, () => entry);
    return { hop: index + 1, ip, ...who, latency: 1.5, rtts, responders: [{ ip, ...who, rtts }], mpls, icmp: null };
  });
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the hops of a result', () => {
  it.each([
    ['253-byte names and sixteen labels', 'n'.repeat(253), 16],
    ['names that JSON makes twice as long', '\\'.repeat(253), 16],
    ['names alone', '\u{1f600}'.repeat(253), 0],
  ])('fit, whatever the routers and their names say: %s', (_what, name, labels) => {
    const fitted = fitHops(hops(name, labels));

    expect(bytes(fitted)).toBeLessThan(MAX_RESULT_BYTES * 0.8);
    expect(fitted.map(({ ip, rtts }) => [ip, rtts.length])).toEqual(hops(name, labels).map(({ ip }) => [ip, 10]));
  });

  it('lose labels before names', () => {
    const fitted = fitHops(hops('n', 16));

    expect(fitted.every(({ hostname }) => hostname === 'n')).toBe(true);
    expect(fitted[0]?.mpls).toHaveLength(4);
  });

  it('stay whole where there is room', () => {
    const few = hops('n', 16).slice(0, 8);

    expect(fitHops(few)).toEqual(few);
  });
});
