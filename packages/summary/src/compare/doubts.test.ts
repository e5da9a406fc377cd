import { describe, expect, it } from '@jest/globals';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { bad, each, type Result } from '../../test/cases.ts';
import { seeded } from '@vantage/test-support/random/seeded';
import { compared } from '../../test/compared.ts';
import { limitedInGroups } from '../../test/spaced-groups.ts';
import { dns, http, info, ping, refused, tcp, tls, trace, udp } from '../../test/results.ts';

type Results = Readonly<Record<string, object>>;

const at = (resolvedIp: string) => ({ resolvedIp });
const down = bad('probe_offline', {}, { result: 'error', source: 'probe', phase: 'dispatch' });

function compare(type: CheckTypeName, a: Results, b: Results, hosts?: readonly [string, string]) {
  const [ofA, ofB] = [a, b] as readonly Readonly<Record<string, Result<typeof type>>>[];
  return compared(type, ofA!, ofB!, hosts === undefined ? {} : { hosts });
}

/** The differences of one probe as texts; those that are not certain end with a question mark. */
function claims(type: CheckTypeName, a: Results, b: Results, probe = 'fra-1'): readonly string[] {
  return compare(type, a, b).probes[probe]!.differences.map(({ text, certain }) => `${text}${certain ? '' : '?'}`);
}

const pair = (type: CheckTypeName, a: object, b: object) => claims(type, { 'fra-1': a }, { 'fra-1': b });

