import { describe, expect, it } from '@jest/globals';

import { bad, broken, each, lines, pending, summaryOf, textOf } from '../test/cases.ts';
import { redirectOf } from '../test/redirect.ts';
import { http, lost, ping } from '../test/results.ts';

const good = ping([120, 121, 122, 120]);
const at = (resolvedIp: string) => ({ resolvedIp });
/** The replies come from the address, too. */
const goodAt = (resolvedIp: string) => ping([120, 121, 122, 120], { resolvedIp });

describe('who is affected', () => {
  it.each([
    ['none', each('fra-1 ber-1 nyc-1', good), []],
    ['all', each('fra-1 ber-1 nyc-1', lost), ['down_everywhere critical: ber-1 fra-1 nyc-1']],
    ['one of one', { 'fra-1': lost }, ['down_everywhere critical: fra-1']],
    ['one of several', { ...each('fra-1 ber-1', good), 'nyc-1': lost }, ['down_one_probe warning: nyc-1']],
    [
      'one country',
      { ...each('fra-1 ber-1', lost), ...each('par-1 nyc-1', good) },
      ['down_country critical: ber-1 fra-1'],
    ],
    [
      'one network',
      { ...each('ber-1 par-1', lost), ...each('fra-1 nyc-1', good) },
      ['down_network critical: ber-1 par-1'],
    ],
    [
      'a country and a network that cannot be distinguished',
      { ...each('fra-1 muc-1', lost), ...each('par-1 nyc-1', good) },
      ['down_country critical: fra-1 muc-1', 'down_network critical: fra-1 muc-1'],
    ],
    [
      'one continent',
      { ...each('fra-1 par-1 lon-1', lost), ...each('nyc-1 syd-1', good) },
      ['down_continent critical: fra-1 lon-1 par-1'],
    ],
    [
      'some of a country',
      { ...each('fra-1 muc-1', lost), ...each('ber-1 muc-2 nyc-1', good) },
      ['down_some warning: fra-1 muc-1'],
    ],
    [
      'half of all, without a pattern',
      { ...each('fra-1 nyc-1', lost), ...each('fra-2 nyc-2', good) },
      ['down_some critical: fra-1 nyc-1'],
    ],
    [
      'probes that are no longer known',
      { ...each('gone-1 gone-2', lost), ...each('fra-1 nyc-1 lon-1', good) },
      ['down_some warning: gone-1 gone-2'],
    ],
    [
      'a country, if the places of the others are unknown',
      { ...each('fra-1 ber-1', lost), ...each('gone-1 gone-2 gone-3', good) },
      ['down_some warning: ber-1 fra-1'],
    ],
    [
      'a country, if a probe that is no longer known has an answer',
      { ...each('fra-1 ber-1', lost), ...each('gone-1 nyc-1', good) },
      ['down_country critical: ber-1 fra-1'],
    ],
    [
      'one address of several',
      { ...each('fra-1 nyc-1', { ...lost, ...at('203.0.113.2') }), ...each('fra-2 nyc-2', good) },
      ['down_address critical: fra-1 nyc-1', 'addresses_differ info: fra-1 fra-2 nyc-1 nyc-2'],
    ],
    [
      'an address that answers others',
      {
        ...each('fra-1 nyc-1', { ...lost, ...at('203.0.113.2') }),
        ...each('fra-2 nyc-2', goodAt('203.0.113.2')),
        'lon-1': good,
      },
      ['down_some warning: fra-1 nyc-1', 'addresses_differ info: fra-1 fra-2 lon-1 nyc-1 nyc-2'],
    ],
    [
      'one family',
      {
        'fra-1': { ...lost, ...at('2001:db8::1') },
        'nyc-1': { ...lost, ...at('2001:db8::2') },
        ...each('fra-2 nyc-2', good),
      },
      [
        'down_family critical: fra-1 nyc-1',
        'addresses_differ info: fra-1 nyc-1',
        'families_differ info: fra-1 fra-2 nyc-1 nyc-2',
      ],
    ],
  ])('is %s', (_reason, results, expected) => {
    expect(lines(summaryOf('ping', results))).toEqual(expected);
  });

  it('is reported with the place and the reasons', () => {
    const results = { 'fra-1': lost, 'ber-1': bad('host_unreachable', {}), ...each('par-1 nyc-1', good) };

    expect(textOf(summaryOf('ping', results), 'down_country')).toBe(
      'It fails from the 2 probes in Germany and from no other of the 4: nothing came back in time (1) and the host is ' +
        'unreachable (1). 2 others have an answer.',
    );
  });

  it.each([
    [
      each('fra-1 ber-1', lost),
      each('par-1 nyc-1', good),
      /^It fails from the 2 probes in Germany and from no other of the 4: /,
    ],
    [
      each('fra-1 ber-1', lost),
      each('removed-1 nyc-1', good),
      /^It fails from 2 probes in Germany and from no other of the 4: /,
    ],
    [
      each('fra-1 nyc-1', lost),
      each('par-1 syd-1', good),
      /in time\. They share no place, network or address that is theirs alone\.$/,
    ],
    [each('fra-1 removed-1', lost), each('par-1 syd-1', good), /in time\.$/],
  ])('claims nothing of probes whose places are not known: %#', (failing, others, expected) => {
    const [finding] = summaryOf('ping', { ...failing, ...others }).findings;

    expect(finding!.text).toMatch(expected);
  });

  it.each([
    [
      'is offline',
      { 'muc-1': broken('probe_offline') },
      'the 2 probes in Germany that count and from no other of the 3:',
    ],
    ['has not answered', { 'muc-1': pending }, 'the 2 probes in Germany that count and from no other of the 3:'],
    ['is not known', { 'gone-1': pending }, '2 probes in Germany and from no other of the 3 that count:'],
    ['is elsewhere', { 'lon-1': pending }, 'the 2 probes in Germany and from no other of the 3 that count:'],
  ])('counts no probe of the place that %s', (_what, other, place) => {
    const summary = summaryOf('ping', { ...each('fra-1 ber-1', lost), 'nyc-1': good, ...other });

    expect(textOf(summary, 'down_country')).toContain(`It fails from ${place}`);
    expect(summary.headline).toContain(`, and fails from ${place.replace(/ and from no .*/, '')}: nothing`);
  });

  it.each([
    ['muc-1', 'One other probe has an answer. It is in the same network.'],
    ['ber-1', 'One other probe has an answer. It is in the same country, not in the same network.'],
    ['nyc-1', 'One other probe has an answer. It is not in the same country or network.'],
    ['removed-1 ber-1', '2 others have an answer. One of them is in the same country.'],
  ])('of one probe, with what is known of the others: %s', (others, expected) => {
    expect(textOf(summaryOf('ping', { 'fra-1': lost, ...each(others, good) }), 'down_one_probe')).toContain(expected);
  });

  it.each([
    ['muc-1', 'One of them is in the same network.'],
    ['ber-1', 'One of them is in the same country, none in the same network.'],
    ['lon-1', 'None of them is in the same country or network.'],
  ])('of one probe, with what the others tell: %s', (other, expected) => {
    expect(textOf(summaryOf('ping', { 'fra-1': lost, ...each(`${other} nyc-1`, good) }), 'down_one_probe')).toContain(
      expected,
    );
  });
});

