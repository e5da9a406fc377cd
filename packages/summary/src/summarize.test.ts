import { describe, expect, it } from '@jest/globals';
import type { FailureCode, Summary } from '@vantage/contract';

import { bad, broken, CHECK_ID, each, lines, pending, summaryOf, textOf } from '../test/cases.ts';
import { redirectOf } from '../test/redirect.ts';
import { misdated, ofExpiredIssuer } from '../test/misdated.ts';
import { dns, http, info, lost, ping, refused, tcp, tls, trace, udp } from '../test/results.ts';
import { cutCoding, unfinished } from '../test/unfinished.ts';

const good = ping([20, 21, 22, 20]);

const toCom = [{ name: 'com.', type: 'NS', ttl: 60, data: 'a.gtld-servers.net.' }];

/** A referral without answer kind, as agents of earlier releases report it. */
const oldReferral = dns([], { flags: ['qr', 'rd'], authority: toCom });
const referred = bad(
  'dns_no_answer',
  {
    recordType: 'A',
    queryName: 'example.com.',
    rcode: 'NOERROR',
    answers: [],
    authority: toCom,
    answerKind: 'referral' as const,
    canonicalName: null,
    referral: 'com.',
    resolvedIp: null,
  },
  { source: 'resolver', phase: 'response' },
);
const bare = dns([], { flags: ['qr', 'rd'] });
const delegated = dns([], { recordType: 'NS', answerKind: 'referral', referral: 'Example.com.' });
const tracedFields = { recordType: 'A', queryName: 'example.com.', resolvedIp: null, trace: [] };
const noResolver = bad(
  'dns_resolver_unreachable',
  { recordType: 'A', queryName: 'example.com.', resolvedIp: null },
  { source: 'resolver', phase: 'resolve' },
);

/** Fields of a failed dns result that names its resolver. */
const asked = { recordType: 'A', queryName: 'example.com.', resolvedIp: null, resolver: '192.0.2.1' };
const unreachable = bad('dns_resolver_unreachable', asked, { source: 'resolver', phase: 'request' });
const unheard = bad('timed_out', asked, { result: 'timeout', source: 'network', phase: 'response' });
const serversSilent = bad('dns_servers_silent', asked, { result: 'timeout', source: 'resolver', phase: 'response' });
const unshaken = bad('tls_handshake_failed', asked, { source: 'resolver', phase: 'tls' });
const noMessage = bad('dns_bad_response', asked, { source: 'resolver', phase: 'response' });
const refusedBy = bad(
  'dns_refused',
  { ...asked, rcode: 'REFUSED', answerKind: 'error' as const },
  { source: 'resolver', phase: 'response' },
);
const addressless = bad('dns_no_address', { resolvedIp: null }, { phase: 'resolve' });
const withoutIpv4 = { ...addressless, error: { ...addressless.error!, family: 4 as const } };
const failingResolver = bad(
  'dns_resolver_failing',
  { ...asked, rcode: 'SERVFAIL', answerKind: 'error' as const },
  { source: 'resolver', phase: 'response' },
);
const soa = { name: 'com.', type: 'SOA', ttl: 60, data: 'ns.com. host.com. 1 2 3 4 5' };
const bogus = dns('SERVFAIL', { dnssec: { ad: false, verdict: 'validation_failed' } });
const rootRow = {
  zone: '.',
  server: 'a.root-servers.net.',
  address: '198.51.100.53',
  rt: null,
  rcode: null,
  authoritative: null,
  referral: null,
  records: [],
  error: unheard.error,
};
const rowOfZone = { ...rootRow, zone: 'com.' };
/** A referral to a zone with so many name servers. */
const delegatingTo = (servers: number, zone = '.') => ({
  ...rootRow,
  zone,
  rcode: 'NOERROR',
  error: null,
  referral: 'com.',
  records: Array.from({ length: servers }, (_, index) => ({
    name: 'com.',
    type: 'NS',
    ttl: 60,
    data: `ns${index}.com.`,
  })),
});
const cutAndUnheard = { ...unheard, rcode: 'NOERROR', answerKind: 'truncated' as const };

/** A result without an address because the resolver failed, refused or was silent. */
const ofResolver = (code: FailureCode) =>
  bad(
    code,
    { resolvedIp: null },
    { source: 'resolver', phase: 'resolve', result: code === 'timed_out' ? 'timeout' : 'failure' },
  );
const nameless = bad('dns_nxdomain', { resolvedIp: null }, { phase: 'resolve' });

const three = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
const ALIAS = 'gone.example';

/** An open port at which the dialogue of a module failed. */
const unanswered = {
  ...tcp('open'),
  ...bad('connection_closed', { dialogue: { steps: 0, unmatched: true } }, { phase: 'response' }),
};
const exchanging = { dialogue: { steps: 0, unmatched: false } };
const mumbling = { ...tcp('open'), ...bad('timed_out', exchanging, { phase: 'response' }) };
const talkative = { ...tcp('open'), ...bad('dialogue_too_large', exchanging, { phase: 'response' }) };
const dead = { address: '192.0.2.66', error: 'timed_out' as const, time: 4_000 };
const expiredAbove = ofExpiredIssuer();
/** Fields of an http result whose last URL is behind a redirect from `http://example.com/`. */
const behind = (url: string) => ({ url, redirects: [redirectOf('http://example.com/')] });
const inPhase = (phase: 'connect' | 'tls' | 'request') =>
  bad('timed_out', { url: 'https://example.com/' }, { result: 'timeout', source: 'network', phase });
const plainHttp = { host: 'http://example.com/' };

const extended = (code: number, name: string) => ({
  edns: {
    version: 0,
    udpSize: 1232,
    dnssecOk: false,
    nsid: null,
    extendedErrors: [{ code, name, text: '' }],
  },
});
const filtered = dns([], extended(17, 'Filtered'));
const blocked = dns('NXDOMAIN', extended(15, 'Blocked'));

