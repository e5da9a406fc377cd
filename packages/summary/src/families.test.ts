import { describe, expect, it } from '@jest/globals';

import { bad, summaryOf, type Result } from '../test/cases.ts';
import { ping } from '../test/results.ts';

/** A result over IPv4 or IPv6 first, with the other one, which works or gets no answer. */
function overBoth(family: 4 | 6, works: readonly [boolean, boolean]): Result<'ping'> {
  const address = (of: 4 | 6): string => (of === 4 ? '203.0.113.1' : '2001:db8::1');
  const [first, second] = works.map((isWorking) =>
    isWorking ? ping([5, 5, 5]) : bad('timed_out', {}, { result: 'timeout' }),
  );
  const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = second!;
  const otherOf = family === 4 ? 6 : 4;
  return {
    ...first!,
    resolvedIp: address(family),
    otherFamily: { ...other, family: otherOf, resolvedIp: address(otherOf) },
  } as unknown as Result<'ping'>;
}

describe('probes that measured both families', () => {
  it('used both, whichever is first in their results', () => {
    const { verdict, headline, findings } = summaryOf('ping', {
      'fra-1': overBoth(6, [true, false]),
      'nyc-1': overBoth(4, [true, true]),
    });

    expect(verdict).toBe('degraded');
    expect(headline).toBe('example.com answers pings from both probes, but IPv4 fails.');
    expect(findings.map(({ code, text }) => [code, text])).toEqual([
      ['family_broken', expect.stringMatching(/^IPv4 fails from fra-1: .*; IPv6 works there\.$/)],
    ]);
  });

  it('have no failure that is named by one of them', () => {
    const { findings } = summaryOf('ping', {
      'fra-1': overBoth(4, [false, false]),
      'ber-1': overBoth(4, [false, false]),
      'lon-1': overBoth(6, [true, false]),
      'nyc-1': overBoth(6, [true, false]),
    });

    const codes = findings.map(({ code }) => code);
    expect(codes).not.toContain('down_family');
    expect(codes).not.toContain('down_address');
    expect(codes).not.toContain('families_differ');
  });
});

describe('a check over both families, one of which a probe could not measure', () => {
  it('has the verdict of the other, and says which was not measured', () => {
    const {
      startedAt: _startedAt,
      finishedAt: _finishedAt,
      ...ipv4
    } = bad('capability_missing', {}, { result: 'error', source: 'probe', phase: 'request' });
    const ipv6 = { ...ping([5, 5, 5]), resolvedIp: '2001:db8::1', otherFamily: { family: 4, ...ipv4 } };
    const { verdict, headline, findings } = summaryOf('ping', { 'fra-1': ipv6 as unknown as Result<'ping'> });

    expect(verdict).toBe('up');
    expect(headline).toBe('example.com answers pings from the one probe that could measure (round trip 5 ms).');
    expect(findings.find(({ code }) => code === 'family_absent')?.text).toMatch(
      /^Only IPv6 was measured where fra-1 could not measure IPv4 \(.+\)\.$/,
    );
  });
});
