import { describe, expect, it } from '@jest/globals';

import type { PublicRequest } from '@vantage/contract';
import { cases } from '@vantage/test-support/random/case-count';

import { bad, each, ok, type Result } from '../../test/cases.ts';
import { compared, comparedWithVerdict } from '../../test/compared.ts';
import { misdated } from '../../test/misdated.ts';
import { dns, http, info, lost, ping, tcp, tls, trace, udp } from '../../test/results.ts';
import { seeded, type Random } from '@vantage/test-support/random/seeded';

/** Number of comparisons of noise; fewer than one in a hundred may report a certain difference. */
const NOISES = cases(300);

const down = bad('probe_offline', {}, { result: 'error', source: 'probe', phase: 'dispatch' });

describe('a comparison of what was asked', () => {
  const asked = (type: Parameters<typeof compared>[0], a: PublicRequest, b: PublicRequest): readonly string[] =>
    compared(type, {}, {}, { requests: [a, b] }).differences.flatMap(({ subject, text }) =>
      subject === 'request' ? text : [],
    );

  it.each<[string, Parameters<typeof asked>, readonly string[]]>([
    ['another option', ['ping', { options: { count: 8 } }, {}], ['count 8 → default']],
    ['another field', ['http', {}, { insecureSSL: true }], ['insecure ssl default → true']],
    ['headers of one check only', ['http', { withheld: ['headers'] }, {}], ['headers not shown → default']],
    ['nothing of what results repeat', ['ping', { options: { size: 100 } }, { options: { size: 9 } }], []],
    ['nothing of both families, of which results tell', ['ping', { options: { family: 'both' } }, {}], []],
    ['another family', ['ping', { options: { family: 6 } }, {}], ['family 6 → default']],
    ['no screenshot', ['http', { options: { screenshot: false } }, {}], []],
    ['nothing else of equal requests', ['http', { withheld: ['headers'] }, { withheld: ['headers'] }], []],
  ])('names %s', (_name, [type, a, b], texts) => {
    expect(asked(type, a, b)).toEqual(texts);
  });
});

function textsOf(...[type, a, b]: Parameters<typeof pair>): readonly string[] {
  return pair(type, a, b).probes['fra-1']!.differences.map(({ text }) => text);
}

function pair(type: Parameters<typeof compared>[0], a: object, b: object) {
  return compared(type, { 'fra-1': a as Result<typeof type> }, { 'fra-1': b as Result<typeof type> });
}

/** A certificate that the check allowed although it was not valid by the clock of the probe, which is wrong. */
const byWrongClock = ((): object => {
  const { tls: misdatedTls, finishedAt } = misdated('tls_expired');
  const [leaf] = http(200).tls!.chain;
  const dates = { validFrom: misdatedTls!.chain[0]!.validFrom, validUntil: misdatedTls!.chain[0]!.validUntil };
  return http(200, { finishedAt, tls: { ...misdatedTls!, chain: [{ ...leaf!, ...dates }] } });
})();