describe('the verdict', () => {
  it.each<[reason: string, verdict: Summary['verdict'], agree: string, summary: Summary]>([
    ['all answer', 'up', '3 of 3', summaryOf('ping', each('fra-1 ber-1 par-1', good))],
    ['none answers', 'down', '3 of 3', summaryOf('ping', each('fra-1 ber-1 par-1', lost))],
    ['most answer', 'partial', '2 of 3', summaryOf('ping', { ...each('fra-1 ber-1', good), 'par-1': lost })],
    ['few answer', 'partial', '2 of 3', summaryOf('ping', { ...each('fra-1 ber-1', lost), 'par-1': good })],
    ['all answer, with loss', 'degraded', '2 of 2', summaryOf('ping', each('fra-1 ber-1', ping([20, null, 20, 20])))],
    ['one packet is lost', 'up', '2 of 2', summaryOf('ping', { 'fra-1': ping([20, null]), 'ber-1': good })],
    [
      'no probe could measure',
      'unknown',
      '0 of 0',
      summaryOf('ping', each('fra-1 ber-1', broken('capability_missing'))),
    ],
    ['no probe has answered yet', 'unknown', '0 of 0', summaryOf('ping', each('fra-1 ber-1', pending))],
    ['there is no probe', 'unknown', '0 of 0', summaryOf('ping', {})],
    [
      'who could not measure does not count',
      'down',
      '1 of 1',
      summaryOf('ping', { 'fra-1': lost, 'ber-1': broken('probe_offline') }),
    ],
    [
      'who is late does not count',
      'up',
      '1 of 1',
      summaryOf('ping', {
        'fra-1': good,
        'ber-1': bad('probe_timeout', {}, { result: 'timeout', source: 'probe', phase: 'dispatch' }),
      }),
    ],
    [
      'who has not answered yet does not count',
      'up',
      '1 of 1',
      summaryOf('ping', { 'fra-1': good, 'ber-1': { ...good, ...pending } }),
    ],
    ['a 4xx status is an answer', 'degraded', '2 of 2', summaryOf('http', each('fra-1 ber-1', http(404)))],
    ['a 5xx status is none', 'down', '2 of 2', summaryOf('http', each('fra-1 ber-1', http(502)))],
    ['a 5xx status of some', 'partial', '1 of 2', summaryOf('http', { 'fra-1': http(502), 'ber-1': http(200) })],
    ['a refused certificate is no answer', 'down', '1 of 1', summaryOf('http', { 'fra-1': refused('tls_expired') })],
    [
      'a certificate that the caller lets pass is a bad answer',
      'degraded',
      '1 of 1',
      summaryOf('http', {
        'fra-1': http(200, { tls: tls('1', { authorized: false, authorizationError: 'tls_self_signed' }) }),
      }),
    ],
    [
      'redirects were not followed to the end',
      'degraded',
      '1 of 1',
      summaryOf('http', { 'fra-1': bad('redirect_limit', {}) }),
    ],
    [
      'the browser could not show the page',
      'degraded',
      '1 of 1',
      summaryOf('http', { 'fra-1': bad('screenshot_failed', {}) }),
    ],
    [
      'the body of the answer does not end in time',
      'degraded',
      '1 of 1',
      summaryOf('http', { 'fra-1': unfinished(200) }),
    ],
    ['the body ends before its coding', 'degraded', '1 of 1', summaryOf('http', { 'fra-1': cutCoding(200) })],
    [
      'the body is not in its coding',
      'down',
      '1 of 1',
      summaryOf('http', { 'fra-1': { ...cutCoding(200), truncated: false } }),
    ],
    [
      'the body of a refusal does not end in time',
      'degraded',
      '1 of 1',
      summaryOf('http', { 'fra-1': unfinished(404) }),
    ],
    [
      'the body of a server error does not end in time',
      'down',
      '1 of 1',
      summaryOf('http', { 'fra-1': unfinished(503) }),
    ],
    ['redirects lead in a circle', 'down', '1 of 1', summaryOf('http', { 'fra-1': bad('redirect_loop', {}) })],
    [
      'a certificate that expires soon still works',
      'up',
      '1 of 1',
      summaryOf('http', { 'fra-1': http(200, { tls: tls('1', { daysLeft: 2 }) }) }),
    ],
    [
      'a certificate that has expired by a wrong clock of the probe',
      'up',
      '1 of 1',
      summaryOf('http', { 'fra-1': misdated('tls_expired'), 'ber-1': http(200) }),
    ],
    [
      'a certificate that has expired by a wrong clock, and that the client lets pass',
      'up',
      '1 of 1',
      summaryOf('http', {
        'fra-1': http(200, { tls: misdated('tls_expired').tls!, finishedAt: '2026-01-01T00:00:01.000Z' }),
      }),
    ],
    [
      'a certificate that is not valid yet by wrong clocks',
      'unknown',
      '0 of 0',
      summaryOf('http', each('fra-1 ber-1', misdated('tls_not_yet_valid'))),
    ],
    ['a closed port', 'down', '1 of 1', summaryOf('tcp', { 'fra-1': tcp('closed') })],
    ['UDP silence proves nothing', 'unknown', '0 of 0', summaryOf('udp', each('fra-1 ber-1', udp('open|filtered')))],
    [
      'UDP silence next to an open port is a failure',
      'partial',
      '1 of 2',
      summaryOf('udp', { 'fra-1': udp('open|filtered'), 'ber-1': udp('open') }),
    ],
    [
      'UDP silence next to a closed port does not count',
      'down',
      '1 of 1',
      summaryOf('udp', { 'fra-1': udp('open|filtered'), 'ber-1': udp('closed') }),
    ],
    ['a name that does not exist', 'down', '2 of 2', summaryOf('dns', each('fra-1 ber-1', dns('NXDOMAIN')))],
    ['a name without such records', 'up', '2 of 2', summaryOf('dns', each('fra-1 ber-1', dns([])))],
    ['a referral says nothing of the name', 'unknown', '0 of 0', summaryOf('dns', each('fra-1 ber-1', referred))],
    ['a referral of an agent that names no kind', 'unknown', '0 of 0', summaryOf('dns', { 'fra-1': oldReferral })],
    [
      'a referral next to an answer does not count',
      'up',
      '1 of 1',
      summaryOf('dns', { 'fra-1': referred, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    ['a bare answer says nothing of the name', 'unknown', '0 of 0', summaryOf('dns', { 'fra-1': bare })],
    ['a resolver without an address neither', 'unknown', '0 of 0', summaryOf('dns', { 'fra-1': noResolver })],
    [
      'a resolver that cannot be reached says nothing of a name that resolves elsewhere',
      'up',
      '1 of 1',
      summaryOf('dns', { 'fra-1': unreachable, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    ...(
      [
        ['cannot be reached', unreachable],
        ['does not answer in time', unheard],
        ['wants a certificate of the client', unshaken],
        ['is a web page', noMessage],
        ['refuses to answer', refusedBy],
        ['sends no valid message', dns([], { answerKind: 'malformed' })],
        ['cannot read the question', dns('FORMERR')],
        ['has no authority', dns('NOTAUTH')],
        ['sends records of a stranger', dns([], { answerKind: 'foreign' })],
        ['cuts off its answer and has no TCP', cutAndUnheard],
      ] as const
    ).map(([what, result]): [string, Summary['verdict'], string, Summary] => [
      `a resolver that ${what}`,
      'unknown',
      '0 of 0',
      summaryOf('dns', each('fra-1 ber-1', result)),
    ]),
    ['a name without records, by a filter', 'unknown', '0 of 0', summaryOf('dns', { 'fra-1': filtered })],
    ['a name that a filter denies', 'unknown', '0 of 0', summaryOf('dns', { 'fra-1': blocked })],
    [
      'a name that a filter denies to some',
      'degraded',
      '1 of 1',
      summaryOf('dns', { 'fra-1': blocked, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    [
      'a resolver that fails alone, next to an answer, does not count',
      'up',
      '2 of 2',
      summaryOf('dns', { 'fra-1': dns('SERVFAIL'), ...each('ber-1 par-1', dns(['A 192.0.2.1'])) }),
    ],
    [
      'half of the resolvers fail',
      'partial',
      '2 of 4',
      summaryOf('dns', { ...each('fra-1 nyc-1', dns('SERVFAIL')), ...each('ber-1 par-1', dns(['A 192.0.2.1'])) }),
    ],
    [
      'a resolver alone finds that signatures are wrong',
      'partial',
      '2 of 3',
      summaryOf('dns', { 'fra-1': bogus, ...each('ber-1 par-1', dns(['A 192.0.2.1'])) }),
    ],
    ['a resolver that cannot resolve the name', 'down', '1 of 1', summaryOf('dns', { 'fra-1': dns('SERVFAIL') })],
    [
      'name servers of a zone that are all dead, in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [] } }),
    ],
    [
      'name servers of a zone that all refuse, in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': { ...refusedBy, trace: [] } }),
    ],
    ...(
      [
        ['are silent', unheard],
        ['refuse', refusedBy],
        ['fail', dns('SERVFAIL')],
        ['send no valid message', { ...noMessage, answerKind: 'malformed' as const, rcode: 'NOERROR' }],
      ] as const
    ).map(([what, result]): [string, Summary['verdict'], string, Summary] => [
      `root servers that all ${what}, in a trace`,
      'unknown',
      '0 of 0',
      summaryOf('dns', { 'fra-1': { ...result, trace: [rootRow, rootRow] } }),
    ]),
    [
      'a top-level domain that does not exist, by the root in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': { ...dns('NXDOMAIN', { authority: [soa] }), trace: [rootRow] } }),
    ],
    [
      'name servers of a zone that are all dead behind the root, in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [rootRow, { ...rootRow, zone: 'com.' }] } }),
    ],
    ...(
      [
        ['of which not all were asked', 3, [2, 2], 'unknown', '0 of 0'],
        ['of which all were asked', 2, [2, 2], 'down', '1 of 1'],
        ['of which the time left none to ask', 2, [], 'unknown', '0 of 0'],
      ] as const
    ).map(([what, all, asked, verdict, agree]): [string, Summary['verdict'], string, Summary] => [
      `name servers of a zone that are dead, and ${what}, in a trace`,
      verdict,
      agree,
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [delegatingTo(all), ...asked.map(() => rowOfZone)] } }),
    ]),
    [
      'name servers of a zone that says that the name does not exist, of which one was asked, in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', {
        'fra-1': { ...dns('NXDOMAIN', { authority: [soa] }), trace: [delegatingTo(3), rowOfZone] },
      }),
    ],
    [
      'too many delegations, in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': { ...noMessage, trace: [rowOfZone, delegatingTo(3, 'org.')] } }),
    ],
    ['name servers of the zone that was asked for', 'up', '1 of 1', summaryOf('dns', { 'fra-1': delegated })],
    [
      'records of a stranger, by the servers of the zone in a trace',
      'down',
      '1 of 1',
      summaryOf('dns', { 'fra-1': dns([], { answerKind: 'foreign', trace: [] }) }),
    ],
    ['aliases in a circle', 'down', '1 of 1', summaryOf('dns', { 'fra-1': dns([], { answerKind: 'loop' }) })],
    [
      'different answers',
      'up',
      '2 of 2',
      summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1']), 'ber-1': dns(['A 192.0.2.2']) }),
    ],
    ['a trace that arrives', 'up', '1 of 1', summaryOf('traceroute', { 'fra-1': trace(['203.0.113.1 5 5 5']) })],
    [
      'a trace that does not',
      'down',
      '1 of 1',
      summaryOf('traceroute', { 'fra-1': trace(['192.0.2.1 5 5 5', '* * *']) }),
    ],
    ['something is known', 'up', '1 of 1', summaryOf('info', { 'fra-1': info() })],
    ...(['ping', 'http', 'tcp', 'udp', 'traceroute', 'info'] as const).flatMap(
      (type): [string, Summary['verdict'], string, Summary][] => [
        [
          `${type}: a resolver that refuses says nothing of the target`,
          'unknown',
          '0 of 0',
          summaryOf(type, each('fra-1 ber-1', ofResolver('dns_refused'))),
        ],
        [
          `${type}: a silent resolver neither`,
          'unknown',
          '0 of 0',
          summaryOf(type, { 'fra-1': ofResolver('timed_out') }),
        ],
        [
          `${type}: a resolver that fails where no other one knows the name`,
          'down',
          '2 of 2',
          summaryOf(type, each('fra-1 ber-1', ofResolver('dns_servfail'))),
        ],
      ],
    ),
    [
      'resolvers that leave this name alone open, because its servers are silent',
      'down',
      '2 of 2',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_servers_silent'))),
    ],
    [
      'a name that is open at one resolver does not count next to one that has its address',
      'up',
      '1 of 1',
      summaryOf('ping', { 'fra-1': ofResolver('dns_servers_silent'), 'ber-1': good }),
    ],
    [
      'SERVFAIL of one resolver and a name that is open at another agree',
      'down',
      '2 of 2',
      summaryOf('ping', { 'fra-1': ofResolver('dns_servers_silent'), 'ber-1': ofResolver('dns_servfail') }),
    ],
    [
      'resolvers that leave the name of a dns check alone open',
      'down',
      '2 of 2',
      summaryOf('dns', each('fra-1 ber-1', serversSilent)),
    ],
    [
      'a name that is open at one resolver of a dns check, and known to another',
      'up',
      '1 of 1',
      summaryOf('dns', { 'fra-1': serversSilent, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    [
      'names that are open at half of the resolvers of a dns check',
      'partial',
      '2 of 4',
      summaryOf('dns', { ...each('fra-1 nyc-1', serversSilent), ...each('ber-1 par-1', dns(['A 192.0.2.1'])) }),
    ],
    [
      'a resolver that refuses does not count',
      'up',
      '1 of 1',
      summaryOf('ping', { 'fra-1': ofResolver('dns_refused'), 'ber-1': good }),
    ],
    [
      'a resolver that fails alone does not count',
      'up',
      '1 of 1',
      summaryOf('ping', { 'fra-1': ofResolver('dns_servfail'), 'ber-1': good }),
    ],
    [
      'a resolver that fails alone does not count next to a name that does not exist',
      'down',
      '1 of 1',
      summaryOf('ping', { 'fra-1': ofResolver('dns_servfail'), 'ber-1': nameless }),
    ],
    [
      'a minority of resolvers that fail does not count',
      'up',
      '3 of 3',
      summaryOf('ping', { ...each('fra-1 ber-1 par-1', good), ...each('nyc-1 lax-1', ofResolver('dns_servfail')) }),
    ],
    [
      'half of the resolvers fail',
      'partial',
      '2 of 4',
      summaryOf('ping', { ...each('fra-1 ber-1', good), ...each('nyc-1 lax-1', ofResolver('dns_servfail')) }),
    ],
  ])('%s: %s, %s', (_reason, verdict, agree, summary) => {
    expect(summary.verdict).toBe(verdict);
    expect(`${summary.agree.n} of ${summary.agree.of}`).toBe(agree);
  });

  it('says which check it is of, and counts every probe once', () => {
    const results = { 'fra-1': good, 'ber-1': lost, 'par-1': broken('probe_offline'), 'lon-1': pending };

    const summary = summaryOf('ping', results);

    expect(summary).toMatchObject({ checkId: CHECK_ID, type: 'ping', host: 'example.com', status: 'pending' });
    expect(summary.counts).toEqual({ up: 1, down: 1, silent: 0, notMeasured: 1, pending: 1 });
  });
});

describe('a single answer that the name does not exist', () => {
  const validated = dns('NXDOMAIN', { dnssec: { ad: true, verdict: 'validated' } });

  it.each<[string, Summary['verdict'], Summary]>([
    ['of the only probe', 'down', summaryOf('dns', { 'fra-1': dns('NXDOMAIN') })],
    ['next to one silent probe', 'down', summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'ber-1': unheard })],
    ['next to two', 'unknown', summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), ...each('ber-1 par-1', unheard) })],
    ['that was SERVFAIL', 'unknown', summaryOf('dns', { 'fra-1': dns('SERVFAIL'), ...each('ber-1 par-1', unheard) })],
    ['that was validated', 'down', summaryOf('dns', { 'fra-1': validated, ...each('ber-1 par-1', unheard) })],
    ['of two', 'down', summaryOf('dns', { ...each('fra-1 nyc-1', dns('NXDOMAIN')), ...each('ber-1 par-1', unheard) })],
    ['while two are pending', 'down', summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), ...each('ber-1 par-1', pending) })],
    [
      'next to records',
      'partial',
      summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), 'nyc-1': dns(['A 192.0.2.1']), ...each('ber-1 par-1', unheard) }),
    ],
  ])('%s makes the verdict %s', (_reason, verdict, summary) => {
    expect(summary.verdict).toBe(verdict);
  });

  it('is named if it proves too little', () => {
    const summary = summaryOf('dns', { 'fra-1': dns('NXDOMAIN'), ...each('ber-1 par-1', unheard) });

    expect(summary.headline).toBe(
      'Only the resolver of fra-1 says something about example.com (A): the name does not exist; 2 others say nothing, so that it proves too little.',
    );
    expect(lines(summary)).toEqual(['dns_unanswered warning: ber-1 par-1', 'dns_unanswered warning: fra-1']);
    expect(summary.findings[1]!.text).toBe(
      'Only the resolver of fra-1 says something about the name: the name does not exist. As 2 others say nothing about it, that proves too little.',
    );
  });
});

