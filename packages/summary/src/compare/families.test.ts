import { describe, expect, it } from '@jest/globals';

import { bad, type Result } from '../../test/cases.ts';
import { compared } from '../../test/compared.ts';
import { http, lost, ping, tls, trace } from '../../test/results.ts';

describe('a comparison of checks over both families', () => {
  type Ping = Result<'ping'>;
  const over = (ipv4: Ping, ipv6: Ping): Ping => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = { ...ipv6, resolvedIp: '2001:db8::1' };
    return { ...ipv4, otherFamily: { family: 6, ...other } } as Ping;
  };
  const [fast, slow] = [ping([20, 21, 20, 22, 21]), ping([80, 81, 80, 82, 81])];
  const textsIn = (a: Ping, b: Ping): readonly string[] =>
    compared('ping', { 'fra-1': a }, { 'fra-1': b }).probes['fra-1']!.differences.map(({ text }) => text);

  it('does not compare times of a probe that stood still', () => {
    const tcp = (rt: number, more: Partial<Result<'tcp'>> = {}): Result<'tcp'> => ({
      ...bad('timed_out', {}),
      result: 'success',
      error: null,
      rt,
      state: 'open',
      port: 443,
      attempts: [1, 2, 3].map(() => ({ rt, error: null })),
      ...more,
    });
    const textsOf = (b: Result<'tcp'>): readonly string[] =>
      compared('tcp', { 'fra-1': tcp(20) }, { 'fra-1': b }).probes['fra-1']!.differences.map(({ text }) => text);

    expect(textsOf(tcp(4_900))).toEqual([expect.stringMatching(/^median round trip/)]);
    expect(textsOf(tcp(4_900, { stalled: 4_000 }))).toEqual([]);
  });

  it('names the family of each difference', () => {
    const { probes, result, sentence } = compared('ping', { 'fra-1': over(fast, fast) }, { 'fra-1': over(fast, lost) });

    expect(probes['fra-1']!.differences).toMatchObject([
      { subject: 'outcome', family: 6, text: 'over IPv6 outcome success → timeout (timed_out)' },
    ]);
    expect(result).toBe('different');
    expect(sentence).toBe('Verdict up → degraded; over IPv6 outcome success → timeout (timed_out) (fra-1).');
  });

  it('compares IPv4 with IPv4, whichever is first', () => {
    const nameless = bad('dns_no_address', { resolvedIp: null });
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = nameless;
    const swapped = { ...fast, resolvedIp: '2001:db8::1', otherFamily: { family: 4, ...other } } as unknown as Ping;

    expect(textsIn(over(fast, fast), swapped)).toEqual(['over IPv4 outcome success → failure (dns_no_address)']);
  });

  it('finds nothing in equal checks, and the times of one family in others', () => {
    expect(textsIn(over(fast, slow), over(fast, slow))).toEqual([]);
    expect(textsIn(over(fast, fast), over(fast, slow))).toEqual([
      expect.stringMatching(/^over IPv6 median round trip 21 ms → 81 ms/),
    ]);
  });

  it('does not take a second measurement that failed at the probe for a change', () => {
    const interrupted = bad('probe_interrupted', {}, { result: 'error', source: 'probe' }) as Ping;
    const { result, probes } = compared('ping', { 'fra-1': over(fast, fast) }, { 'fra-1': over(fast, interrupted) });

    expect(result).toBe('unsure');
    expect(probes['fra-1']!.differences).toMatchObject([{ subject: 'outcome', family: 6, certain: false }]);
  });

  it('says that one check measured one family', () => {
    expect(textsIn(over(fast, fast), fast)).toEqual(['address families both → one']);
  });

  it('compares the family that one check measured with the same one of the other', () => {
    const six = { ...slow, resolvedIp: '2001:db8::1' };

    expect(textsIn(six, over(fast, slow))).toEqual(['address families one → both']);
    expect(textsIn(over(fast, slow), six)).toEqual(['address families both → one']);
    expect(textsIn(over(fast, fast), six)).toEqual([
      'address families both → one',
      expect.stringMatching(/^median round trip 21 ms → 81 ms/),
    ]);
  });

  it('doubts no certificate that only the other family of a check has', () => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = http(200, { tls: tls('02') });
    const both = { ...http(200, { tls: tls('01') }), otherFamily: { ...other, resolvedIp: '2001:db8::1', family: 6 } };
    const six = { ...http(200, { tls: tls('01') }), resolvedIp: '2001:db8::1' };
    const { differences } = compared('http', { 'fra-1': six }, { 'fra-1': both as unknown as Result<'http'> }).probes[
      'fra-1'
    ]!;

    expect(differences.filter(({ subject }) => subject === 'certificate')).toMatchObject([
      { a: ['01'], b: ['02'], certain: true },
    ]);
  });

  it('has the paths of both', () => {
    const [path, other] = [
      trace(['198.51.100.1 9 9 9', '203.0.113.1 9 9 9']),
      trace(['192.0.2.9 9 9 9', '203.0.113.1 9 9 9']),
    ];
    const both = { ...path, otherFamily: { family: 6, ...other } } as Result<'traceroute'>;
    const { path: ipv4, otherPath: ipv6 } = compared('traceroute', { 'fra-1': both }, { 'fra-1': both }).probes[
      'fra-1'
    ]!;

    expect([ipv4, ipv6].map((one) => one!.a!.hops[0])).toEqual([['198.51.100.1'], ['192.0.2.9']]);
  });
});