describe('a comparison names', () => {
  it.each<[string, Parameters<typeof pair>[0], object, object, readonly string[]]>([
    ['another outcome', 'ping', ping([5, 5, 5]), lost, ['outcome success → timeout (timed_out)']],
    [
      'a probe that cannot measure, and nothing else',
      'ping',
      ping([5, 5, 5]),
      down,
      ['outcome success → error (probe_offline)'],
    ],
    [
      'another size',
      'ping',
      ping([5, 5, 5], { size: 56 }),
      ping([5, 5, 5], { size: 1_400 }),
      ['payload bytes 56 → 1400'],
    ],
    [
      'another address',
      'tcp',
      tcp('open'),
      { ...tcp('open'), resolvedIp: '2001:db8::1' },
      ['measured address 203.0.113.1 → 2001:db8::1'],
    ],
    [
      'another state',
      'tcp',
      tcp('open', [20]),
      tcp('closed', [null]),
      ['outcome success → failure (connection_refused)', 'port open → closed'],
    ],
    [
      'another state of UDP',
      'udp',
      udp('open'),
      udp('open|filtered'),
      ['outcome success → timeout (timed_out)', 'port open → open|filtered'],
    ],
    ['another status', 'http', http(200), http(301), ['status 200 → 301']],
    [
      'another address of several',
      'http',
      http(200, { addresses: ['192.0.2.1', '192.0.2.2'] }),
      http(200, { addresses: ['192.0.2.2', '192.0.2.3'] }),
      ['addresses without 192.0.2.1, with 192.0.2.3 in addition'],
    ],
    [
      'another certificate',
      'http',
      http(200, { tls: tls('AA:BB:CC:DD:EE') }),
      http(200, { tls: tls('11:22:33:44:55') }),
      ['certificate AA:BB:CC:DD… → 11:22:33:44…'],
    ],
    [
      'a certificate that is no longer trusted',
      'http',
      http(200),
      http(200, { tls: tls('01', { authorized: false, authorizationError: 'tls_expired' }) }),
      ['certificate trusted → refused (tls_expired)'],
    ],
    [
      'another redirect',
      'http',
      http(301, { location: '/a?x=1' }),
      http(301, { location: '/b' }),
      ['redirect to https://example.com/a → https://example.com/b'],
    ],
    [
      'a new record',
      'dns',
      dns(['A 192.0.2.1']),
      dns(['A 192.0.2.1', 'A 192.0.2.2']),
      ['records with 192.0.2.2 in addition'],
    ],
    ['other records', 'dns', dns(['A 192.0.2.1']), dns(['A 192.0.2.2']), ['records 192.0.2.1 → 192.0.2.2']],
    [
      'a name that is gone',
      'dns',
      dns(['A 192.0.2.1']),
      dns('NXDOMAIN'),
      ['outcome success → failure (dns_nxdomain)', 'answer NOERROR → NXDOMAIN', 'records 192.0.2.1 → none'],
    ],
    ['another network', 'info', info({ asn: 'AS64500' }), info({ asn: 'AS64501' }), ['network AS64500 → AS64501']],
    [
      'a longer round trip',
      'ping',
      ping([20, 21, 20, 22]),
      ping([80, 82, 81, 80]),
      ['median round trip 21 ms → 81 ms, as another way of a load balancer would be'],
    ],
    [
      'a longer round trip of two handshakes',
      'tcp',
      tcp('open', [2, 4]),
      tcp('open', [300, 340]),
      ['median round trip 3 ms → 320 ms, measured 2 times each'],
    ],
    [
      'a longer round trip, of which the checks have different numbers',
      'tcp',
      tcp('open', [2]),
      tcp('open', [300, 340, 345]),
      ['median round trip 2 ms → 340 ms, measured once and 3 times'],
    ],
    [
      'a longer round trip of three handshakes and of six',
      'tcp',
      tcp('open', [20, 21, 20]),
      tcp('open', [80, 82, 81, 80, 82, 81]),
      ['median round trip 20 ms → 81 ms, measured 3 and 6 times'],
    ],
    [
      'a longer round trip of one handshake',
      'tcp',
      tcp('open', [2]),
      tcp('open', [300]),
      ['round trip 2 ms → 300 ms, measured once each'],
    ],
    [
      'a longer phase, which is measured once',
      'http',
      http(200),
      http(200, { timings: { dns: 5, connect: 20, tls: 25, firstByte: 400, download: 5, total: 455 } }),
      ['first byte 30 ms → 400 ms, measured once each'],
    ],
  ])('%s', (_what, type, a, b, texts) => {
    expect(textsOf(type, a, b)).toEqual(texts);
  });
});