describe('the headline', () => {
  it.each<[headline: string, summary: Summary]>([
    [
      'https://example.com/ answers with status 200 from the one probe asked, but the body of its answer did not end within 15 s.',
      summaryOf('http', { 'fra-1': unfinished(200) }),
    ],
    [
      'https://example.com/ answers with status 200 from both probes, but the body of its answer to fra-1 did not end within 15 s.',
      summaryOf('http', { 'fra-1': unfinished(200), 'ber-1': http(200) }),
    ],
    [
      'https://example.com/ answers with status 200 from the one probe asked, but the body of its answer ends before its content coding does.',
      summaryOf('http', { 'fra-1': cutCoding(200) }),
    ],
    [
      'https://example.com/ does not work from the one probe asked: the server speaks none of the versions of HTTP that were offered.',
      summaryOf('http', {
        'fra-1': bad('protocol_unreachable', { url: 'https://example.com/', tls: tls('1') }, { phase: 'tls' }),
      }),
    ],
    [
      'https://example.com/ answers with status 200 from the one probe asked, but with a certificate that demands an OCSP response, which the server does not send.',
      summaryOf('http', { 'fra-1': http(200, { tls: tls('1', { mustStaple: true, ocsp: null }) }) }),
    ],
    [
      'https://example.com/ does not work from the one probe asked: status 503, with a body that did not end in time.',
      summaryOf('http', { 'fra-1': unfinished(503) }),
    ],
    [
      'example.com answers pings from both probes (median round trip 21 ms).',
      summaryOf('ping', each('fra-1 ber-1', good)),
    ],
    [
      'example.com does not answer pings from any of 2 probes: nothing came back in time.',
      summaryOf('ping', each('fra-1 ber-1', lost)),
    ],
    [
      'example.com answers pings from 1 of 3 probes that have measured, and fails from the 2 probes in Germany: nothing came back in time; one probe has not answered yet.',
      summaryOf('ping', { ...each('fra-1 ber-1', lost), 'nyc-1': good, 'lax-1': pending }),
    ],
    [
      'example.com answers pings from both probes, but 2 probes miss answers.',
      summaryOf('ping', each('fra-1 ber-1', ping([20, null]))),
    ],
    [
      'https://example.com/ does not work from any of 2 probes: status 503.',
      summaryOf('http', each('fra-1 ber-1', http(503))),
    ],
    [
      'https://example.com/ answers from both probes, but with status 403.',
      summaryOf('http', each('fra-1 ber-1', http(403))),
    ],
    [
      'https://example.com/ answers with status 200 from the one probe asked (first byte 80 ms, total 85 ms); the certificate that fra-1 saw expires in 3 days.',
      summaryOf('http', { 'fra-1': http(200, { tls: tls('1', { daysLeft: 3 }) }) }),
    ],
    [
      'Port 443 of example.com is not open from any of 3 probes: the connection was refused (2) and nothing came back in time (1).',
      summaryOf('tcp', { ...each('fra-1 nyc-1', tcp('closed')), 'lax-1': tcp('filtered') }),
    ],
    [
      'No probe heard back from port 53 of example.com: with UDP that proves neither that it is open nor that it is closed.',
      summaryOf('udp', each('fra-1 ber-1', udp('open|filtered'))),
    ],
    [
      'example.com resolves (MX) from the one probe asked.',
      summaryOf('dns', { 'fra-1': dns(['MX 10 mx.example.com.'], { recordType: 'MX' }) }),
    ],
    [
      'example.com does not resolve (A) from any of 2 probes: the name does not exist.',
      summaryOf('dns', each('fra-1 ber-1', dns('NXDOMAIN', { answerKind: 'nxdomain', authority: [soa] }))),
    ],
    [
      'example.com does not resolve (A) from any of 2 probes: the answer says that the name does not exist, without the SOA that proves it.',
      summaryOf('dns', each('fra-1 ber-1', dns('NXDOMAIN', { answerKind: 'nxdomain', authority: [] }))),
    ],
    [
      'example.com exists, without records of type A, as seen from both probes.',
      summaryOf('dns', each('fra-1 ber-1', dns([], { authority: [soa] }))),
    ],
    [
      'example.com has no records of type A, by an answer without the SOA that proves it, as seen from both probes.',
      summaryOf('dns', each('fra-1 ber-1', dns([]))),
    ],
    [
      'example.com exists, without records of type A, as seen from both probes.',
      summaryOf('dns', { 'fra-1': dns([]), 'ber-1': dns([], { authority: [soa] }) }),
    ],
    [
      'example.com is reached from the one probe asked (round trip 5 ms).',
      summaryOf('traceroute', { 'fra-1': trace(['203.0.113.1 5 6 7']) }),
    ],
    [
      'example.com is 203.0.113.1, AS64512 (Target Net), Paris, France, as seen from the one probe asked.',
      summaryOf('info', { 'fra-1': info({ asn: 'AS64512', asName: 'Target Net', city: 'Paris', countryCode: 'FR' }) }),
    ],
    [
      '203.0.113.1 is in no network or place that the geo data has, as seen from both probes.',
      summaryOf('info', each('fra-1 ber-1', info({})), { host: '203.0.113.1' }),
    ],
    [
      'https://example.com/ answers with status 200 from both probes (median first byte 80 ms, total 85 ms).',
      summaryOf('http', each('fra-1 ber-1', http(200))),
    ],
    [
      'Port 443 of example.com is open, and does not answer as expected from the one probe asked: the connection was closed before a line matched the expression of the module.',
      summaryOf('tcp', { 'fra-1': unanswered }),
    ],
    [
      'Port 443 of example.com is open, and does not answer as expected from the one probe asked: no line matched the expression of the module in time.',
      summaryOf('tcp', { 'fra-1': mumbling }),
    ],
    [
      'Port 443 of example.com is open, and does not answer as expected from the one probe asked: the dialogue of the module became larger than a check may be.',
      summaryOf('tcp', { 'fra-1': talkative }),
    ],
    [
      'Port 443 of example.com answers as expected from 1 of 2 probes, and fails from fra-1: the connection was closed before a line matched the expression of the module.',
      summaryOf('tcp', { 'fra-1': unanswered, 'ber-1': { ...tcp('open'), dialogue: { steps: 1, unmatched: false } } }),
    ],
    [
      'https://example.com/ answers from all 3 probes, but with status 429 for fra-1.',
      summaryOf('http', { 'fra-1': http(429), ...each('ber-1 nyc-1', http(200)) }),
    ],
    [
      'https://example.com/ answers with status 200 from all 3 probes, but over a version of TLS that browsers refuse for 2 of 3 probes.',
      summaryOf('http', {
        ...each('fra-1 ber-1', http(200, { tls: tls('01', { protocol: 'TLSv1.1' }) })),
        'nyc-1': http(200),
      }),
    ],
    [
      'Port 443 of example.com is open from the one probe that has measured (round trip 20 ms); one probe has not answered yet.',
      summaryOf('tcp', { 'fra-1': { ...tcp('open'), result: 'pending' }, 'ber-1': tcp('open') }),
    ],
    [
      'https://example.com/ answers with status 200 from both probes, but an address of its name takes no connections from 2 probes (fra-1 and muc-1).',
      summaryOf('http', each('fra-1 muc-1', http(200, { deadAddresses: [dead] }))),
    ],
    [
      'https://example.com/ answers with status 200 from both probes, but an address of its name takes no connections.',
      summaryOf('http', each('fra-1 nyc-1', http(200, { deadAddresses: [dead] }))),
    ],
    [
      'http://example.com/ answers from the one probe asked, but its redirects were not followed to an answer.',
      summaryOf(
        'http',
        { 'fra-1': bad('redirect_refused', behind('http://localhost/'), { phase: 'resolve' }) },
        plainHttp,
      ),
    ],
    [
      'example.com has no records of type A in the answers, as seen from both probes.',
      summaryOf('dns', {
        'fra-1': dns([], { answerKind: 'nodata', canonicalName: null }),
        'ber-1': dns(['CNAME www.example.'], { answerKind: 'alias', canonicalName: 'www.example.' }),
      }),
    ],
    [
      'example.com is 203.0.113.1 (one of its 2 addresses), AS64512 (Target Net), as seen from the one probe asked.',
      summaryOf('info', {
        'fra-1': info({ addresses: ['203.0.113.1', '203.0.113.2'], asn: 'AS64512', asName: 'Target Net' }),
      }),
    ],
    [
      'example.com is 203.0.113.1 and 203.0.113.2 (2 of its 3 addresses), as seen from both probes.',
      summaryOf('info', {
        'fra-1': info({ addresses: three }),
        'ber-1': info({ ip: '203.0.113.2', addresses: three }),
      }),
    ],
    [
      'https://example.com/ (203.0.113.1, one of its 20 IPv4 addresses) answers with status 200 from the one probe asked (first byte 80 ms, total 85 ms).',
      summaryOf('http', {
        'fra-1': http(200, { addresses: Array.from({ length: 20 }, (_, index) => `203.0.113.${index + 1}`) }),
      }),
    ],
    [
      '203.0.113.1 is AS64512 (Target Net), as seen from the one probe asked.',
      summaryOf('info', { 'fra-1': info({ asn: 'AS64512', asName: 'Target Net' }) }, { host: '203.0.113.1' }),
    ],
    [
      'Port 443 of example.com is open from the one probe asked (round trip 20 ms).',
      summaryOf('tcp', { 'fra-1': tcp('open', [1_021, 20, 21]) }),
    ],
    [
      'Port 443 of example.com is open from the one probe asked (handshake 1.02 s, in which a packet may have been sent again).',
      summaryOf('tcp', { 'fra-1': tcp('open', [1_021, 1_020, 1_022]) }),
    ],
    [
      'http://example.com/ redirects to 2 places, which answer with status 200 from both probes (median first byte 135 ms, total 140 ms, redirects included).',
      summaryOf(
        'http',
        { 'fra-1': http(200, behind('https://de.example/')), 'nyc-1': http(200, behind('https://us.example/')) },
        plainHttp,
      ),
    ],
    [
      'http://example.com/ answers with status 200 from 3 of 4 probes, for 2 probes (ber-1 and fra-1) after redirects to https://b.example, and fails from nyc-1: the connection was refused.',
      summaryOf(
        'http',
        {
          ...each('ber-1 fra-1', http(200, behind('https://b.example/'))),
          'lon-1': http(200, { url: 'http://example.com/' }),
          'nyc-1': bad('connection_refused', { url: 'http://example.com/' }),
        },
        plainHttp,
      ),
    ],
    [
      'http://example.com/ answers with status 200 from both probes, for nyc-1 after a redirect to https://b.example (median first byte 135 ms, total 140 ms, redirects included).',
      summaryOf(
        'http',
        { 'fra-1': http(200, behind('https://www.example.com/')), 'nyc-1': http(200, behind('https://b.example/')) },
        plainHttp,
      ),
    ],
    [
      'http://example.com/ redirects to https://b.example, which answers from the one probe asked, but with status 404.',
      summaryOf('http', { 'fra-1': http(404, behind('https://b.example/')) }, plainHttp),
    ],
    [
      'https://example.com/ does not work from the one probe asked: a certificate above that of the server has expired.',
      summaryOf('http', { 'fra-1': expiredAbove }),
    ],
    [
      'https://example.com/ answers with status 200 from the one probe asked, but a certificate above that of the server has expired.',
      summaryOf('http', { 'fra-1': http(200, { tls: expiredAbove.tls! }) }),
    ],
    [
      'https://example.com/ answers with status 301 from the one probe asked, but its redirects were not followed to an answer.',
      summaryOf('http', { 'fra-1': bad('redirect_limit', { statusCode: 301, url: 'https://example.com/' }) }),
    ],
    [
      'https://example.com/ answers with status 200 from both probes, but an address of its name takes no connections from fra-1.',
      summaryOf('http', { 'fra-1': http(200, { deadAddresses: [dead] }), 'ber-1': http(200) }),
    ],
    [
      'http://example.com/ does not work from any of 2 probes: the connection was refused at https://b.example, to which it redirects.',
      summaryOf('http', each('fra-1 ber-1', bad('connection_refused', behind('https://b.example/'))), plainHttp),
    ],
    [
      'http://example.com/ does not work from any of 2 probes: the connection was refused at https://example.com, to which it redirects.',
      summaryOf('http', each('fra-1 ber-1', bad('connection_refused', behind('https://example.com/'))), plainHttp),
    ],
    [
      'http://example.com/ does not work from any of 2 probes: status 503 at https://b.example:8443, to which it redirects.',
      summaryOf('http', each('fra-1 ber-1', http(503, behind('https://b.example:8443/'))), plainHttp),
    ],
    [
      'http://example.com/ does not work from any of 2 probes: status 503.',
      summaryOf('http', each('fra-1 ber-1', http(503, behind('http://example.com/b'))), plainHttp),
    ],
    [
      'http://example.com/ does not work from any of 2 probes: the name b.example, to which it redirects, does not exist.',
      summaryOf(
        'http',
        each(
          'fra-1 ber-1',
          bad('dns_nxdomain', { ...behind('https://b.example/'), resolvedIp: null }, { phase: 'resolve' }),
        ),
        plainHttp,
      ),
    ],
    [
      'No probe got an answer for example.com (A): the root servers that were asked did not answer in time.',
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [rootRow] } }),
    ],
    [
      'No probe got an answer for example.com (A): a name server of the zone did not answer in time, with one of the 3 name servers of the zone asked.',
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [delegatingTo(3), rowOfZone] } }),
    ],
    [
      'No probe got an answer for example.com (A): the trace ended before it asked the name servers of the last zone.',
      summaryOf('dns', { 'fra-1': { ...unheard, trace: [delegatingTo(3)] } }),
    ],
    [
      'No probe got an answer for example.com (A): the root servers that were asked refused to answer (REFUSED).',
      summaryOf('dns', { 'fra-1': { ...refusedBy, trace: [rootRow] } }),
    ],
    [
      'The name of example.com does not resolve from any of 2 probes: its aliases lead in a circle.',
      summaryOf('ping', each('fra-1 ber-1', bad('dns_no_answer', { resolvedIp: null }, { phase: 'resolve' }))),
    ],
    [
      'No probe could measure example.com: the resolver gave no answer about the name.',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_no_answer'))),
    ],
    [
      'The name of example.com does not resolve from any of 2 probes: the name got no answer in time, though the resolver answers others: its name servers seem to be silent.',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_servers_silent'))),
    ],
    [
      'example.com does not resolve (A) from any of 2 probes: the name got no answer in time, though the resolver answers others: its name servers seem to be silent.',
      summaryOf('dns', each('fra-1 ber-1', serversSilent)),
    ],
    [
      'example.com cannot be reached over IPv4 from any of 2 probes: the name has no IPv4 address.',
      summaryOf('ping', each('fra-1 ber-1', withoutIpv4)),
    ],
    [
      'The name of example.com does not resolve from any of 2 probes: the name has no IPv4 address (1) and the resolver says that the name does not exist (1).',
      summaryOf('ping', { 'fra-1': withoutIpv4, 'ber-1': nameless }),
    ],
    [
      'No probe could measure example.com: the resolver could not answer (SERVFAIL), and may fail for every name.',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_resolver_failing'))),
    ],
    [
      'No probe got an answer for example.com (A): the resolver 192.0.2.1 could not answer (SERVFAIL), and may fail for every name.',
      summaryOf('dns', each('fra-1 ber-1', failingResolver)),
    ],
    [
      'example.com does not resolve (A) from the one probe that can tell: the resolver could not answer (SERVFAIL); one probe got no answer to the question, which proves neither.',
      summaryOf('dns', { 'fra-1': failingResolver, 'par-1': dns('SERVFAIL') }),
    ],
    [
      'Port 53 of example.com is not open from any of 3 probes: the name got no answer in time, though the resolver answers others: its name servers seem to be silent (1), the port is unreachable (1) and the resolver could not answer (SERVFAIL) (1).',
      summaryOf('udp', {
        'fra-1': ofResolver('dns_servers_silent'),
        'ber-1': ofResolver('dns_servfail'),
        'par-1': udp('closed'),
      }),
    ],
    [
      'Port 53 of example.com is not open from the one probe that can tell: the port is unreachable; one probe heard nothing back, which proves neither; one probe has not answered yet.',
      summaryOf('udp', { 'fra-1': udp('closed'), 'ber-1': udp('open|filtered'), 'par-1': pending }),
    ],
    [
      'No probe got an answer for example.com (A): the resolver 192.0.2.1 did not answer in time; 2 probes have not answered yet.',
      summaryOf('dns', { 'fra-1': unheard, ...each('ber-1 par-1', pending) }),
    ],
    [
      'example.com resolves (A) from 1 of 2 probes, and fails from ber-1: the answer fails the validation of DNSSEC.',
      summaryOf('dns', { 'fra-1': dns(['A 192.0.2.1']), 'ber-1': bogus }),
    ],
    // Agents of earlier releases name the alias in the message alone, which the headline does not use.
    [
      'The name of example.com does not resolve from the one probe asked: the name does not exist.',
      summaryOf('ping', {
        'fra-1': {
          ...nameless,
          error: {
            ...nameless.error!,
            message: `example.com is an alias of ${ALIAS}, which does not exist (NXDOMAIN).`,
          },
        },
      }),
    ],
    [
      'The name of example.com does not resolve from the one probe asked: the name is an alias of gone.example, which does not exist.',
      summaryOf('ping', { 'fra-1': { ...nameless, error: { ...nameless.error!, canonicalName: ALIAS } } }),
    ],
    [
      'example.com does not answer traces from the one probe asked: nothing came back in time.',
      summaryOf('traceroute', { 'fra-1': trace(['192.0.2.1 5 5 5', '* * *']) }),
    ],
    [
      'example.com does not accept traces from any of 2 probes: a packet filter refuses the packets.',
      summaryOf(
        'traceroute',
        each('fra-1 ber-1', {
          ...trace(['192.0.2.1 5 5 5', '203.0.113.1 9 9 9']),
          ...bad('port_unreachable', { reached: true }, { phase: 'response' }),
        }),
      ),
    ],
    [
      'example.com does not answer pings from any of 2 probes: a packet filter refuses the packets.',
      summaryOf('ping', each('fra-1 ber-1', { ...lost, ...bad('port_unreachable', {}, { phase: 'response' }) })),
    ],
    [
      'example.com is not reached from the one probe asked: nothing came back in time.',
      summaryOf('traceroute', { 'fra-1': trace(['192.0.2.1 5 5 5'], { loop: { start: 1, length: 1 } }) }),
    ],
    [
      'example.com (203.0.113.1, one of its 2 IPv4 addresses) answers pings from both probes (median round trip 21 ms).',
      summaryOf('ping', each('fra-1 ber-1', { ...good, addresses: ['203.0.113.1', '203.0.113.2', '2001:db8::1'] })),
    ],
    [
      'Port 443 of example.com (203.0.113.1, one of its 2 IPv4 addresses) is not open from any of 2 probes: the connection was refused.',
      summaryOf('tcp', each('fra-1 ber-1', { ...tcp('closed'), addresses: ['203.0.113.2', '203.0.113.1'] })),
    ],
    [
      'Port 443 of example.com is not open over IPv4 from any of 2 probes: the connection was refused.',
      summaryOf('tcp', each('fra-1 ber-1', { ...tcp('closed'), addresses: ['2001:db8::1', '203.0.113.1'] })),
    ],
    [
      'Port 443 of example.com is not open from any of 2 probes: the connection was refused.',
      summaryOf('tcp', {
        'fra-1': { ...tcp('closed'), addresses: ['2001:db8::1', '203.0.113.1'] },
        'ber-1': { ...tcp('closed'), addresses: ['2001:db8::1', '203.0.113.1'], resolvedIp: '2001:db8::1' },
      }),
    ],
    [
      'Port 443 of example.com is not open from any of 3 probes: the resolver could not answer (SERVFAIL) (2) and the connection was refused (1).',
      summaryOf('tcp', {
        'fra-1': { ...tcp('closed'), addresses: ['2001:db8::1', '203.0.113.1'] },
        ...each('ber-1 par-1', bad('dns_servfail', { resolvedIp: null }, { phase: 'resolve', source: 'resolver' })),
      }),
    ],
    [
      'example.com does not answer pings of 1200 bytes of payload over IPv6 from the one probe asked: nothing came back in time.',
      summaryOf('ping', {
        'fra-1': { ...lost, size: 1200, addresses: ['2001:db8::1', '203.0.113.1'], resolvedIp: '2001:db8::1' },
      }),
    ],
    [
      'example.com (203.0.113.1, one of its 20 or more IPv4 addresses) answers pings from both probes (median round trip 21 ms).',
      summaryOf(
        'ping',
        each('fra-1 ber-1', { ...good, addresses: Array.from({ length: 20 }, (_, index) => `203.0.113.${index + 1}`) }),
      ),
    ],
    [
      'https://example.com/ (203.0.113.1, one of its 2 IPv4 addresses) does not work from any of 2 probes: status 503.',
      summaryOf('http', each('fra-1 ber-1', http(503, { addresses: ['203.0.113.1', '203.0.113.2'] }))),
    ],
    [
      'https://example.com/ (203.0.113.1, one of its 2 IPv4 addresses) answers with status 200 from both probes (median first byte 80 ms, total 85 ms).',
      summaryOf('http', each('fra-1 ber-1', http(200, { addresses: ['203.0.113.1', '203.0.113.2', '2001:db8::1'] }))),
    ],
    [
      'https://example.com/ redirects to https://b.example, which answers with status 200 from both probes (median first byte 135 ms, total 140 ms, redirects included).',
      summaryOf(
        'http',
        each('fra-1 ber-1', http(200, { ...behind('https://b.example/'), addresses: ['203.0.113.1', '203.0.113.2'] })),
      ),
    ],
    [
      'example.com (2 of its 3 IPv4 addresses) answers pings from 1 of 2 probes, and fails from ber-1: nothing came back in time.',
      summaryOf('ping', {
        'fra-1': { ...good, addresses: three },
        'ber-1': { ...lost, resolvedIp: '203.0.113.2', addresses: three },
      }),
    ],
    [
      'example.com answers pings from both probes (median round trip 21 ms).',
      summaryOf('ping', {
        'fra-1': { ...good, addresses: three.slice(0, 2) },
        'ber-1': { ...good, resolvedIp: '203.0.113.2', addresses: three.slice(0, 2) },
      }),
    ],
    [
      'example.com answers pings from both probes that could measure (median round trip 21 ms).',
      summaryOf('ping', { ...each('fra-1 ber-1', good), 'par-1': ofResolver('dns_servfail') }),
    ],
    [
      'example.com does not answer pings from any of 2 probes that could measure: nothing came back in time.',
      summaryOf('ping', { ...each('fra-1 ber-1', lost), 'par-1': broken('probe_offline') }),
    ],
    [
      'No probe could measure example.com: the resolver refused to answer (REFUSED).',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_refused'))),
    ],
    [
      'No probe could measure example.com: the name was not resolved in time.',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('timed_out'))),
    ],
    [
      'The name of example.com does not resolve from any of 2 probes: the resolver could not answer (SERVFAIL).',
      summaryOf('ping', each('fra-1 ber-1', ofResolver('dns_servfail'))),
    ],
    [
      'No probe got an answer for example.com (A): the server referred to com. and did not answer.',
      summaryOf('dns', each('fra-1 ber-1', referred)),
    ],
    [
      'No probe got an answer for example.com (A): the server referred to com. and did not answer.',
      summaryOf('dns', { 'fra-1': oldReferral }),
    ],
    [
      'No probe got an answer for example.com (A): the server referred to the root and did not answer.',
      summaryOf('dns', { 'fra-1': { ...referred, referral: '.' } }),
    ],
    [
      'example.com resolves (A) from the one probe that got an answer; one probe got no answer to the question, which proves neither.',
      summaryOf('dns', { 'fra-1': referred, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    [
      'No probe got an answer for example.com (A): the server sent neither records nor a proof that there are none.',
      summaryOf('dns', { 'fra-1': bare }),
    ],
    [
      'No probe got an answer for example.com (A): the resolver filtered the answer (EDE 17 Filtered).',
      summaryOf('dns', each('fra-1 ber-1', filtered)),
    ],
    [
      'No probe got an answer for example.com (A): the resolver 192.0.2.1 filtered the answer (EDE 15 Blocked).',
      summaryOf('dns', { 'fra-1': { ...blocked, resolver: '192.0.2.1' } }),
    ],
    [
      'example.com resolves (A) from the one probe that got an answer, but a resolver filters the answer; one probe got no answer to the question, which proves neither.',
      summaryOf('dns', { 'fra-1': blocked, 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    [
      'No probe got an answer for example.com (A): the server said NXDOMAIN with nothing that proves it.',
      summaryOf('dns', each('fra-1 ber-1', dns('NXDOMAIN', { flags: ['qr', 'rd'] }))),
    ],
    [
      'No probe got an answer for example.com (A): the address of the resolver could not be found.',
      summaryOf('dns', { 'fra-1': noResolver }),
    ],
    [
      'No probe got an answer for example.com (A): no address of a name server of the zone could be found.',
      summaryOf('dns', { 'fra-1': { ...noResolver, trace: [] } }),
    ],
    ...(
      [
        ['the resolver 192.0.2.1 could not be reached', unreachable],
        ['the resolver 192.0.2.1 did not answer in time', unheard],
        ['the resolver 192.0.2.1 did not answer: the TLS handshake failed', unshaken],
        ['the answer of the resolver 192.0.2.1 was no valid DNS message', noMessage],
        ['the resolver 192.0.2.1 refused to answer (REFUSED)', refusedBy],
        ['the answer over UDP of the resolver 192.0.2.1 was cut off (TC), and TCP failed', cutAndUnheard],
        ['the resolver could not be reached', { ...unreachable, resolver: null }],
      ] as const
    ).map(([why, result]): [string, Summary] => [
      `No probe got an answer for example.com (A): ${why}.`,
      summaryOf('dns', each('fra-1 ber-1', result)),
    ]),
    [
      'example.com does not resolve (A) from the one probe asked: a name server of the zone refused to answer (REFUSED).',
      summaryOf('dns', {
        'fra-1': bad('dns_refused', { ...tracedFields, rcode: 'REFUSED', answerKind: 'error' as const }),
      }),
    ],
    [
      'example.com does not resolve (A) from the one probe asked: a name server of the zone could not be reached.',
      summaryOf('dns', { 'fra-1': bad('dns_resolver_unreachable', tracedFields) }),
    ],
    [
      'example.com resolves (A) from 1 of 2 probes, but some get no records.',
      summaryOf('dns', { 'fra-1': dns([]), 'ber-1': dns(['A 192.0.2.1']) }),
    ],
    [
      'example.com is delegated, by the zone above it, as seen from the one probe asked.',
      summaryOf('dns', { 'fra-1': delegated }),
    ],
    [
      'example.com does not resolve (A) from any of 2 probes: it is an alias of gone.example., which does not exist.',
      summaryOf(
        'dns',
        each('fra-1 ber-1', dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: 'gone.example.' })),
      ),
    ],
    [
      'example.com is an alias of a.example., which has no records of type A, as seen from both probes.',
      summaryOf(
        'dns',
        each('fra-1 ber-1', dns(['CNAME a.example.'], { answerKind: 'nodata', canonicalName: 'a.example.' })),
      ),
    ],
    [
      'example.com is an alias, with no records of type A in the answer, as seen from both probes.',
      summaryOf('dns', each('fra-1 ber-1', dns(['CNAME a.example.']))),
    ],
    [
      'No probe could measure https://example.com/: the clocks of the probes are wrong.',
      summaryOf('http', each('fra-1 ber-1', misdated('tls_expired'))),
    ],
    [
      'https://example.com/ does not work from any of 2 probes: the TLS handshake did not come to its end in time.',
      summaryOf('http', each('fra-1 ber-1', inPhase('tls'))),
    ],
    [
      'https://example.com/ does not work from any of 2 probes: the connection was closed in the TLS handshake (1) and the connection was reset in the TLS handshake (1).',
      summaryOf('http', {
        'fra-1': bad('connection_reset', { url: 'https://example.com/' }, { phase: 'tls' }),
        'ber-1': bad('connection_closed', { url: 'https://example.com/' }, { phase: 'tls' }),
      }),
    ],
    [
      'https://example.com/ does not work from any of 2 probes: the connection was made, and no answer came in time.',
      summaryOf('http', each('fra-1 ber-1', inPhase('request'))),
    ],
    [
      'https://example.com/ does not work from any of 2 probes: nothing came back in time.',
      summaryOf('http', each('fra-1 ber-1', inPhase('connect'))),
    ],
    [
      'No probe could measure https://example.com/: the resolver could not be reached.',
      summaryOf(
        'http',
        each(
          'fra-1 ber-1',
          bad('dns_resolver_unreachable', { resolvedIp: null }, { phase: 'resolve', source: 'resolver' }),
        ),
      ),
    ],
    [
      'example.com does not answer pings from the one probe that has measured: nothing came back in time; 2 probes have not answered yet.',
      summaryOf('ping', { 'fra-1': lost, ...each('ber-1 nyc-1', pending) }),
    ],
    [
      'Port 53 of example.com is not open from the one probe that can tell: the port is unreachable; 2 probes heard nothing back, which proves neither.',
      summaryOf('udp', { 'fra-1': udp('closed'), ...each('ber-1 nyc-1', udp('open|filtered')) }),
    ],
    ['No probe has measured example.com yet.', summaryOf('ping', each('fra-1 ber-1', pending))],
    [
      'No probe could measure example.com: the probes were offline.',
      summaryOf('ping', each('fra-1 ber-1', broken('probe_offline'))),
    ],
    [
      'No probe could measure example.com: the probe was offline.',
      summaryOf('ping', { 'fra-1': broken('probe_offline') }),
    ],
    [
      'No probe could measure https://example.com/: the time of the check ended during the TLS handshake (1) and the time of the check ended while the name was resolved (1).',
      summaryOf('http', {
        'fra-1': bad('probe_timeout', {}, { result: 'timeout', source: 'probe', phase: 'tls' }),
        'ber-1': bad('probe_timeout', {}, { result: 'timeout', source: 'probe', phase: 'resolve' }),
      }),
    ],
    [
      'No probe could measure example.com: the probes did not answer in time (2) and the probe was removed (1).',
      summaryOf('ping', { ...each('fra-1 ber-1', broken('probe_timeout')), 'par-1': broken('probe_removed') }),
    ],
    [
      'No probe could measure example.com: the probes have no connectivity of the address family.',
      summaryOf('ping', each('fra-1 ber-1', broken('family_unavailable'))),
    ],
    [
      'No probe could measure example.com: the probes lack what the check needs.',
      summaryOf('ping', each('fra-1 ber-1', broken('capability_missing'))),
    ],
  ])('%s', (headline, summary) => {
    expect(summary.headline).toBe(headline);
  });
});