describe('a comparison does not lay to the target', () => {
  it('a verdict of other probes', () => {
    const [works, fails] = [tcp('open'), tcp('closed')];
    const { result, differences } = compare('tcp', { 'fra-1': works, 'nyc-1': fails }, { 'fra-1': works });

    expect(differences).toMatchObject([{ subject: 'verdict', certain: false, text: 'verdict partial → up' }]);
    expect(result).toBe('unsure');
  });

  it('a verdict of a probe that did not measure again', () => {
    const [works, fails] = [tcp('open'), tcp('closed')];
    const { result, differences } = compare(
      'tcp',
      { 'fra-1': works, 'nyc-1': fails },
      { 'fra-1': works, 'nyc-1': down },
    );

    expect(differences.map(({ subject, certain }) => [subject, certain])).toEqual([
      ['verdict', false],
      ['outcome', false],
    ]);
    expect(result).toBe('unsure');
  });

  it('but names a verdict that results of the same probes explain', () => {
    const [works, fails] = [tcp('open'), tcp('closed')];
    const { differences } = compare('tcp', { 'fra-1': works, 'nyc-1': works }, { 'fra-1': fails });

    expect(differences[0]).toMatchObject({ subject: 'verdict', certain: true });
  });

  it('a verdict that chance flips', () => {
    const [good, lossy] = [ping([20, 21, 22, 20]), ping([20, null, 21, 22])];
    const { differences, result } = compare('ping', each('fra-1 nyc-1', good), each('fra-1 nyc-1', lossy));

    expect(differences).toMatchObject([{ subject: 'verdict', text: 'verdict up → degraded', certain: false }]);
    expect(result).toBe('unsure');
  });

  it('but names a verdict that a finding explains which is no matter of chance', () => {
    const [plain, stapled] = [http(200, { tls: tls('01') }), http(200, { tls: tls('01', { mustStaple: true }) })];
    const { differences, result } = compare('http', each('fra-1 nyc-1', plain), each('fra-1 nyc-1', stapled));

    expect(differences).toMatchObject([{ subject: 'verdict', text: 'verdict up → degraded', certain: true }]);
    expect(result).toBe('different');
    const atOne = compare('http', each('fra-1 nyc-1', plain), { 'fra-1': plain, 'nyc-1': stapled });
    expect(atOne.differences).toMatchObject([{ subject: 'verdict', certain: false }]);
  });

  it.each([
    ['few packets', 'ping', ping([20]), ping([null]), ['outcome']],
    ['one more lost packet of four', 'ping', ping([20, null, null, null]), ping([null, null, null, null]), ['outcome']],
    ['a lost handshake', 'tcp', tcp('open', [20]), tcp('filtered', [null]), ['outcome', 'state']],
  ] as const)('the loss of %s', (_what, type, a, b, subjects) => {
    const { differences, probes } = compare(type, { 'fra-1': a }, { 'fra-1': b });

    expect(differences.map(({ certain }) => certain)).not.toContain(true);
    expect(
      probes['fra-1']!.differences.flatMap(({ subject, text }) =>
        text.endsWith(', too few packets to exclude chance') ? [subject] : [],
      ),
    ).toEqual(subjects);
  });

  it.each([0.1, 0.3, 0.5])('an outcome that loss of %d flips in equal checks, but in 1 % of them', (loss) => {
    const random = seeded(1);
    const check = () => {
      const rtts = () => Array.from({ length: 3 }, () => (random() < loss ? null : 20));
      const all = Array.from({ length: 10 }, (_, index) => [`p-${index}`, rtts()] as const);
      return Object.fromEntries(all.map(([id, rts]) => [id, tcp(rts.some(Boolean) ? 'open' : 'filtered', rts)]));
    };
    const certain = Array.from({ length: 100 }, () => compare('tcp', check(), check())).filter(({ differences }) =>
      differences.some((one) => one.certain && ['verdict', 'outcome', 'state'].includes(one.subject)),
    );

    expect(certain.length).toBeLessThanOrEqual(1);
  });

  it('but an outage at one of twenty probes, whose packets others did not lose', () => {
    const probes = Array.from({ length: 20 }, (_, index) => `p-${index}`).join(' ');
    const [good, gone] = [ping([20, 21, 22, 20]), ping([null, null, null, null])];

    expect(claims('ping', each(probes, good), { ...each(probes, good), 'p-7': gone }, 'p-7')).toEqual([
      'outcome success → timeout (timed_out)',
    ]);
  });

  it('but an outage that all packets or many probes prove', () => {
    const [whole, none] = [tcp('open', [20, 20, 20]), tcp('filtered', [null, null, null])];
    const six = 'a-1 b-1 c-1 d-1 e-1 f-1';
    const { differences } = compare('ping', each(six, ping([20])), each(six, ping([null])));

    expect(claims('tcp', { 'fra-1': whole }, { 'fra-1': none })).toEqual([
      'outcome success → timeout (timed_out)',
      'port open → filtered',
    ]);
    expect(differences).toMatchObject([
      { subject: 'verdict', certain: true },
      { subject: 'outcome', certain: true, text: 'outcome success → timeout (timed_out)' },
    ]);
  });

  it('a trace without an answer of a target that limits its answers, and answered other packets', () => {
    const path = ['198.51.100.1 1 1 1 1', '203.0.113.1 9 * * *'];
    const spaced = limitedInGroups;
    const [answered, limited] = [
      trace(path, { spaced }),
      trace(['198.51.100.1 1 1 1 1', '* * * *', '* * * *'], { echo: { sent: 2, received: 1 } }),
    ];
    const both = { 'nyc-1': answered, 'muc-1': answered };

    expect(claims('traceroute', { ...both, 'fra-1': answered }, { ...both, 'fra-1': limited })).toContain(
      'outcome success → timeout (timed_out)?',
    );
    // If the target does not rate-limit its answers, a new filter that lets only echo requests pass is a certain
    // difference.
    const whole = trace(['198.51.100.1 1 1 1 1', '203.0.113.1 9 9 9 9']);
    expect(claims('traceroute', { 'fra-1': whole }, { 'fra-1': limited })).toContain(
      'outcome success → timeout (timed_out)',
    );
  });

  it('the silence of a UDP port, which proves nothing', () => {
    expect(pair('udp', udp('open'), udp('open|filtered'))).toEqual([
      'outcome success → timeout (timed_out)?',
      'port open → open|filtered?',
    ]);
  });

  it('the refusal of a resolver', () => {
    expect(pair('dns', dns(['A 192.0.2.1']), dns('REFUSED'))).toEqual([
      'outcome success → failure (dns_error)?',
      'answer NOERROR → REFUSED?',
    ]);
  });

  it('records that a failing server did not deny', () => {
    expect(pair('dns', dns(['A 192.0.2.1']), dns('SERVFAIL'))).toEqual([
      'outcome success → failure (dns_servfail)',
      'answer NOERROR → SERVFAIL',
    ]);
  });

  it('a resolver of the probe that failed', () => {
    const unresolved = bad('dns_servfail', {}, { source: 'resolver', phase: 'resolve' });
    const { differences, result } = compare('tcp', each('fra-1 nyc-1 syd-1', tcp('open')), {
      ...each('nyc-1 syd-1', tcp('open')),
      'fra-1': unresolved,
    });

    expect(differences.map(({ text, certain }) => [text, certain])).toEqual([
      ['outcome success → failure (dns_servfail)', false],
    ]);
    expect(result).toBe('unsure');
  });

  it('names and networks of an address that one check did not learn', () => {
    expect(pair('info', info({ hostname: 'a.example', asn: 'AS64500' }), info({ hostname: null, asn: null }))).toEqual([
      'network AS64500 → none?',
      'name of the address a.example → none?',
    ]);
  });

  it.each<[string, CheckTypeName, object, object]>([
    [
      'round trips',
      'ping',
      ping([20, 21, 20, 22, 21], { ...at('192.0.2.1'), addresses: ['192.0.2.1', '192.0.2.2'] }),
      ping([80, 82, 81, 80, 82], { ...at('192.0.2.2'), addresses: ['192.0.2.1', '192.0.2.2'] }),
    ],
    [
      'versions of TLS',
      'http',
      http(200, { ...at('192.0.2.1'), addresses: ['192.0.2.1', '192.0.2.2'] }),
      http(200, { ...at('192.0.2.2'), addresses: ['192.0.2.1', '192.0.2.2'], tls: tls('01', { protocol: 'TLSv1.2' }) }),
    ],
    [
      'statuses',
      'http',
      http(200, { ...at('192.0.2.1'), addresses: ['192.0.2.1', '192.0.2.2'] }),
      http(204, { ...at('192.0.2.2'), addresses: ['192.0.2.1', '192.0.2.2'] }),
    ],
    [
      'phases',
      'http',
      http(200, { ...at('192.0.2.1'), addresses: ['192.0.2.1', '2001:db8::2'] }),
      http(200, {
        ...at('2001:db8::2'),
        addresses: ['192.0.2.1', '2001:db8::2'],
        timings: { dns: 5, connect: 20, tls: 25, firstByte: 400, download: 5, total: 455 },
      }),
    ],
  ])('%s to another of its addresses', (_what, type, a, b) => {
    const probes = 'fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1';
    const { result, sentence, differences } = compare(type, each(probes, a), each(probes, b));

    expect(differences).toHaveLength(1);
    expect(sentence).toContain('measured at different addresses');
    expect(result).toBe('unsure');
  });
});