describe('a comparison of two traces names', () => {
  const path = ['198.51.100.1 1', '198.51.100.2 2', '203.0.113.1 9'];
  const times = (answered: number, lost: number): string =>
    [...Array<string>(answered).fill('9'), ...Array<string>(lost).fill('*')].join(' ');
  const rounds = (answered: number, lost: number) =>
    trace([...path.slice(0, 2), `203.0.113.1 ${times(answered, lost)}`]);
  const quoting = (reply: object) => {
    const { hops, ...others } = trace(path) as ReturnType<typeof trace> & { readonly hops: readonly object[] };
    const replies = [{ responder: 0, ttl: 60, type: 11, code: 0, quotedTtl: 1, ...reply }];
    return { ...others, hops: hops.map((hop, index) => (index === 1 ? { ...hop, replies } : hop)) };
  };
  const balanced = (fields: object) =>
    trace(['198.51.100.1 1', '198.51.100.2/198.51.100.3 2 2', '203.0.113.1 9'], fields);

  it.each<[string, object, object, string]>([
    ['another path MTU', trace(path, { pathMtu: 1_500 }), trace(path, { pathMtu: 1_400 }), 'path MTU 1500 → 1400'],
    [
      'a black hole',
      trace(path, { pathMtu: 1_400, mtuBlackHole: 1_401 }),
      trace(path, { pathMtu: 1_400, mtuBlackHole: 1_451 }),
      'echo requests without answer or error, from bytes 1401 → 1451',
    ],
    [
      'address translation',
      quoting({}),
      quoting({ rewritten: ['source', 'ports'] }),
      'translated fields none → ports, source',
    ],
    ['another DSCP', quoting({ quotedDscp: 46 }), quoting({ quotedDscp: 0 }), 'DSCP on the path 46 → 0'],
    [
      'the loss of rounds',
      rounds(30, 0),
      rounds(20, 10),
      'unanswered 0 of 30 → 10 of 30 (33 %), by loss or a limit of answers',
    ],
    ['a port that is closed', trace(path, { state: 'open' }), trace(path, { state: 'closed' }), 'port open → closed'],
    ['another DSCP of the packets', trace(path, { dscp: 0 }), trace(path, { dscp: 46 }), 'DSCP 0 → 46'],
  ])('%s, for certain on one and the same path', (_what, a, b, text) => {
    const { differences } = pair('traceroute', a, b).probes['fra-1']!;

    expect(differences.map((one) => [one.text, one.certain])).toEqual([[text, true]]);
  });

  it('no state of two different ports', () => {
    const [a, b] = [trace(path, { state: 'open', port: 443 }), trace(path, { state: 'closed', port: 80 })];

    expect(pair('traceroute', a, b).probes['fra-1']!.differences).toEqual([]);
  });

  it.each<[string, object, object]>([
    ['path MTU', balanced({ pathMtu: 1_500 }), balanced({ pathMtu: 1_400 })],
    ['port', balanced({ state: 'open' }), balanced({ state: 'closed' })],
    [
      'median round trip',
      { ...balanced({}), ...trace(['198.51.100.1 1', '198.51.100.2/198.51.100.3 2 2', '203.0.113.1 9 9 9 9 9 9']) },
      trace(['198.51.100.1 1', '198.51.100.2/198.51.100.3 2 2', '203.0.113.1 90 90 90 90 90 90']),
    ],
  ])('no difference for certain that a balancer explains as well: %s', (label, a, b) => {
    const { result, differences } = pair('traceroute', a, b);

    expect(result).toBe('unsure');
    expect(differences.map(({ text, certain }) => [text.startsWith(label), certain])).toEqual([[true, false]]);
  });
});

/** An open port that refuses half of the handshakes, as one of two servers behind it may. */
const refusing = ((): object => {
  const open = tcp(
    'open',
    Array.from({ length: 16 }, (_, index) => (index < 8 ? 20 : null)),
  );
  const { error } = bad('connection_refused', {});
  return { ...open, attempts: open.attempts!.map((one) => (one.rt === null ? { rt: null, error } : one)) };
})();

const addressesFrom = (first: number, length: number) =>
  Array.from({ length }, (_, index) => `192.0.2.${index + first}`);