describe('different answers of dns', () => {
  it('are counted as sets of records, since a name that does not exist for others is another finding', () => {
    const { findings } = summaryOf('dns', {
      'fra-1': dns(['A 192.0.2.1']),
      'ber-1': dns(['A 192.0.2.2']),
      'par-1': dns('NXDOMAIN'),
    });

    const [text] = findings.flatMap((one) => (one.code === 'dns_answers_differ' ? [one.text] : []));
    expect(text).toMatch(/^There are 2 different sets of records: /);
  });

  it('are shown from where they differ, if that is far from their start', () => {
    const same = `TXT ${'x'.repeat(200)}`;
    const sets = { 'fra-1 ber-1': [same, 'TXT y old'], 'par-1': [same, 'TXT y new'], 'lon-1': [same] };
    const results = Object.entries(sets).map(([probes, data]) => each(probes, dns(data, { recordType: 'TXT' })));

    const { findings } = summaryOf('dns', Object.assign({}, ...results) as Record<string, ReturnType<typeof dns>>);

    const [text] = findings.flatMap((one) => (one.code === 'dns_answers_differ' ? [one.text] : []));
    expect(text).toContain(
      `: …${'x'.repeat(15)} | y old (2 probes), …${'x'.repeat(15)} | y new (par-1) and …${'x'.repeat(20)} (lon-1).`,
    );
  });
});