describe('addresses that failed', () => {
  const dead = (ip: string) => ({ ...lost, resolvedIp: ip });

  it.each([
    [
      'are named',
      { 'fra-1': dead('203.0.113.9'), 'nyc-1': good },
      'down_one_probe',
      / None of the others asked 203\.0\.113\.9\.$/,
    ],
    ['are not if others have them', { 'fra-1': lost, 'nyc-1': good }, 'down_one_probe', /network\.$/],
    [
      'are named if they are several',
      { 'fra-1': dead('203.0.113.9'), 'nyc-1': dead('203.0.113.8'), 'par-1': good },
      'down_some',
      /They share no place, network or address that is theirs alone\. None of the others asked 203\.0\.113\.8 and 203\.0\.113\.9\.$/,
    ],
    [
      'are not if one of them works elsewhere',
      { 'fra-1': lost, 'nyc-1': dead('203.0.113.8'), 'par-1': good },
      'down_some',
      /that is theirs alone\.$/,
    ],
  ] as const)('%s', (_reason, results, code, expected) => {
    expect(textOf(summaryOf('ping', results), code)).toMatch(expected);
  });

  it('are not named if they redirected the others (http)', () => {
    const [url, resolvedIp] = ['http://example.com/', '203.0.113.1'];
    const redirects = [redirectOf(url, { resolvedIp })];
    const led = http(200, { url: 'https://b.example/', resolvedIp: '198.51.100.9', redirects });
    const dead = bad('timed_out', { url, resolvedIp });

    expect(textOf(summaryOf('http', { 'fra-1': dead, 'nyc-1': led }), 'down_one_probe')).toMatch(
      /country or network\.$/,
    );
    expect(textOf(summaryOf('http', { 'fra-1': led, 'nyc-1': dead }), 'down_one_probe')).toMatch(
      /country or network\.$/,
    );
  });

  it('names the host whose family fails, if there are redirects (http)', () => {
    const [at, to] = ['http://example.com/', 'https://www.example.com/'];
    const redirects = [redirectOf(at, { location: to })];
    const dead = bad('timed_out', { url: to, resolvedIp: '203.0.113.7', redirects });
    const six = http(200, { url: to, resolvedIp: '2001:db8::7', redirects });
    const summary = summaryOf('http', { ...each('fra-1 nyc-1', dead), ...each('ber-1 lax-1', six) }, { host: at });

    expect(textOf(summary, 'down_family')).toContain(
      'the 2 probes that used IPv4 for www.example.com and from no other',
    );
  });

  it('are not named if others asked them too, before the one that answers (http)', () => {
    const [first, second] = ['203.0.113.1', '203.0.113.2'].map((address) => ({ address, error, time: 4_000 })) as [
      DeadAddress,
      DeadAddress,
    ];
    const elsewhere = http(200, { resolvedIp: second.address, deadAddresses: [first] });
    const summary = summaryOf('http', {
      'fra-1': bad('timed_out', { deadAddresses: [first, second] }),
      ...each('nyc-1 par-1', elsewhere),
    });

    expect(textOf(summary, 'down_one_probe')).not.toContain('None of the others asked');
  });
});