describe('a comparison of handshakes and addresses', () => {
  it('takes no refused handshakes for lost ones', () => {
    expect(pair('tcp', tcp('open', Array(16).fill(20)), refusing).sentence).toBe('Verdict up → degraded.');
  });

  it('names other ones of as many as a result of http holds whole', () => {
    const [a, b] = [1, 2].map((first) => http(200, { addresses: addressesFrom(first, 31) }));

    expect(pair('http', a!, b!).sentence).toBe('Addresses without 192.0.2.1, with 192.0.2.32 in addition (fra-1).');
  });
});

describe('a comparison does not name', () => {
  it.each<[string, Parameters<typeof pair>[0], object, object]>([
    ['equal results', 'ping', ping([20, 21, 20, 22]), ping([20, 21, 20, 22])],
    ['a round trip within the spread', 'ping', ping([20, 45, 30, 60]), ping([50, 70, 90, 75])],
    ['a round trip a little longer', 'ping', ping([20, 20, 20, 20]), ping([23, 23, 23, 23])],
    ['one slow packet', 'ping', ping([20, 20, 20, 20]), ping([20, 20, 20, 400])],
    [
      'one slow handshake of two, in whose middle no handshake was',
      'tcp',
      tcp('open', [30.2, 287]),
      tcp('open', [0.08, 0.09]),
    ],
    ['one lost packet', 'ping', ping([20, 20, 20, 20]), ping([20, 20, 20, null])],
    ['records in another order', 'dns', dns(['A 192.0.2.1', 'A 192.0.2.2']), dns(['A 192.0.2.2', 'A 192.0.2.1'])],
    [
      'names in another case',
      'dns',
      dns(['MX 10 A.example.'], { recordType: 'MX' }),
      dns(['MX 10 a.example.'], { recordType: 'MX' }),
    ],
    ['other signatures', 'dns', dns(['A 192.0.2.1', 'RRSIG A 13 x']), dns(['A 192.0.2.1', 'RRSIG A 13 y'])],
    [
      'tokens in a redirect',
      'http',
      http(302, { location: '/login?token=1' }),
      http(302, { location: '/login?token=2' }),
    ],
    [
      'a phase a little longer',
      'http',
      http(200),
      http(200, { timings: { dns: 40, connect: 30, tls: 40, firstByte: 60, download: 50, total: 180 } }),
    ],
    [
      'a choice among the same addresses',
      'http',
      http(200, { addresses: ['192.0.2.1', '192.0.2.2'] }),
      { ...http(200, { addresses: ['192.0.2.2', '192.0.2.1'] }), resolvedIp: '192.0.2.2' },
    ],
    [
      'which of the same addresses was looked up',
      'info',
      info({ addresses: ['203.0.113.1', '203.0.113.2'], asn: 'AS64500' }),
      info({ ip: '203.0.113.2', addresses: ['203.0.113.2', '203.0.113.1'], asn: 'AS64501' }),
    ],
    ['trust that a wrong clock of the probe denies', 'http', http(200), byWrongClock],
    [
      'other ones of more addresses than a result has',
      'http',
      http(200, { addresses: addressesFrom(1, 32) }),
      http(200, { addresses: addressesFrom(2, 32) }),
    ],
    [
      'other ones of more addresses than that of a ping has',
      'ping',
      ping([20, 21], { addresses: addressesFrom(1, 20) }),
      ping([20, 21], { addresses: addressesFrom(2, 20) }),
    ],
  ])('%s', (_what, type, a, b) => {
    const { result, sentence } = pair(type, a, b);

    expect([result, sentence]).toEqual([
      'same',
      'Nothing differs beyond noise: compared from the one probe in both checks.',
    ]);
  });
});