describe('probes that do not count', () => {
  it.each([
    ['target_refused_by_policy', 'target_refused'],
    ['capability_missing', 'probes_incapable'],
    ['family_unavailable', 'probes_incapable'],
    ['probe_offline', 'probes_offline'],
    ['probe_busy', 'probes_unanswered'],
    ['probe_interrupted', 'probes_unanswered'],
    ['probe_suspended', 'probes_unanswered'],
    ['probe_removed', 'probes_unanswered'],
    ['probe_timeout', 'probes_unanswered'],
    ['invalid_job', 'probes_faulty'],
    ['internal_error', 'probes_faulty'],
  ] as const)('are named: %s is %s', (code, finding) => {
    const withOther = summaryOf('ping', { 'fra-1': good, 'ber-1': broken(code) });
    const alone = summaryOf('ping', { 'ber-1': broken(code) });

    expect(lines(withOther)).toEqual([`${finding} info: ber-1`]);
    expect(lines(alone)).toEqual([`${finding} warning: ber-1`]);
    expect([withOther.verdict, alone.verdict]).toEqual(['up', 'unknown']);
  });

  it('name the source port that was in use', () => {
    const inUse = { ...broken('probe_busy'), sourcePort: 31_000 };
    const summary = summaryOf('traceroute', { 'ber-1': inUse });

    expect(textOf(summary, 'probes_unanswered')).toBe(
      'Not measured: the source port 31000 was in use at the probe (ber-1).',
    );
  });

  it('say which rule refuses the target', () => {
    const summary = summaryOf('ping', { 'fra-1': good, 'ber-1': broken('target_refused_by_policy') });

    expect(textOf(summary, 'target_refused')).toContain('Says the agent: target_refused_by_policy');
  });

  it.each([
    ['the resolver of a dns check', {}, 'the resolver'],
    ['a name server of a trace', { trace: [] }, 'a name server of the zone'],
  ])('do not say that the target is refused for %s', (_case, fields, refused) => {
    const { error, ...common } = broken('target_refused_by_policy');
    const refusal = { ...error!, phase: 'resolve', message: 'The resolver is refused: it is private.' } as const;
    const result = { ...common, recordType: 'A', queryName: 'a.example.', ...fields, error: refusal };
    const one = summaryOf('dns', { 'ber-1': result });
    const both = summaryOf('dns', { 'ber-1': result, 'fra-1': result });

    expect(one.headline).toContain(`: the policy of the probe refuses ${refused}.`);
    expect(both.headline).toContain(`: the policies of the probes refuse ${refused}.`);
    expect(textOf(one, 'target_refused')).toBe(`The policy of ber-1 refuses ${refused}: it is private.`);
  });
});

