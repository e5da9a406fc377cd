import { describe, expect, it } from '@jest/globals';

import { bad, broken, each, summaryOf, textOf, type Result } from '../test/cases.ts';
import { misdated } from '../test/misdated.ts';
import { redirectOf } from '../test/redirect.ts';
import { dns, http, ping, tcp, tls, trace } from '../test/results.ts';

/**
 * A result over this family, which includes the measurement over the other one; `works`: which of the two were
 * answered.
 */
function overBoth(family: 4 | 6, works: readonly [boolean, boolean]): Result<'ping'> {
  const address = (of: 4 | 6): string => (of === 4 ? '203.0.113.1' : '2001:db8::1');
  const otherOf = family === 4 ? 6 : 4;
  const [first, second] = works.map((isWorking, index) =>
    isWorking
      ? ping([5, 5, 5], { resolvedIp: address(index === 0 ? family : otherOf) })
      : bad('timed_out', {}, { result: 'timeout' }),
  );
  const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = second!;
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
    expect(headline).toBe('example.com answers pings from both probes, but IPv4 fails from fra-1.');
    expect(findings.map(({ code, text }) => [code, text])).toEqual([
      ['family_broken', expect.stringMatching(/^IPv4 fails from fra-1: .*; IPv6 works there\.$/)],
    ]);
  });

  it.each(['ping', 'tcp', 'traceroute'] as const)(
    'degrade the verdict of %s, even if one of three sees a broken family',
    (type) => {
      const answered = {
        ping: ping([5, 5, 5]),
        tcp: tcp('open'),
        traceroute: trace(['192.0.2.1 1 1 1', '203.0.113.1 5 5 5']),
      }[type];
      const { startedAt: _startedAt, finishedAt: _finishedAt, ...works } = answered;
      const { startedAt: _started, finishedAt: _finished, ...fails } = bad('timed_out', {}, { result: 'timeout' });
      const over = (second: object): Result<typeof type> =>
        ({ ...answered, otherFamily: { ...second, family: 6, resolvedIp: '2001:db8::1' } }) as unknown as Result<
          typeof type
        >;
      const { verdict, findings } = summaryOf(type, { ...each('fra-1 ber-1', over(works)), 'nyc-1': over(fails) });

      expect(verdict).toBe('degraded');
      expect(findings.find(({ code }) => code === 'family_broken')).toMatchObject({
        severity: 'warning',
        probes: ['nyc-1'],
      });
    },
  );

  it('claim no slower family by a time that was measured once, nor both of them', () => {
    const timed = (firstByte: number) =>
      http(200, { timings: { dns: 5, connect: 20, tls: 25, firstByte, download: 5, total: 55 + firstByte } });
    const over = (four: number, six: number): Result<'http'> => {
      const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = timed(six);
      return { ...timed(four), otherFamily: { ...other, family: 6 } } as unknown as Result<'http'>;
    };
    const textsOf = (results: Readonly<Record<string, Result<'http'>>>): readonly string[] =>
      summaryOf('http', results).findings.flatMap(({ code, text }) => (code === 'family_slower' ? text : []));

    expect(textsOf({ 'fra-1': over(30, 400), 'nyc-1': over(400, 30), 'syd-1': over(30, 30) })).toEqual([
      'Over IPv4 it took longer from nyc-1; so few measurements do not prove that IPv4 is slower. IPv4 → IPv6: nyc-1 (first byte 400 ms → 30 ms, measured once each).',
      'Over IPv6 it took longer from fra-1; so few measurements do not prove that IPv6 is slower. IPv4 → IPv6: fra-1 (first byte 30 ms → 400 ms, measured once each).',
    ]);
    expect(textsOf(each('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1', over(30, 400)))).toEqual([
      expect.stringMatching(/^IPv6 is slower from 8 probes \(.*first byte 30 ms → 400 ms\)/),
    ]);
  });

  it.each([
    ['all packets of a ping', 'ping', (ms: number) => ping([ms, ms + 1, ms, ms + 2, ms + 1, ms])],
    [
      'all packets of a trace',
      'traceroute',
      (ms: number) => trace(['192.0.2.1 1 1 1 1 1 1', `203.0.113.1 ${ms} ${ms + 1} ${ms} ${ms + 2} ${ms + 1} ${ms}`]),
    ],
  ] as const)('claim no slower family by one flow, since another way explains it: %s', (_what, type, measured) => {
    const both = (four: number, six: number) => {
      const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = measured(six);
      const otherFamily = { ...other, family: 6, resolvedIp: '203.0.113.1' };
      return { ...measured(four), otherFamily } as unknown as Result<typeof type>;
    };
    const texts = (results: Readonly<Record<string, Result<typeof type>>>) =>
      summaryOf(type, results).findings.flatMap(({ code, text }) => (code === 'family_slower' ? text : []));

    expect(texts({ ...each('fra-1 ber-1 par-1', both(52, 2)), 'nyc-1': both(2, 52) })).toEqual([
      expect.stringMatching(
        /^Over IPv4 it took longer from 3 probes \(.*\); that does not prove that IPv4 is slower, since two ways of a load balancer may differ so\. IPv4 → IPv6: /,
      ),
      expect.stringMatching(/^Over IPv6 it took longer from nyc-1; that does not prove that IPv6 is slower/),
    ]);
    expect(texts(each('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1', both(2, 52)))).toEqual([
      expect.stringMatching(/^IPv6 is slower from 8 probes/),
    ]);
  });

  it.each([4, 6] as const)('say that the server is slow over IPv%i alone', (family) => {
    const timed = (dns: number, firstByte: number) =>
      http(200, { timings: { dns, connect: 20, tls: 25, firstByte, download: 5, total: 50 + dns + firstByte } });
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = timed(2_000, family === 6 ? 1_500 : 30);
    const both = { ...timed(5, family === 4 ? 1_500 : 30), otherFamily: { ...other, family: 6 } };
    const { findings } = summaryOf('http', { 'fra-1': both as unknown as Result<'http'> });

    expect(findings.flatMap(({ code, text }) => (code.endsWith('_slow') ? text : []))).toEqual([
      `${family === 6 ? 'Over IPv6: ' : ''}The answer took long to begin: fra-1 1.5 s. The server was slow, or packets were lost on the way.`,
    ]);
  });

  it('have no slower family if their phases differ in both directions', () => {
    const timed = (connect: number, firstByte: number) =>
      http(200, { timings: { dns: 5, connect, tls: 25, firstByte, download: 5, total: 35 + connect + firstByte } });
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = timed(300, 30);
    const both = { ...timed(20, 400), otherFamily: { ...other, family: 6 } } as unknown as Result<'http'>;

    expect(summaryOf('http', { 'fra-1': both }).findings.map(({ code }) => code)).not.toContain('family_slower');
  });

  it('lay a failing family to the target only if probes of two networks agree', () => {
    const broken = overBoth(4, [true, false]);
    const brokenIn = (probes: string) => {
      const { headline, findings } = summaryOf('ping', each(probes, broken));
      return [headline, findings.find(({ code }) => code === 'family_broken')!.text];
    };

    expect(brokenIn('fra-1')).toEqual([
      expect.stringMatching(/, but IPv6 fails from fra-1\.$/),
      expect.stringMatching(/; IPv4 works there\. No probe of another network measured IPv6: /),
    ]);
    expect(brokenIn('fra-1 nyc-1')).toEqual([
      expect.stringMatching(/, but IPv6 fails\.$/),
      expect.stringMatching(/; IPv4 works there\.$/),
    ]);
  });

  it('lay a family that fails everywhere to no probe that measured it alone', () => {
    const {
      startedAt: _startedAt,
      finishedAt: _finishedAt,
      ...absent
    } = bad('family_unavailable', { resolvedIp: null }, { source: 'probe', result: 'error' });
    const overFourAlone = { ...overBoth(4, [false, false]), otherFamily: { ...absent, family: 6 } };
    const of = (others: Result<'ping'>) =>
      summaryOf('ping', { ...each('nyc-1 syd-1', others), 'fra-1': overFourAlone as unknown as Result<'ping'> });
    const { headline, findings } = of(overBoth(6, [true, false]));

    expect(headline).toMatch(
      /^example\.com answers pings from 2 of 3 probes, and fails from fra-1, which measured IPv4 alone: /,
    );
    expect(findings[0]).toMatchObject({ code: 'down_family', probes: ['fra-1', 'nyc-1', 'syd-1'] });
    expect(findings[0]!.text).toMatch(
      /^IPv4 fails from all 3 probes that measured it: .*\. fra-1 measured IPv4 alone, and 2 others have an answer over IPv6\.$/,
    );
    // Here IPv4 works from the other probes.
    expect(of(overBoth(4, [true, true])).findings.map(({ code }) => code)).toContain('down_one_probe');
  });

  it('lay a failing address to it, if the name has others of the family', () => {
    const fails = overBoth(4, [true, false]);
    const addresses = ['203.0.113.1', '2001:db8::1', '2001:db8::2'];
    const of = (second: object) => ({ ...fails, otherFamily: { ...fails.otherFamily, ...second } }) as Result<'ping'>;
    const { headline, findings } = summaryOf('ping', each('fra-1 nyc-1', of({ addresses })));

    expect(headline).toMatch(/, but IPv6 \(2001:db8::1, one of its 2 IPv6 addresses\) fails\.$/);
    expect(findings.find(({ code }) => code === 'family_broken')!.text).toMatch(
      /^IPv6 \(2001:db8::1, one of its 2 IPv6 addresses\) fails from 2 probes/,
    );
  });

  it('is not doubted for a fault of the probe if the server answers over it', () => {
    const second = (of: Result<'http'>) => ({
      'fra-1': withSecond('http', http(200), { ...of, resolvedIp: '2001:db8::1' }),
    });
    const silent: Result<'http'> = bad('timed_out', {}, { result: 'timeout', source: 'network' });
    const textOf = (of: Result<'http'>) =>
      summaryOf('http', second(of)).findings.find(({ code }) => code === 'family_broken')?.text;

    expect(textOf(http(503))).toMatch(/^IPv6 fails from fra-1: status 503; IPv4 works there\.$/);
    expect(textOf(silent)).toMatch(/; IPv4 works there\. No probe of another network measured IPv6: /);
  });

  it('says that the families answer differently, if one has a client error', () => {
    const { verdict, headline } = summaryOf('http', {
      'fra-1': withSecond('http', http(200), { ...http(403), resolvedIp: '2001:db8::1' }),
    });

    expect([verdict, headline]).toEqual([
      'degraded',
      expect.stringMatching(/, but IPv4 and IPv6 answer differently\.$/),
    ]);
  });

  it('fails for none if one of those that measured it got an answer', () => {
    const answered = withSecond('http', http(200), { ...http(404), resolvedIp: '2001:db8::1' });
    const first = {
      ...http(503),
      resolvedIp: '2001:db8::1',
      otherFamily: { ...broken('family_unavailable'), family: 4 },
    } as unknown as Result<'http'>;
    const { findings } = summaryOf('http', { 'fra-1': first, 'nyc-1': answered });

    expect(findings.map(({ code }) => code)).not.toContain('down_family');
  });

  it('name the size of the packets that fail', () => {
    const sized = (of: Result<'ping'>) => ({ ...of, size: 1_400 });
    const fails = overBoth(4, [true, false]);
    const second = { ...fails.otherFamily, size: 1_400, pingCount: 4, pingCompleted: 0 };
    const both = { ...sized(fails), otherFamily: second } as unknown as Result<'ping'>;

    expect(summaryOf('ping', each('fra-1 nyc-1', both)).headline).toMatch(
      /, but IPv6 fails with pings of 1400 bytes of payload\.$/,
    );
  });

  it('lay certificates that both families have to neither', () => {
    const served = (four: string, six: string) => {
      const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = http(200, { tls: tls(six) });
      const otherFamily = { ...other, family: 6, resolvedIp: '2001:db8::1' };
      return { ...http(200, { tls: tls(four) }), otherFamily } as unknown as Result<'http'>;
    };
    const of = (results: Readonly<Record<string, Result<'http'>>>) => {
      const { verdict, findings } = summaryOf('http', results);
      return [verdict, findings.find(({ code }) => code === 'family_answers_differ')];
    };

    expect(of({ 'fra-1': served('01', '02'), 'nyc-1': served('02', '01') })).toEqual([
      'up',
      expect.objectContaining({
        severity: 'info',
        text: expect.stringContaining('which others had over the other family'),
      }),
    ]);
    expect(of(each('fra-1 nyc-1', served('01', '02')))).toEqual([
      'degraded',
      expect.objectContaining({ severity: 'warning' }),
    ]);
  });

  it('lay an address that others found to the probes that found none', () => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...nameless } = bad('dns_no_address', { resolvedIp: null });
    const without = { ...overBoth(4, [true, true]), otherFamily: { ...nameless, family: 6 } };
    const of = (other: object) =>
      summaryOf('ping', { 'fra-1': without as unknown as Result<'ping'>, 'nyc-1': other as Result<'ping'> });
    const textsIn = ({ findings }: ReturnType<typeof of>) =>
      findings.flatMap(({ code, text }) => (code === 'family_absent' ? text : []));

    expect(textsIn(of(overBoth(4, [true, true])))).toEqual([
      'Only IPv4 was measured where fra-1 found no IPv6 address of the name, which others found.',
    ]);
    expect(textsIn(of(without))).toEqual(['Only IPv4 was measured where the name has no IPv6 address.']);
  });

  it('name the host without an address, if it redirects there', () => {
    const {
      startedAt: _startedAt,
      finishedAt: _finishedAt,
      ...second
    } = bad(
      'dns_no_address',
      { url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] },
      { phase: 'resolve' },
    );
    const both = { ...http(200), otherFamily: { ...second, family: 6 } } as unknown as Result<'http'>;
    const { findings } = summaryOf('http', { 'fra-1': both });

    expect(findings.find(({ code }) => code === 'family_absent')!.text).toMatch(
      /^Only IPv4 was measured where the name b\.example, to which it redirects, has no /,
    );
  });

  it('name the address of the other family, if the host redirects there', () => {
    const redirected = { url: 'http://192.0.2.7:81/', redirects: [redirectOf('https://example.com/')] };
    const alone = bad('dns_no_address', redirected, { phase: 'resolve' });
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...second } = alone;
    const both = { ...http(200), otherFamily: { ...second, family: 6 } } as unknown as Result<'http'>;

    expect(summaryOf('http', { 'fra-1': both }).findings.map(({ text }) => text)).toEqual([
      'Only IPv4 was measured where 192.0.2.7, to which it redirects, is an IPv4 address.',
    ]);
    expect(summaryOf('http', { 'fra-1': alone }).findings.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^It fails from fra-1: 192\.0\.2\.7, to which it redirects, is an IPv4 address\./),
      'fra-1 found no address to measure: 192.0.2.7, to which it redirects, is an IPv4 address.',
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

/** A result with a second measurement, over IPv6. */
function withSecond<T extends 'ping' | 'traceroute' | 'http'>(_type: T, first: object, second: object): Result<T> {
  const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = second as Result<'ping'>;
  const resolvedIp = '2001:db8::1';
  const packets = other.packets?.map((packet) => ({ ...packet, from: resolvedIp }));
  const own = packets === undefined ? {} : { packets };
  return { ...first, otherFamily: { ...other, ...own, family: 6, resolvedIp } } as unknown as Result<T>;
}

describe('the second of two measurements that fails', () => {
  const clean = trace(['192.0.2.1 1 1 1', '203.0.113.1 5 5 5']);

  it('has the findings of the first about the end of its path', () => {
    const path = ['2001:db8:1::1 1 1 1', '2001:db8:2::1 2 2 2', '* * *', '* * *'];
    const stopped = trace(path, { target: '2001:db8::1' });
    const { verdict, headline, findings } = summaryOf('traceroute', {
      'fra-1': withSecond('traceroute', clean, stopped),
      'nyc-1': withSecond('traceroute', clean, stopped),
    });

    expect([verdict, headline]).toEqual(['degraded', expect.stringMatching(/, but IPv6 fails\.$/)]);
    expect(findings.map(({ code }) => code)).toContain('family_broken');
    expect(findings.find(({ code }) => code === 'path_stops')?.text).toMatch(
      /^Over IPv6: Nothing answers beyond hop 2, 2001:db8:2::1, on the way from 2 probes \(fra-1 and nyc-1\)\.$/,
    );
  });

  it('proves nothing if the target limits its answers to other probes, whose first measurement is over its family', () => {
    const some = [9, 9, null, null] as (number | null)[];
    const spaced = { sent: 12, received: 6, groups: [some, some, some] };
    const limited = trace(['2001:db8:1::1 1 1 1', '2001:db8::1 5 * *'], { target: '2001:db8::1', spaced });
    const silent = trace(['2001:db8:1::1 1 1 1', '* * *', '* * *'], { target: '2001:db8::1' });
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...overFour } = clean;
    const ofOthers = { ...limited, otherFamily: { ...overFour, family: 4 } } as unknown as Result<'traceroute'>;
    const { verdict, findings } = summaryOf('traceroute', {
      'fra-1': withSecond('traceroute', clean, silent),
      'nyc-1': ofOthers,
      'ber-1': ofOthers,
    });

    expect(verdict).toBe('up');
    expect(findings.map(({ code, severity }) => `${code} ${severity}`)).not.toContain('path_stops warning');
  });

  it('degrades the verdict if all replies came late', () => {
    const anomalies = { late: 4, duplicates: 0, reordered: 0, corrupted: 0 };
    const late = ping([null, null, null, null], { anomalies });
    const { verdict, findings } = summaryOf('ping', { 'fra-1': withSecond('ping', ping([5, 5, 5, 5]), late) });

    expect(verdict).toBe('degraded');
    expect(findings.map(({ code }) => code)).toEqual(['replies_odd']);
  });

  it('has none if the probe could not measure', () => {
    const { verdict, findings } = summaryOf('traceroute', {
      'fra-1': withSecond('traceroute', clean, bad('probe_interrupted', {}, { result: 'error', source: 'probe' })),
    });

    expect([verdict, findings.map(({ code }) => code)]).toEqual(['up', ['family_absent']]);
  });
});