describe('the whole of a comparison', () => {
  it('puts the gravest first, and equal differences of probes together', () => {
    const a = each('fra-1 nyc-1 syd-1', http(200));
    const b = { ...each('fra-1 nyc-1', http(503)), 'syd-1': http(200, { tls: tls('AA:BB:CC:DD:EE') }) };

    const { result, sentence, differences } = compared('http', a, b);

    expect(result).toBe('different');
    expect(sentence).toBe(
      'Verdict up → partial; status 200 → 503 (fra-1 and nyc-1); certificate 01… → AA:BB:CC:DD… (syd-1).',
    );
    expect(differences.map(({ subject, probes }) => [subject, ...probes])).toEqual([
      ['verdict'],
      ['status', 'fra-1', 'nyc-1'],
      ['certificate', 'syd-1'],
    ]);
  });

  it('has times of one direction in one text', () => {
    const [slow, fast] = [ping([80, 82, 81, 80]), ping([20, 21, 20, 22])];

    const { differences } = compared(
      'ping',
      { ...each('fra-1 nyc-1', fast), 'syd-1': slow },
      { ...each('fra-1 nyc-1', slow), 'syd-1': fast },
    );

    expect(differences.map(({ text }) => text)).toEqual([
      'median round trip longer: fra-1 21 ms → 81 ms and nyc-1 21 ms → 81 ms, as another way of a load balancer would be',
      'median round trip 81 ms → 21 ms, as another way of a load balancer would be',
    ]);
  });

  it('says of no probe how often another one measured', () => {
    const { differences } = compared(
      'tcp',
      {
        'fra-1': tcp('open', [20, 21, 20]),
        'nyc-1': tcp('open', [20, 21, 20, 22]),
        'syd-1': tcp('open', [20, 21, 20]),
        'waw-1': tcp('open', [20, 21, 20]),
      },
      {
        'fra-1': tcp('open', [80, 82, 81]),
        'nyc-1': tcp('open', [80, 82, 81, 80]),
        'syd-1': tcp('open', [20, 21, 20]),
        'waw-1': tcp('open', [20, 21, 20]),
      },
    );

    expect(differences.map(({ certain, text }) => [certain, text])).toEqual([
      [false, 'median round trip longer: fra-1 20 ms → 81 ms and nyc-1 21 ms → 81 ms, few measurements each'],
    ]);
  });

  it('names the probes of one check only', () => {
    const { a, b, probes, sentence } = compared(
      'ping',
      each('fra-1 nyc-1', ping([5, 5, 5])),
      each('nyc-1 syd-1', ping([5, 5, 5])),
    );

    expect([a.probes, b.probes, Object.keys(probes)]).toEqual([['fra-1'], ['syd-1'], ['nyc-1']]);
    expect(sentence).toBe(
      'Nothing differs beyond noise: compared from the one probe in both checks; fra-1 only in the first check; syd-1 only in the second check.',
    );
  });

  it('says that nothing was compared without a probe in both', () => {
    const { sentence, result } = compared('ping', each('fra-1', ping([5, 5, 5])), each('syd-1', ping([5, 5, 5])));

    expect(sentence).toMatch(/^No probe is in both checks, so nothing was compared; fra-1 only in the first check; /);
    expect(result).toBe('unsure');
  });

  it.each<readonly [string, object, 'same' | 'unsure', string]>([
    ['no probe measured', down, 'unsure', 'No probe measured in both checks, so nothing was compared.'],
    [
      'one of two measured',
      ping([5, 5, 5]),
      'same',
      'Nothing differs beyond noise: compared from 1 of 2 probes, the other did not measure.',
    ],
  ])('says what was compared if %s', (_reason, ofFirst, expected, text) => {
    const check = { 'fra-1': ofFirst as Result<'ping'>, 'nyc-1': down };
    const { result, sentence } = compared('ping', check, check);

    expect([result, sentence]).toEqual([expected, text]);
  });

  it('is unsure of the target if a probe could not measure, or there is no verdict', () => {
    const measured = ping([5, 5, 5]);
    const [interrupted, fine] = [{ 'fra-1': down, 'nyc-1': measured }, each('fra-1 nyc-1', measured)];

    expect(compared('ping', interrupted, fine)).toMatchObject({
      result: 'unsure',
      sentence: 'Outcome error (probe_offline) → success (fra-1).',
      differences: [{ subject: 'outcome', certain: false }],
    });
    expect(compared('ping', each('fra-1', down), each('fra-1', measured)).result).toBe('unsure');
  });

  it('names other hosts first', () => {
    const { sentence } = compared('ping', each('fra-1', ping([5, 5, 5])), each('fra-1', lost), {
      hosts: ['a.example', 'b.example'],
    });

    expect(sentence).toBe(
      'Host a.example → b.example; verdict up → down; outcome success → timeout (timed_out) (fra-1).',
    );
  });

  it.each([
    ['Example.COM', 'example.com.'],
    ['fra-1 ↔ nyc-1', 'nyc-1 ↔ fra-1'],
  ])('takes %s and %s for one host', (...hosts) => {
    const same = each('fra-1', ping([5, 5, 5]));

    expect(compared('ping', same, same, { hosts })).toMatchObject({ result: 'same', differences: [] });
  });

  it('names loss that chance does not explain', () => {
    const many = (missing: number) => ping(Array.from({ length: 16 }, (_, index) => (index < missing ? null : 20)));

    expect(textsOf('ping', many(0), many(8))).toEqual([
      'unanswered 0 of 16 → 8 of 16 (50 %), by loss or a limit of answers',
    ]);
    expect(textsOf('ping', many(0), many(4))).toEqual([]);
  });

  describe('of loss', () => {
    const many = (missing: number, of = 16) =>
      ping(Array.from({ length: of }, (_, index) => (index < missing ? null : 20)));
    const all = 'fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1';
    const from = (count: number): string => all.split(' ').slice(0, count).join(' ');

    it.each([1, 2, 3, 8])('has the loss that each of %d probes shows, for certain', (count) => {
      const { result, differences } = compared('ping', each(from(count), many(0)), each(from(count), many(7)));

      expect(result).toBe('different');
      expect(differences).toContainEqual(
        expect.objectContaining({
          subject: 'loss',
          certain: true,
          probes: from(count).split(' ').toSorted(),
          text: expect.stringMatching(
            count === 1
              ? /^unanswered 0 of 16 → 7 of 16 \(44 %\), by loss or a limit of answers$/
              : /^more unanswered: ber-1 0 of 16 → 7 of 16 \(44 %\).* and .*, by loss or a limit of answers$/,
          ),
        }),
      );
    });

    it('has a loss that proves too little at each probe, if all agree', () => {
      const of = (count: number) =>
        compared('ping', each(from(count), many(0, 8)), each(from(count), many(3, 8))).differences;

      expect(of(5)).toContainEqual(expect.objectContaining({ subject: 'loss', certain: true }));
      expect(of(1).filter(({ subject }) => subject === 'loss')).toEqual([]);
    });

    it('has the loss of one of several probes in doubt', () => {
      const clean = each('fra-1 nyc-1 syd-1', many(0));
      const { differences, probes } = compared('ping', clean, { ...clean, 'syd-1': many(7) });

      expect(differences.filter(({ subject }) => subject === 'loss')).toEqual([
        expect.objectContaining({
          certain: false,
          probes: ['syd-1'],
          text: 'unanswered 0 of 16 → 7 of 16 (44 %), by loss or a limit of answers, too few packets to exclude chance',
        }),
      ]);
      expect(probes['syd-1']!.differences.map(({ certain }) => certain)).toEqual([false]);
    });

    it.each([0.05, 0.3])('names noise for certain in less than 1 %% of checks that lose %d', (loss) => {
      const random = seeded(11);
      const samples = (count: number) =>
        ping(Array.from({ length: count }, (_, index) => (index > 0 && random() < loss ? null : 20)));
      for (const count of [1, 2, 3, 8]) {
        for (const packets of [4, 16]) {
          const results = () =>
            Object.fromEntries(
              from(count)
                .split(' ')
                .map((probe) => [probe, samples(packets)]),
            );
          const runs = Array.from({ length: NOISES }, () =>
            comparedWithVerdict('up', 'ping', results(), results()).differences.some(
              ({ subject, certain }) => subject === 'loss' && certain,
            ),
          );

          expect(runs.filter(Boolean).length).toBeLessThan(NOISES / 100);
        }
      }
    });
  });

  it('does not compare the path to another address', () => {
    const [a, b] = [trace(['203.0.113.1 5']), trace(['203.0.113.2 5'], { target: '203.0.113.2' })];

    expect(textsOf('traceroute', a, b)).toEqual([
      'measured address 203.0.113.1 → 203.0.113.2',
      'path not compared: it leads to another address',
    ]);
  });

  it('takes results without optional fields', () => {
    expect(pair('http', ok({}), ok({})).result).toBe('same');
  });
});