describe('a screenshot', () => {
  const reason = { code: 'screenshot_failed', phase: 'exec', source: 'probe', message: 'No browser.' } as const;

  it('that was given up is a finding that says why, and changes no verdict', () => {
    const screenshot = { state: 'given_up', probe: 'fra-1', reason } as const;

    const summary = summaryOf('http', { 'fra-1': http(200) }, { screenshot });

    expect(lines(summary)).toEqual(['screenshot_missing info: fra-1']);
    expect(textOf(summary, 'screenshot_missing')).toContain(': no browser.');
    expect(summary.verdict).toBe('up');
  });

  it('of no probe and without a reason is named as well', () => {
    const summary = summaryOf(
      'http',
      { 'fra-1': http(200) },
      { screenshot: { state: 'given_up', probe: null, reason: null } },
    );

    expect(lines(summary)).toEqual(['screenshot_missing info: ']);
  });

  it.each(['not_asked', 'pending', 'taken'] as const)('that is %s is none', (state) => {
    const summary = summaryOf('http', { 'fra-1': http(200) }, { screenshot: { state, probe: null, reason: null } });

    expect(summary.findings).toEqual([]);
  });
});

describe('what comes from outside', () => {
  it('is shown escaped and bounded', () => {
    const hostile = `<b>\u202Ex\u0000${'y'.repeat(5_000)}`;
    const results = {
      'fra-1': http(200, { sslIssuer: hostile, tls: tls('1', {}, hostile), url: hostile }),
      'ber-1': http(301, { location: `https://other.example/${hostile}`, tls: tls('2', {}, 'O=b') }),
      'par-1': bad('target_refused_by_policy', {}, { result: 'error', source: 'probe' }),
    };

    const summary = summaryOf('http', results, { host: hostile });

    const texts = [
      summary.headline,
      ...summary.findings.map(({ text }) => text),
      ...summary.groups.flatMap(({ values }) => values),
    ];
    expect(summary.findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['certificate_differs', 'target_refused']),
    );
    for (const text of texts) {
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(Array.from(text).length).toBeLessThanOrEqual(1_024);
    }
  });

  it('may be named like what every object has', () => {
    const results = { constructor: lost, tostring: good, 'has-own-property': broken('probe_offline') };

    const summary = summaryOf('ping', results);

    expect(summary.counts).toEqual({ up: 1, down: 1, silent: 0, notMeasured: 1, pending: 0 });
    expect(lines(summary)).toEqual(['down_one_probe warning: constructor', 'probes_offline info: has-own-property']);
  });
});