describe('a comparison tells a change from answers that rotate', () => {
  const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];

  it('if other probes had the records of both answers in both checks', () => {
    const [first, second] = [dns([`A ${one}`]), dns([`A ${two}`])];

    expect(claims('dns', { 'fra-1': first, 'nyc-1': second }, { 'fra-1': second, 'nyc-1': first })).toEqual([
      `records ${one} → ${two}, which others had in the other check?`,
    ]);
  });

  it('not if a record is new', () => {
    const [first, second, other] = [dns([`A ${one}`]), dns([`A ${two}`]), dns([`A ${three}`])];

    expect(claims('dns', { 'fra-1': first, 'nyc-1': second }, { 'fra-1': other, 'nyc-1': second })).toEqual([
      `records ${one} → ${three}`,
    ]);
  });

  it('for addresses and certificates alike', () => {
    const [x, y] = [
      http(200, { tls: tls('AA:BB:CC:DD:EE'), addresses: [one] }),
      http(200, { tls: tls('11:22:33:44:55'), addresses: [two] }),
    ];

    expect(claims('http', { 'fra-1': x, 'nyc-1': y }, { 'fra-1': y, 'nyc-1': x })).toEqual([
      `addresses ${one} → ${two}, which others had in the other check?`,
      'certificate AA:BB:CC:DD… → 11:22:33:44…, which others had in the other check?',
    ]);
  });
});

