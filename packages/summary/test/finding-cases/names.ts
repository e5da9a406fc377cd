import { bad, each, ok, summaryOf } from '../cases.ts';
import { extended } from '../extended-errors.ts';
import { redirectOf } from '../redirect.ts';
import { dns, http, info, ping } from '../results.ts';
import type { FindingCases } from './case.ts';
import { ledCases } from './led.ts';

const good = ping([20, 21, 22, 20]);
const unresolved = bad('dns_nxdomain', { resolvedIp: null }, { source: 'target', phase: 'resolve' });
const refusing = bad('dns_refused', { resolvedIp: null }, { source: 'resolver', phase: 'resolve' });
const timed = (timings: Readonly<Record<string, number>>) =>
  http(200, { timings: { dns: 5, connect: 20, tls: 25, firstByte: 30, download: 5, total: 85, ...timings } });
const verdict = (word: 'validated' | 'not_validated' | 'validation_failed' | 'unknown', more = {}) =>
  dns(['A 192.0.2.1'], { dnssec: { ad: word === 'validated', verdict: word }, ...more });
const toCom = [{ name: 'com.', type: 'NS', ttl: 60, data: 'a.gtld-servers.net.' }];
const none = dns([], { recordType: 'AAAA' });
const txt = (text: string) => dns([`TXT "${text}"`], { recordType: 'TXT' });
const named = (hostname: string | null, hostnameVerified: boolean | null, ip = '203.0.113.1') =>
  info({ ip, hostname, hostnameVerified });

const redirected = (url: string) => ({ url, redirects: [redirectOf('https://example.com/')] });

/** As many addresses as a ping or tcp result holds; the name has more. */
const addressesFrom = (first: number): string[] =>
  Array.from({ length: 20 }, (_, index) => `203.0.113.${first + index}`);