describe('the second of two measurements that both work', () => {
  it('has the findings of the first: its loss', () => {
    const clean = ping([5, 5, 5, 5, 5, 5]);
    const lossy = ping([5, null, 5, null, null, 5]);

    const { verdict, headline, findings } = summaryOf('ping', { 'fra-1': withSecond('ping', clean, lossy) });

    expect(verdict).toBe('degraded');
    expect(headline).toBe('example.com answers pings from the one probe asked, but over IPv6 fra-1 misses answers.');
    expect(findings.map(({ code, severity, text }) => [code, severity, text])).toEqual([
      [
        'packet_loss',
        'warning',
        expect.stringMatching(/^Over IPv6: Packets got no answer: fra-1 50 % \(3 of 6\)\. They are lost, or /),
      ],
    ]);
  });

  it('has none without a fault', () => {
    const clean = ping([5, 5, 5, 5, 5, 5]);

    expect(summaryOf('ping', { 'fra-1': withSecond('ping', clean, clean) })).toMatchObject({
      verdict: 'up',
      findings: [],
    });
  });

  it('names sizes that vanish on its path', () => {
    const clean = trace(['192.0.2.1 1 1 1', '203.0.113.1 5 5 5']);
    const hole = trace(['2001:db8:1::1 1 1 1', '2001:db8::1 5 5 5'], { target: '2001:db8::1', mtuBlackHole: 1_300 });
    const both = withSecond('traceroute', clean, hole);

    const { verdict, findings } = summaryOf('traceroute', { 'fra-1': both });

    expect(verdict).toBe('degraded');
    expect(findings.map(({ code }) => code)).toContain('path_mtu_black_hole');
    expect(findings.find(({ code }) => code === 'path_mtu_black_hole')?.text).toMatch(
      /^Over IPv6: Large echo requests get neither .*fra-1 from 1300 bytes on/,
    );
  });
});