const error = 'timed_out' as const;
type DeadAddress = { readonly address: string; readonly error: typeof error; readonly time: number };

describe('an address that others asked at another port', () => {
  const url = 'https://example.com/';
  const redirects = [redirectOf('http://example.com/', { location: url, resolvedIp: '203.0.113.1' })];
  const refusing = bad('connection_refused', { url, redirects, ...at('203.0.113.1') });
  const working = http(200, { url, redirects, ...at('203.0.113.2') });

  it('is that of the failing probes at theirs', () => {
    const summary = summaryOf('http', { ...each('fra-1 nyc-1', refusing), ...each('ber-1 lax-1', working) });

    expect(lines(summary)).toContain('down_address critical: fra-1 nyc-1');
    expect(textOf(summary, 'down_address')).toContain(
      'the 2 probes that asked 203.0.113.1 at port 443 and from no other',
    );
  });

  it('is none that they did not ask', () => {
    const summary = summaryOf('http', { 'fra-1': refusing, ...each('ber-1 lax-1', working) });

    expect(textOf(summary, 'down_one_probe')).not.toContain('None of the others asked');
  });
});

describe('probes that do not count', () => {
  it('are named before what the others asked', () => {
    const uncounted = { ...broken('probe_busy'), ...at('2001:db8::1') };
    const down = { ...lost, ...at('2001:db8::1') };
    const summary = summaryOf('ping', {
      ...each('fra-1 nyc-1', down),
      ...each('ber-1 lon-1', good),
      'par-1': uncounted,
    });

    expect(textOf(summary, 'down_address')).toContain(
      'the 2 probes that count and asked 2001:db8::1 and from no other of the 4:',
    );
    expect(textOf(summary, 'down_family')).toContain(
      'the 2 probes that count and used IPv6 and from no other of the 4:',
    );
  });
});