/** Cases of findings about names, addresses and DNS. */
export const nameCases: FindingCases = {
  name_not_resolved: {
    present: [
      ['the name of the target is not resolved', summaryOf('ping', { 'fra-1': unresolved, 'ber-1': good })],
      ['its resolver refuses', summaryOf('ping', { 'fra-1': refusing, 'ber-1': good })],
    ],
    absent: [
      ['its address does not answer', summaryOf('tcp', { 'fra-1': bad('timed_out', {}, { source: 'network' }) })],
      ['a dns check finds no name', summaryOf('dns', { 'fra-1': dns('NXDOMAIN') })],
    ],
  },
  name_resolution_slow: {
    present: [['more than a second', summaryOf('http', { 'fra-1': timed({ dns: 1_001 }) })]],
    absent: [
      ['a second', summaryOf('http', { 'fra-1': timed({ dns: 1_000 }) })],
      ['all the rest is slow', summaryOf('http', { 'fra-1': timed({ connect: 900, tls: 900, firstByte: 900 }) })],
    ],
  },
  addresses_differ: {
    present: [
      ['two of one family', summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, resolvedIp: '203.0.113.2' } })],
    ],
    absent: [
      ['one of each family', summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, resolvedIp: '2001:db8::1' } })],
      [
        'the same in another order',
        summaryOf('info', {
          'fra-1': info({ addresses: ['203.0.113.1', '203.0.113.2'] }),
          'ber-1': info({ addresses: ['203.0.113.2', '203.0.113.1'] }),
        }),
      ],
      ['one has none', summaryOf('ping', { 'fra-1': good, 'ber-1': unresolved })],
      [
        'one of an earlier release lists the measured one alone',
        summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, addresses: ['203.0.113.1', '203.0.113.2'] } }),
      ],
      [
        'the name has more than a result holds',
        summaryOf('ping', {
          'fra-1': { ...good, addresses: addressesFrom(1) },
          'ber-1': { ...good, addresses: addressesFrom(11), resolvedIp: '203.0.113.11' },
        }),
      ],
      [
        'the same ones take turns',
        summaryOf('ping', {
          'fra-1': { ...good, addresses: ['203.0.113.1', '203.0.113.2'] },
          'ber-1': { ...good, resolvedIp: '203.0.113.2', addresses: ['203.0.113.2', '203.0.113.1'] },
        }),
      ],
      [
        'redirects lead to another host of its own each',
        summaryOf('http', {
          'fra-1': http(200, { ...redirected('https://de.example.com/'), resolvedIp: '203.0.113.1' }),
          'nyc-1': http(200, { ...redirected('https://us.example.com/'), resolvedIp: '203.0.113.2' }),
        }),
      ],
    ],
  },
  families_differ: {
    present: [
      ['one of each', summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, resolvedIp: '2001:db8::1' } })],
      ...ledCases.ofTwoFamilies.present,
    ],
    absent: [
      ...ledCases.ofTwoFamilies.absent,
      ['two addresses of one', summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, resolvedIp: '203.0.113.2' } })],
    ],
  },
  dns_nxdomain_some: {
    present: [
      ['one says it does not exist', summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns(['A 192.0.2.1']) })],
    ],
    absent: [
      ['all say so', summaryOf('dns', each('fra-1 ber-1', dns('NXDOMAIN')))],
      ['the other could not say', summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns('SERVFAIL') })],
      [
        'the other got the alias alone, not whether the name exists that it leads to',
        summaryOf('dns', {
          'fra-1': dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: 'gone.example.' }),
          'ber-1': dns(['CNAME gone.example.'], { answerKind: 'alias', canonicalName: 'gone.example.' }),
        }),
      ],
      [
        'the other got an answer that has expired',
        summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns(['A 192.0.2.1'], extended(3)) }),
      ],
      [
        'the other got records of a filter',
        summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns(['A 0.0.0.0'], extended(15)) }),
      ],
      [
        'one has no records of the type, which says that the name exists',
        summaryOf('dns', { 'fra-1': dns([]), 'ber-1': dns(['A 192.0.2.1']) }),
      ],
    ],
  },
  dns_empty_some: {
    present: [['one gets none', summaryOf('dns', { 'fra-1': dns([]), 'ber-1': dns(['A 192.0.2.1']) })]],
    absent: [
      ['all get none', summaryOf('dns', each('fra-1 ber-1', dns([])))],
      [
        'one gets addresses that its resolver made',
        summaryOf('dns', { 'fra-1': none, 'ber-1': dns(['AAAA 64:ff9b::c000:201'], { recordType: 'AAAA' }) }),
      ],
      [
        'one gets a referral, which has no answers either',
        summaryOf('dns', {
          'fra-1': dns([], { flags: ['qr', 'rd'], authority: toCom }),
          'ber-1': dns(['A 192.0.2.1']),
        }),
      ],
    ],
  },
  dns_rcode_differs: {
    present: [
      [
        'half of the resolvers fail',
        summaryOf('dns', {
          ...each('fra-1 ber-1', dns('SERVFAIL')),
          ...each('lon-1 par-1', dns(['A 192.0.2.1'])),
        }),
      ],
    ],
    absent: [
      ['one resolver fails', summaryOf('dns', { 'fra-1': dns('SERVFAIL'), 'ber-1': dns(['A 192.0.2.1']) })],
      ['all fail alike', summaryOf('dns', each('fra-1 ber-1', dns('SERVFAIL')))],
      [
        'they differ in NXDOMAIN, which has a separate finding',
        summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns([]) }),
      ],
    ],
  },
  dns_unanswered: {
    present: [
      ['a referral', summaryOf('dns', { 'fra-1': dns([], { flags: ['qr', 'rd'], authority: toCom }) })],
      [
        'the resolver’s own name is not resolved',
        summaryOf('dns', {
          'fra-1': bad(
            'dns_resolver_unreachable',
            { recordType: 'A', queryName: 'example.com.', resolvedIp: null },
            { source: 'resolver', phase: 'resolve' },
          ),
        }),
      ],
      [
        'the resolver cannot be reached',
        summaryOf('dns', {
          'fra-1': bad(
            'dns_resolver_unreachable',
            { recordType: 'A', queryName: 'example.com.', resolvedIp: null },
            { source: 'resolver', phase: 'request' },
          ),
        }),
      ],
      ['the resolver refuses', summaryOf('dns', { 'fra-1': dns('REFUSED') })],
    ],
    absent: [
      ['no records, by a server that resolves', summaryOf('dns', { 'fra-1': dns([]) })],
      ['the resolver tried and failed', summaryOf('dns', { 'fra-1': dns('SERVFAIL') })],
      ['all servers of the zone refuse, in a trace', summaryOf('dns', { 'fra-1': dns('REFUSED', { trace: [] }) })],
      [
        'a referral to the name itself, whose name servers were asked for',
        summaryOf('dns', {
          'fra-1': dns([], { recordType: 'NS', answerKind: 'referral', referral: 'example.com.', canonicalName: null }),
        }),
      ],
    ],
  },
  dns_filtered: {
    present: [
      ['no records, by a filter', summaryOf('dns', { 'fra-1': dns([], extended(17)) })],
      ['NXDOMAIN by a block list', summaryOf('dns', { 'fra-1': dns('NXDOMAIN', extended(15)) })],
      [
        'the same of an agent that knows no filters',
        summaryOf('dns', { 'fra-1': dns('NXDOMAIN', { ...extended(16), answerKind: 'nxdomain' }) }),
      ],
      ['a forged address', summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1'], extended(4)) })],
    ],
    absent: [
      ['no records, and nothing said of a filter', summaryOf('dns', { 'fra-1': dns([]) })],
      ['NXDOMAIN from a stale cache', summaryOf('dns', { 'fra-1': dns('NXDOMAIN', extended(19)) })],
      ['the caller is the one who may not ask', summaryOf('dns', { 'fra-1': dns('REFUSED', extended(18)) })],
      ['no server of the zone can be reached', summaryOf('dns', { 'fra-1': dns('SERVFAIL', extended(22)) })],
    ],
  },
  dns_stale: {
    present: [
      ['an expired answer', summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1'], extended(3)) })],
      ['an expired denial', summaryOf('dns', { 'fra-1': dns('NXDOMAIN', extended(19)) })],
    ],
    absent: [
      ['a failure', summaryOf('dns', { 'fra-1': dns('SERVFAIL', extended(3)) })],
      ['an error of another kind', summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1'], extended(0)) })],
    ],
  },
  dns_not_public: {
    present: [
      ['the address of a block list', summaryOf('dns', { 'fra-1': dns(['A 0.0.0.0']), 'ber-1': dns(['A 192.0.2.1']) })],
      ['a private address for all', summaryOf('dns', each('fra-1 ber-1', dns(['A 172.31.255.1'])))],
      [
        'an address that a proxy made up',
        summaryOf('dns', { 'fra-1': dns(['A 198.18.0.5']), 'ber-1': dns(['A 192.0.2.1']) }),
      ],
      ['a reserved address', summaryOf('dns', { 'fra-1': dns(['A 240.0.0.1']), 'ber-1': dns(['A 192.0.2.1']) })],
      ['an address of loopback', summaryOf('dns', { 'fra-1': dns(['AAAA ::1'], { recordType: 'AAAA' }) })],
      [
        'an address of DNS64',
        summaryOf('dns', { 'fra-1': dns(['AAAA 64:ff9b::c000:201'], { recordType: 'AAAA' }), 'ber-1': none }),
      ],
    ],
    absent: [
      ['addresses next to private ones', summaryOf('dns', { 'fra-1': dns(['A 172.32.0.1', 'A 198.20.0.1']) })],
      ['a private one of several', summaryOf('dns', { 'fra-1': dns(['A 10.0.0.1', 'A 192.0.2.1']) })],
      ['a public address of IPv6', summaryOf('dns', { 'fra-1': dns(['AAAA 2001:db8::1'], { recordType: 'AAAA' }) })],
      ['a text', summaryOf('dns', { 'fra-1': dns(['TXT 10.0.0.1'], { recordType: 'TXT' }) })],
      ['the resolver says so', summaryOf('dns', { 'fra-1': dns(['A 0.0.0.0'], extended(15)) })],
    ],
  },
  dns_answers_differ: {
    present: [
      ['two texts', summaryOf('dns', { 'fra-1': txt('a'), 'ber-1': txt('b') })],
      [
        'one more address',
        summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1']), 'ber-1': dns(['A 192.0.2.1', 'A 192.0.2.2']) }),
      ],
    ],
    absent: [
      [
        'the same in another order and with other TTLs',
        summaryOf('dns', {
          'fra-1': dns(['A 192.0.2.1', 'A 192.0.2.2']),
          'ber-1': dns(['A 192.0.2.2', 'A 192.0.2.1']),
        }),
      ],
      [
        'names in another case',
        summaryOf('dns', {
          'fra-1': dns(['MX 10 mail.example.com.'], { recordType: 'MX' }),
          'ber-1': dns(['MX 10 Mail.Example.COM.'], { recordType: 'MX' }),
        }),
      ],
      ['one was cut', summaryOf('dns', { 'fra-1': txt('a'), 'ber-1': { ...txt('b'), truncated: true } })],
      ['one got none', summaryOf('dns', { 'fra-1': txt('a'), 'ber-1': dns([], { recordType: 'TXT' }) })],
      [
        'one got that of a block list',
        summaryOf('dns', { 'fra-1': dns(['A 0.0.0.0']), 'ber-1': dns(['A 192.0.2.1']) }),
      ],
      [
        'one got those of before, which have expired',
        summaryOf('dns', { 'fra-1': { ...txt('a'), ...extended(3) }, 'ber-1': txt('b') }),
      ],
      [
        'one got that of a filter that says so',
        summaryOf('dns', { 'fra-1': dns(['A 192.0.2.9'], extended(17)), 'ber-1': dns(['A 192.0.2.1']) }),
      ],
    ],
  },
  dnssec_failed: {
    present: [
      [
        'a resolver says that validation fails',
        summaryOf('dns', {
          'fra-1': dns('SERVFAIL', { dnssec: { ad: false, verdict: 'validation_failed' } }),
          'ber-1': verdict('not_validated'),
        }),
      ],
    ],
    absent: [
      [
        'a resolver fails for another reason',
        summaryOf('dns', { 'fra-1': dns('SERVFAIL', { dnssec: { ad: false, verdict: 'unknown' } }) }),
      ],
      ['no resolver validates', summaryOf('dns', each('fra-1 ber-1', verdict('not_validated')))],
    ],
  },
  dnssec_differs: {
    present: [
      ['one validates', summaryOf('dns', { 'fra-1': verdict('validated'), 'ber-1': verdict('not_validated') })],
    ],
    absent: [
      ['all validate', summaryOf('dns', each('fra-1 ber-1', verdict('validated')))],
      ['of one it is not known', summaryOf('dns', { 'fra-1': verdict('validated'), 'ber-1': verdict('unknown') })],
    ],
  },
  reverse_name_unverified: {
    present: [['it leads elsewhere', summaryOf('info', { 'fra-1': named('a.example', false) })]],
    absent: [
      ['it leads back', summaryOf('info', { 'fra-1': named('a.example', true) })],
      ['no probe could ask', summaryOf('info', { 'fra-1': named('a.example', null) })],
      ['there is none', summaryOf('info', { 'fra-1': named(null, null) })],
    ],
  },
  reverse_name_differs: {
    present: [
      ['two names', summaryOf('info', { 'fra-1': named('a.example', true), 'ber-1': named('b.example', true) })],
    ],
    absent: [
      ['in another case', summaryOf('info', { 'fra-1': named('a.example', true), 'ber-1': named('A.Example', true) })],
      [
        'of two addresses',
        summaryOf('info', { 'fra-1': named('a.example', true), 'ber-1': named('b.example', true, '203.0.113.2') }),
      ],
      ['one saw none', summaryOf('info', { 'fra-1': named('a.example', true), 'ber-1': ok({ ip: '203.0.113.1' }) })],
    ],
  },
};