describe('the certificates of two measurements', () => {
  const over = (four: object, six: object): Result<'http'> => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = http(200, { tls: tls('02', six) });
    return {
      ...http(200, { tls: tls('01', four) }),
      otherFamily: { ...other, family: 6 },
    } as unknown as Result<'http'>;
  };
  const textsOf = (four: object, six: object): readonly string[] =>
    summaryOf('http', { 'fra-1': over(four, six) }).findings.flatMap(({ code, text }) =>
      code === 'certificate_expires_soon' ? text : [],
    );

  it('are judged both, without a repetition', () => {
    expect(textsOf({ daysLeft: 90 }, { daysLeft: 3 })).toEqual([expect.stringMatching(/^Over IPv6: .*3 days/)]);
    expect(textsOf({ daysLeft: 3 }, { daysLeft: 3 })).toEqual([expect.not.stringMatching(/^Over/)]);
    expect(textsOf({ daysLeft: 90 }, { daysLeft: 90 })).toEqual([]);
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
    expect(headline).toBe('example.com answers pings from the one probe asked (round trip 5 ms).');
    expect(findings.find(({ code }) => code === 'family_absent')?.text).toMatch(
      /^Only IPv6 was measured where fra-1 could not measure IPv4 \(.+\)\.$/,
    );
  });
});