describe('what the resolver of one probe alone says', () => {
  const nxdomain = bad('dns_nxdomain', { resolvedIp: null }, { phase: 'resolve' });
  const servfail = bad('dns_servfail', { resolvedIp: null }, { source: 'resolver', phase: 'resolve' });
  const silent = bad('timed_out', { resolvedIp: null }, { source: 'resolver', phase: 'resolve', result: 'timeout' });

  it.each([nxdomain, servfail])('proves too little if no other resolver answers', (one) => {
    const summary = summaryOf('ping', { 'fra-1': one, ...each('nyc-1 lon-1 syd-1', silent) });

    expect(summary.verdict).toBe('unknown');
    expect(summary.headline).toMatch(/^Only the resolver of fra-1 says something about example\.com: .*; 3 others say/);
    expect(lines(summary)).toEqual(['name_not_resolved warning: fra-1 lon-1 nyc-1 syd-1']);
  });

  it.each<[string, Summary['verdict'], Summary]>([
    ['of the only probe', 'down', summaryOf('http', { 'fra-1': nxdomain })],
    ['next to one silent one', 'down', summaryOf('tcp', { 'fra-1': nxdomain, 'nyc-1': silent })],
    ['of two', 'down', summaryOf('ping', { ...each('fra-1 ber-1', nxdomain), ...each('nyc-1 lon-1', silent) })],
    [
      'about a name that another resolved',
      'partial',
      summaryOf('ping', { 'fra-1': nxdomain, 'ber-1': ping([5]), ...each('nyc-1 lon-1', silent) }),
    ],
    [
      'after a redirect',
      'down',
      summaryOf('http', {
        'fra-1': { ...nxdomain, url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] },
        ...each('nyc-1 lon-1', silent),
      }),
    ],
  ])('is evidence %s', (_what, verdict, summary) => {
    expect(summary.verdict).toBe(verdict);
  });
});

