import { describe, expect, it } from '@jest/globals';

import { bad, summaryOf, type Result } from '../test/cases.ts';
import { ping } from '../test/results.ts';

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