describe('a comparison tells a change from servers of which one fails or differs', () => {
  it.each<[string, CheckTypeName, object, object]>([
    ['a status', 'http', http(200), http(503)],
    ['a closed port', 'tcp', tcp('open'), tcp('closed')],
    ['a refused certificate', 'http', http(200), refused('tls_expired')],
    ['an older version', 'http', http(200, { httpVersion: '2' }), http(200, { httpVersion: '1.1' })],
    [
      'another redirect',
      'http',
      http(302, { location: 'https://a.example/' }),
      http(302, { location: 'https://b.example/' }),
    ],
  ])('if other probes had it before: %s', (_what, type, good, bad) => {
    const { differences, result } = compare(type, { 'fra-1': good, 'nyc-1': bad }, { 'fra-1': bad, 'nyc-1': good });

    expect(differences.length).toBeGreaterThan(0);
    expect(differences.map(({ text }) => text)).toEqual(
      differences.map(() => expect.stringMatching(/, which others had in the other check$/)),
    );
    expect(result).toBe('unsure');
  });

  it('but not if it had one of twenty before and has nineteen now', () => {
    const probes = Array.from({ length: 20 }, (_, index) => `p-${index}`);
    const of = (failing: readonly string[]) =>
      Object.fromEntries(probes.map((probe) => [probe, http(failing.includes(probe) ? 503 : 200)]));
    const { differences } = compare('http', of(['p-19']), of(probes.filter((probe) => probe !== 'p-18')));

    expect(differences).toMatchObject([{ subject: 'status', certain: true, text: 'status 200 → 503' }]);
  });

  it('if some pings, each a single flow, take a broken path of a load balancer in both checks', () => {
    const [good, gone] = [ping([20, 21, 22, 20]), ping([null, null, null, null])];

    expect(claims('ping', { 'fra-1': good, 'nyc-1': gone }, { 'fra-1': gone, 'nyc-1': good })).toEqual([
      'outcome success → timeout (timed_out), which others had in the other check?',
    ]);
    expect(claims('ping', each('fra-1 nyc-1', good), { 'fra-1': gone, 'nyc-1': good })).toEqual([
      'outcome success → timeout (timed_out)',
    ]);
  });
});

describe('a comparison of certificates', () => {
  const keyed = (print: string, publicKey256: string) => {
    const { chain, ...others } = tls(print);
    return http(200, { tls: { ...others, chain: [{ ...chain[0]!, publicKey256 }] } });
  };

  it.each([
    ['the same key', 'k1', 'k1', 'certificate AA:BB:CC:DD… → 11:22:33:44…, with the same key'],
    ['another key', 'k1', 'k2', 'certificate AA:BB:CC:DD… → 11:22:33:44…, with another key'],
  ])('names %s', (_what, a, b, text) => {
    expect(pair('http', keyed('AA:BB:CC:DD:EE', a), keyed('11:22:33:44:55', b))).toEqual([text]);
  });

  it('names no key that an older agent did not report', () => {
    expect(pair('http', http(200, { tls: tls('AA:BB:CC:DD:EE') }), keyed('11:22:33:44:55', 'k1'))).toEqual([
      'certificate AA:BB:CC:DD… → 11:22:33:44…',
    ]);
  });
});