describe('a headline about', () => {
  const aaaa = { recordType: 'AAAA' };
  const none = dns([], {
    ...aaaa,
    authority: [{ name: 'example.com.', type: 'SOA', ttl: 60, data: 'ns. host. 1 2 3 4 5' }],
  });
  const made = dns(['AAAA 64:ff9b:1::c000:201'], aaaa);
  const unmatched = {
    ...tcp('open'),
    ...bad('connection_closed', { dialogue: { steps: 0, unmatched: true } }, { phase: 'response' }),
  };

  it.each<[string, string, Summary]>([
    [
      'addresses of DNS64',
      'example.com exists, without records of type AAAA, as seen from 2 of 3 probes.',
      summaryOf('dns', { 'fra-1': made, ...each('nyc-1 lon-1', none) }),
    ],
    ['none but those', 'example.com resolves (AAAA) from the one probe asked.', summaryOf('dns', { 'fra-1': made })],
    [
      'a dialogue next to a probe that is offline',
      'Port 443 of example.com answers as expected from 1 of 2 probes that could measure, and fails from fra-1: the connection was closed before a line matched the expression of the module.',
      summaryOf('tcp', { 'fra-1': unmatched, 'nyc-1': tcp('open'), 'lon-1': broken('probe_offline') }),
    ],
    [
      'a dialogue next to a filtered port',
      'Port 443 of example.com does not answer as expected from any of 2 probes: nothing came back in time (1) and the connection was closed before a line matched the expression of the module (1).',
      summaryOf('tcp', { 'fra-1': unmatched, 'nyc-1': tcp('filtered') }),
    ],
    [
      'a page that the browser could not show',
      'https://example.com/ answers with status 200 from both probes, but the browser could not show the page for fra-1.',
      summaryOf('http', {
        'fra-1': { ...http(200), ...bad('screenshot_failed', {}, { phase: 'response' }) },
        'nyc-1': http(200),
      }),
    ],
    [
      'an address that is dead for one of three',
      'https://example.com/ answers with status 200 from all 3 probes (median first byte 80 ms, total 85 ms).',
      summaryOf('http', {
        'fra-1': http(200, { deadAddresses: [{ address: '203.0.113.9', error: 'timed_out', time: 2_000 }] }),
        ...each('nyc-1 lon-1', http(200)),
      }),
    ],
  ])('%s', (_what, headline, summary) => {
    expect(summary.headline).toBe(headline);
  });
});