describe('redirects to many hosts over both families', () => {
  it('are one finding', () => {
    const led = [1, 2, 3, 4, 5].flatMap((host) =>
      ['203.0.113.1', '2001:db8::1'].map((resolvedIp) => {
        const url = `https://h${host}.example/`;
        const redirects = [redirectOf('https://example.com/', { location: url, resolvedIp: '203.0.113.9' })];
        return http(200, { url, redirects, resolvedIp });
      }),
    );
    const summary = summaryOf('http', Object.fromEntries(led.map((result, index) => [`p-${index}`, result])));

    expect(summary.findings.filter(({ code }) => code === 'families_differ')).toHaveLength(1);
    expect(textOf(summary, 'families_differ')).toMatch(
      /^p-0 used IPv4, p-1 IPv6 for h1\.example; .*; others differ for 2 more hosts: what differs between them/,
    );
  });
});

describe('probes behind NAT64', () => {
  const translated = { ...lost, ...at('64:ff9b::cb00:7101') };

  it('ask the same server as those that use IPv4', () => {
    const some = summaryOf('ping', { ...each('fra-1 nyc-1', translated), ...each('ber-1 lon-1', good) });
    const one = summaryOf('ping', { 'fra-1': translated, 'ber-1': good });

    expect(lines(some)).toEqual(['down_family critical: fra-1 nyc-1', 'families_differ info: ber-1 fra-1 lon-1 nyc-1']);
    expect(some.headline).toContain('and fails from the 2 probes that used IPv4 through NAT64: ');
    expect(textOf(one, 'down_one_probe')).not.toContain('None of the others asked');
    expect(textOf(one, 'families_differ')).toBe(
      'ber-1 used IPv4, fra-1 IPv4 through NAT64: what differs between them may be a matter of the family or the translation.',
    );
  });

  it.each([
    ['another server', '64:ff9b::203.0.113.9', '203.0.113.9'],
    ['another one by a local prefix', '64:ff9b:1:fffe::203.0.113.9', '203.0.113.9'],
    ['one by a prefix of another length', '64:ff9b:1:cb00:71:900::', '64:ff9b:1:cb00:71:900::'],
  ])('may ask %s', (_what, address, server) => {
    const failing = each('fra-1 nyc-1', { ...lost, ...at(address) });

    expect(textOf(summaryOf('ping', { ...failing, ...each('ber-1 lon-1', good) }), 'down_address')).toContain(
      `the 2 probes that asked ${server} and from no other`,
    );
  });
});

describe('if the place of the others is unknown', () => {
  it('makes no statement whether they are where the failing ones are', () => {
    const some = textOf(summaryOf('ping', { ...each('fra-1 ber-1', lost), 'gone-1': good }), 'down_some');
    const one = textOf(summaryOf('ping', { 'fra-1': lost, 'gone-1': good }), 'down_one_probe');

    expect(some).not.toContain('where others have an answer');
    expect(one).toMatch(/One other probe has an answer\.$/);
  });
});

describe('names', () => {
  const unresolved = bad('dns_nxdomain', { resolvedIp: null }, { source: 'resolver', phase: 'resolve' });

  it.each([
    ['for all', { 'fra-1': unresolved, 'nyc-1': unresolved }, 'name_not_resolved critical: fra-1 nyc-1'],
    ['for one', { 'fra-1': unresolved, 'nyc-1': good }, 'name_not_resolved warning: fra-1'],
  ])('that do not resolve %s are the reason', (_reason, results, expected) => {
    expect(lines(summaryOf('ping', results))).toContain(expected);
  });
});

describe('addresses', () => {
  it.each([
    ['by place', { 'fra-1': '203.0.113.1', 'ber-1': '203.0.113.1', 'nyc-1': '203.0.113.2' }, true],
    ['from each country alone', { 'fra-1': '203.0.113.1', 'nyc-1': '203.0.113.2', 'syd-1': '203.0.113.3' }, false],
    ['by chance', { 'fra-1': '203.0.113.1', 'ber-1': '203.0.113.2', 'nyc-1': '203.0.113.2' }, false],
  ])('that differ %s are a matter of course', (_reason, addresses, isByPlace) => {
    const results = Object.fromEntries(Object.entries(addresses).map(([probe, ip]) => [probe, goodAt(ip)]));

    const summary = summaryOf('ping', results);

    expect(lines(summary)).toEqual([`addresses_differ info: ${Object.keys(addresses).toSorted().join(' ')}`]);
    expect(textOf(summary, 'addresses_differ').includes('may go by place')).toBe(isByPlace);
    expect(summary.groups).toHaveLength(new Set(Object.values(addresses)).size);
  });
});