describe('a wrong clock of a probe', () => {
  const both = (first: Result<'http'>, second: Result<'http'>): Result<'http'> => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = second as ReturnType<typeof http>;
    return { ...first, otherFamily: { ...other, family: 6 } } as unknown as Result<'http'>;
  };
  const [works, wrong] = [http(200), misdated('tls_expired')];

  it.each([
    ['both families', { 'fra-1': both(wrong, wrong) }, 'unknown', ['probes_faulty']],
    [
      'both families, of one of two probes',
      { 'fra-1': both(wrong, wrong), 'ber-1': both(works, works) },
      'up',
      ['probes_faulty'],
    ],
    ['IPv6 alone', { 'fra-1': both(works, wrong), 'ber-1': both(works, works) }, 'up', ['family_absent']],
  ])('says nothing of the target over %s', (_what, results, verdict, codes) => {
    const summary = summaryOf('http', results);

    expect([summary.verdict, ...summary.findings.map(({ code }) => code)]).toEqual([verdict, ...codes]);
    expect(JSON.stringify(summary.findings)).toContain('the clock of the probe is wrong');
  });
});

describe('a resolver that fails over one family', () => {
  const second = (result: object): object => {
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...own } = result as Record<string, unknown>;
    return { ...own, family: 6 };
  };
  const withIpv6 = (first: object, result: object) =>
    ({ ...first, otherFamily: second(result) }) as unknown as Result<'ping' | 'http' | 'tcp' | 'dns'>;
  const failing = (code: 'timed_out' | 'dns_refused' | 'dns_servfail') =>
    bad(code, { resolvedIp: null }, { source: 'resolver', phase: 'resolve' });

  it.each([
    ['ping', ping([5, 5]), 'timed_out'],
    ['http', http(200), 'dns_servfail'],
    ['tcp', tcp('open'), 'dns_refused'],
  ] as const)('says nothing about the target of %s', (type, good, code) => {
    const summary = summaryOf(type, {
      'fra-1': withIpv6(good, failing(code)),
      'nyc-1': withIpv6(good, { ...good, resolvedIp: '2001:db8::1' }),
    });

    expect([summary.verdict, textOf(summary, 'family_absent')]).toEqual([
      'up',
      expect.stringMatching(/^Only IPv4 was measured where fra-1 could not measure IPv6 \(/),
    ]);
  });

  it('says that the name servers fail if it is so for most', () => {
    const one = withIpv6(http(200), failing('dns_servfail'));
    const { verdict, findings } = summaryOf('http', { 'fra-1': one, 'nyc-1': one } as never);

    expect([verdict, findings[0]?.code]).toEqual(['degraded', 'family_broken']);
  });

  it('is named in a check of dns, which asks it', () => {
    const unheard = bad(
      'timed_out',
      { recordType: 'A', resolvedIp: null },
      { source: 'network', phase: 'response', result: 'timeout' },
    );
    const good = dns(['A 192.0.2.1']);
    const { headline } = summaryOf('dns', {
      'fra-1': withIpv6(good, unheard),
      'nyc-1': withIpv6(good, good),
    } as never);

    expect(headline).toBe(
      'example.com resolves (A) from both probes, but the resolver does not answer over IPv6 from fra-1.',
    );
  });
});