describe('the rule of round-trip times', () => {
  const noises: readonly (readonly [string, (random: Random) => number])[] = [
    ['even', (random) => 20 + 60 * random()],
    ['exponential', (random) => 20 - 15 * Math.log(1 - random())],
    ['heavy tail', (random) => 20 / (1 - random()) ** 0.5],
    ['two levels, as of a balancer per packet', (random) => (random() < 0.5 ? 20 : 60) + random()],
  ];

  it.each(noises)('names noise for certain in less than 1 % of checks: %s', (_reason, rtt) => {
    const random = seeded(3);
    const samples = (count: number) =>
      tcp(
        'open',
        Array.from({ length: count }, () => rtt(random)),
      );
    const namedOf = (probes: string, count: number): number => {
      const runs = Array.from({ length: NOISES }, () => {
        const results = () => Object.fromEntries(probes.split(' ').map((probe) => [probe, samples(count)]));
        return comparedWithVerdict('up', 'tcp', results(), results()).differences;
      });
      return runs.filter((all) => all.some(({ subject, certain }) => subject === 'rtt' && certain)).length;
    };

    const named = ['fra-1', 'fra-1 nyc-1 syd-1', 'fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1'].flatMap((probes) =>
      [3, 4, 8, 16].map((count) => namedOf(probes, count)),
    );

    expect(Math.max(...named)).toBeLessThan(NOISES / 100);
  });

  it('names a longer path for certain by many handshakes of one probe, or by few of several', () => {
    const random = seeded(5);
    const samples = (count: number, ms: number) =>
      tcp(
        'open',
        Array.from({ length: count }, () => ms + 3 * random()),
      );
    const certain = (probes: string, count: number): boolean | undefined =>
      compared('tcp', each(probes, samples(count, 20)), each(probes, samples(count, 45))).differences[0]?.certain;

    expect([certain('fra-1', 4), certain('fra-1', 5), certain('fra-1 nyc-1', 4), certain('fra-1 nyc-1', 3)]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it('names equal pings for certain in less than 1 % of checks whose flows a balancer deals to a fast and a slow way', () => {
    const random = seeded(7);
    const samples = () => {
      const ms = random() < 0.5 ? 2 : 52;
      return ping(Array.from({ length: 16 }, () => ms + random()));
    };
    const certain = ['fra-1', 'fra-1 nyc-1 syd-1', 'fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1'].map((probes) => {
      const results = () => Object.fromEntries(probes.split(' ').map((probe) => [probe, samples()]));
      const runs = Array.from({ length: NOISES }, () => comparedWithVerdict('up', 'ping', results(), results()));
      return runs.filter(({ result }) => result === 'different').length;
    });

    expect(Math.max(...certain)).toBeLessThan(NOISES / 100);
  });

  it('names a longer path of pings for certain if eight probes agree', () => {
    const certain = (probes: string): boolean | undefined =>
      compared('ping', each(probes, ping([20, 21, 20, 22])), each(probes, ping([80, 82, 81, 80]))).differences[0]
        ?.certain;

    expect(certain('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1')).toBe(false);
    expect(certain('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1')).toBe(true);
  });

  it('names a phase for certain if eight probes agree', () => {
    const slow = http(200, { timings: { dns: 5, connect: 20, tls: 25, firstByte: 400, download: 5, total: 455 } });
    const certain = (probes: string): boolean | undefined =>
      compared('http', each(probes, http(200)), each(probes, slow)).differences[0]?.certain;

    expect(certain('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1')).toBe(false);
    expect(certain('fra-1 ber-1 muc-1 par-1 lon-1 nyc-1 lax-1 syd-1')).toBe(true);
  });
});