describe('a comparison of dns answers', () => {
  const from = (resolver: string | undefined, record: string, query = 20) =>
    dns([record], { resolver, timings: { query, total: query }, resolvedIp: record.split(' ')[1]! } as never);

  it('is unsure of those of different servers', () => {
    const [a, b] = [from('192.0.2.53', 'A 192.0.2.1'), from('192.0.2.54', 'A 192.0.2.9')];

    expect(pair('dns', a, b)).toEqual(['records 192.0.2.1 → 192.0.2.9, from another server?']);
  });

  it.each(['192.0.2.53', undefined])('does not take records for addresses that were measured: %s', (resolver) => {
    const [a, b] = [from(resolver, 'A 192.0.2.1'), from(resolver, 'A 192.0.2.9', 900)];

    expect(pair('dns', a, b)).toEqual(['records 192.0.2.1 → 192.0.2.9', 'query 20 ms → 900 ms, measured once each?']);
  });

  it('names another alias with the same records', () => {
    const by = (alias: string) => {
      const answers = [
        { name: 'example.com.', type: 'CNAME', ttl: 60, data: alias },
        { name: alias, type: 'A', ttl: 60, data: '192.0.2.1' },
      ];
      return { ...dns([]), answerKind: 'answer', canonicalName: alias, answers };
    };

    expect(pair('dns', by('a.example.net.'), by('b.example.org.'))).toEqual(['alias a.example.net. → b.example.org.']);
    expect(pair('dns', by('a.example.net.'), by('A.example.net.'))).toEqual([]);
  });

  it('names the verdict of the validation', () => {
    const validated = { dnssec: { ad: true, verdict: 'validated' as const } };

    expect(pair('dns', dns(['A 192.0.2.1'], validated), dns(['A 192.0.2.1']))).toEqual([
      'DNSSEC validated → not validated',
    ]);
  });
});

describe('a comparison of path MTUs', () => {
  const path = ['198.51.100.1 1', '203.0.113.1 9'];

  it('is unsure of a black hole above the MTU of a router that may only not have been proved', () => {
    expect(
      pair(
        'traceroute',
        trace(path, { pathMtu: 1_400, mtuBlackHole: null }),
        trace(path, { pathMtu: 1_400, mtuBlackHole: 1_451 }),
      ),
    ).toEqual(['echo requests without answer or error, from bytes none → 1451?']);
  });

  it('is sure if all sizes arrived in the other check', () => {
    expect(
      pair(
        'traceroute',
        trace(path, { pathMtu: 1_500, mtuBlackHole: null }),
        trace(path, { pathMtu: 1_400, mtuBlackHole: 1_401 }),
      ),
    ).toEqual(['path MTU 1500 → 1400', 'echo requests without answer or error, from bytes none → 1401']);
  });
});

describe('a comparison of hosts', () => {
  it.each([
    ['letters of another case', 'Example.com', 'example.COM'],
    ['a dot at the end', 'example.com.', 'example.com'],
    ['a URL without its path', 'https://example.com', 'https://EXAMPLE.com:443/'],
    ['an address in another form', '2001:db8::1', '2001:0DB8:0:0::1'],
  ])('finds none in %s', (_what, a, b) => {
    const results = { 'fra-1': ping([5, 5, 5]) };
    expect(compare('ping', results, results, [a, b]).differences).toEqual([]);
  });

  it.each([
    ['another path', 'https://example.com/a', 'https://example.com/A'],
    ['another name', 'example.com', 'www.example.com'],
  ])('names %s', (_what, a, b) => {
    const results = { 'fra-1': ping([5, 5, 5]) };
    expect(compare('ping', results, results, [a, b]).differences).toMatchObject([{ name: 'host' }]);
  });
});
