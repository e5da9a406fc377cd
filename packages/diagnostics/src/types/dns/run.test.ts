import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES, resultSchema, type Failure, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import { testContext } from '@vantage/test-support/context';
import { closedPort } from '../../../test/closed-port.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import { startDnsServer, type AnswerDns, type DnsServer } from '@vantage/test-support/dns/server';
import {
  addressRecord,
  FLAGS,
  optRecord,
  respond,
  u16,
  wireName,
  wireText,
  type WireRecord,
  type WireResponse,
} from '@vantage/test-support/dns/wire';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { dns } from './contract.ts';
import { runDns as run } from './run.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);

const runDns: typeof run = (request, context, start) => run(request, context, start, patientWaits);

type DnsOptions = ParamsOf<typeof dns>['options'];

const servers: Pick<DnsServer, 'close'>[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => server.close()));
});

describe('a dns check', () => {
  it('asks the resolver of the probe and shows every section of the answer', async () => {
    const server = await listen((query) => [
      respond(query, {
        // Sets AD if the query has AD or DO, like a validating resolver.
        flags: FLAGS.rd | FLAGS.ra | ((query.flags & FLAGS.ad) !== 0 || query.rest[7] === 0x80 ? FLAGS.ad : 0),
        answers: [
          { name: 'www.example.com', type: 5, ttl: 60, data: Uint8Array.from(wireName('web.example.com')) },
          addressRecord('web.example.com', '192.0.2.7'),
        ],
        authority: [{ name: 'example.com', type: 2, data: Uint8Array.from(wireName('ns.example.com')) }],
        additional: [addressRecord('ns.example.com', '192.0.2.53'), optRecord()],
      }),
    ]);

    const outcome = await runDns(params(), testContext({ resolvers: [`127.0.0.1:${server.port}`] }));

    expect(outcome).toMatchObject({
      result: 'success',
      resolvedIp: '192.0.2.7',
      error: null,
      recordType: 'A',
      queryName: 'www.example.com.',
      rcode: 'NOERROR',
      flags: ['qr', 'rd', 'ra', 'ad'],
      answers: [
        { name: 'www.example.com.', type: 'CNAME', ttl: 60, data: 'web.example.com.' },
        { name: 'web.example.com.', type: 'A', ttl: 300, data: '192.0.2.7' },
      ],
      authority: [{ name: 'example.com.', type: 'NS', ttl: 300, data: 'ns.example.com.' }],
      additional: [{ name: 'ns.example.com.', type: 'A', ttl: 300, data: '192.0.2.53' }],
      truncated: false,
      resolver: `127.0.0.1:${server.port}`,
      transport: 'udp',
      timings: { connect: null, tls: null },
      edns: { version: 0, udpSize: 1232, nsid: null, extendedErrors: [] },
      dnssec: { ad: true, verdict: 'validated' },
    });
    expect(outcome.rt).toBeGreaterThan(0);
    expect(outcome.size).toBeGreaterThan(100);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('asks for the reverse name of an address', async () => {
    const server = await listen((query) => [
      respond(query, { answers: [{ name: query.name, type: 12, data: Uint8Array.from(wireName('host.example')) }] }),
    ]);

    const request = { ...params(), host: '192.0.2.1', recordType: 'ptr' };
    const outcome = await runDns(request, testContext({ resolvers: [`127.0.0.1:${server.port}`] }));

    expect(outcome).toMatchObject({ result: 'success', recordType: 'PTR', queryName: '1.2.0.192.in-addr.arpa.' });
    expect(outcome.answers?.[0]?.data).toBe('host.example.');
    expect(server.queries[0]?.query).toMatchObject({ name: '1.2.0.192.in-addr.arpa.', type: 12 });
  });

  it('can ask for the root', async () => {
    const server = await listen((query) => [respond(query)]);

    const outcome = await runDns({ ...params(), host: '.', recordType: 'NS' }, ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', queryName: '.', rcode: 'NOERROR' });
  });

  it('sends the bits and options that were asked for', async () => {
    const nsid = [0, 3, 0, 5, 0x6e, 0x73, 0x31, 0x07, 0xff];
    const server = await listen((query) => [respond(query, { additional: [optRecord(nsid)] })]);

    const options = { dnssecOk: true, checkingDisabled: true, recursionDesired: false, nsid: true };
    const outcome = await runDns(params(options), ownResolver(server));

    const query = server.queries[0]?.query;
    expect(query?.flags).toBe(FLAGS.cd | FLAGS.ad);
    expect([...(query?.rest ?? [])]).toEqual([0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 4, 0, 3, 0, 0]);
    expect(outcome.edns?.nsid).toEqual({ hex: '6e733107ff', text: 'ns1\\u{7}ÿ' });
    expect(outcome.dnssec).toEqual({ ad: false, verdict: 'unknown' });
  });

  it('counts a name without records of the type as a success without answers', async () => {
    const server = await listen((query) => [respond(query)]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', error: null, answers: [], resolvedIp: null });
    expect(outcome.dnssec).toEqual({ ad: false, verdict: 'not_validated' });
  });

  it.each<[string, number, Failure['code']]>([
    ['FORMERR', 1, 'dns_format_error'],
    ['SERVFAIL', 2, 'dns_servfail'],
    ['NXDOMAIN', 3, 'dns_nxdomain'],
    ['NOTIMP', 4, 'dns_not_implemented'],
    ['REFUSED', 5, 'dns_refused'],
    ['NOTAUTH', 9, 'dns_error'],
    ['RCODE12', 12, 'dns_error'],
  ])('is a failure of the resolver’s when it answers %s', async (name, rcode, code) => {
    const server = await listen((query) => [respond(query, { rcode: aboutOther(query) ? 3 : rcode })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'failure', rcode: name, error: { code, source: 'resolver' } });
    expect(outcome.rt).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('says of a resolver whose answer is cut off that it answered, and that TCP fails', async () => {
    const cutOff: AnswerDns = (query) => [respond(query, { flags: FLAGS.rd | FLAGS.ra | FLAGS.tc })];
    const server = await listen(cutOff, '127.0.0.1', true);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({
      result: 'failure',
      rcode: 'NOERROR',
      answerKind: 'truncated',
      error: {
        code: 'dns_resolver_unreachable',
        message: expect.stringMatching(/^The answer over UDP was cut off \(TC\), and TCP failed\. The resolver /),
      },
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('takes an extended rcode from EDNS', async () => {
    const server = await listen((query) => [respond(query, { rcode: 7, additional: [optRecord([], 0x01_00_00_00)] })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'failure', rcode: 'BADCOOKIE' });
  });

  it('finds that validation fails where SERVFAIL becomes an answer with CD', async () => {
    const bogus = optRecord([0, 15, ...u16(9), 0, 6, ...Buffer.from('no good')]);
    const server = await listen((query) => {
      if ((query.flags & FLAGS.cd) === 0) return [respond(query, { rcode: 2, additional: [bogus] })];
      return [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] })];
    });

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({
      result: 'failure',
      rcode: 'SERVFAIL',
      answers: [],
      dnssec: { ad: false, verdict: 'validation_failed' },
      edns: { extendedErrors: [{ code: 6, name: 'DNSSEC Bogus', text: 'no good' }] },
      error: { code: 'dns_servfail', message: expect.stringContaining('DNSSEC') },
    });
  });

  it.each([
    ['a current one', [[3], []], [], 2],
    ['another expired one, twice', [[3], [3]], [3], 3],
    ['a failure', [[3], 2], [3], 2],
  ] as const)('asks again at an expired answer, and gets %s', async (_what, given, expected, queries) => {
    let asked = 0;
    const server = await listen((query) => {
      const next = given[Math.min(asked++, 1)]!;
      if (next === 2) return [respond(query, { rcode: 2 })];
      const additional = [optRecord(next.flatMap((code) => [0, 15, 0, 2, ...u16(code)]))];
      return [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')], additional })];
    });

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '192.0.2.1' });
    expect(outcome.edns?.extendedErrors.map(({ code }) => code)).toEqual(expected);
    expect(asked).toBe(queries);
  });

  it('says nothing of validation where SERVFAIL stays', async () => {
    const server = await listen((query) => [respond(query, { rcode: 2 })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({
      dnssec: { ad: false, verdict: 'unknown' },
      error: { code: 'dns_resolver_failing' },
    });
    expect(flagsAboutName(server)).toEqual([0, FLAGS.cd]);
  });

  it('asks again without EDNS a server that does not know it', async () => {
    const server = await listen((query) => {
      if (query.rest.length > 0) return [respond(query, { question: null, rcode: 1 })];
      return [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] })];
    });

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '192.0.2.1', edns: null });
  });

  it('shows 50 records and 16 KiB at most, and says that there was more', async () => {
    const many = Array.from({ length: 60 }, (_, at) => addressRecord('www.example.com', `192.0.2.${at}`));
    const long = Array.from({ length: 5 }, () => ({
      name: 'long.example.com',
      type: 16,
      data: Uint8Array.from(
        Array(16)
          .fill(wireText('x'.repeat(255)))
          .flat() as number[],
      ),
    }));
    const server = await listen((query) => [respond(query, { answers: query.name.startsWith('long') ? long : many })]);

    const [first, second] = [
      await runDns(params({ transport: 'tcp' }), ownResolver(server)),
      await runDns({ ...params({ transport: 'tcp' }), host: 'long.example.com' }, ownResolver(server)),
    ];

    expect(first).toMatchObject({ result: 'success', truncated: true });
    expect(first.answers).toHaveLength(50);
    expect(second.truncated).toBe(true);
    const lengths = second.answers?.map(({ data }) => data.length) ?? [];
    expect(Math.max(...lengths)).toBe(4096);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(16 * 1024);
    expect(problemsOf(second)).toEqual([]);
  });

  it('fits into a result, whatever the records are', async () => {
    const name = ['"', '"', '"'].map((character) => character.repeat(62)).join('.');
    const data = Uint8Array.from([...wireText('"\\'.repeat(100)), ...wireText('\u0000'.repeat(200))]);
    const records = Array.from({ length: 20 }, () => ({ name, type: 16, data }));
    const errors = Array.from({ length: 30 }, () => [0, 15, ...u16(202), 0, 6, ...Array<number>(200).fill(0)]).flat();
    const server = await listen((query) => [
      respond(query, { answers: records, authority: records, additional: [...records, optRecord(errors)] }),
    ]);

    const request = { ...params({ transport: 'tcp' }), host: name, recordType: 'TXT' };
    const outcome = await runDns(request, ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', truncated: true });
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(MAX_RESULT_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('escapes what a zone holds', async () => {
    const data = Uint8Array.from(wireText('\u001b[31m\u202e<b>'.replace('\u202e', '\u00e2\u0080\u00ae')));
    const server = await listen((query) => [respond(query, { answers: [{ name: query.name, type: 16, data }] })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome.answers?.[0]?.data).toBe('"\\027[31m\\226\\128\\174<b>"');
  });
});

describe('an answer that says nothing about the name', () => {
  const com: WireRecord = { name: 'com', type: 2, data: Uint8Array.from(wireName('a.gtld-servers.net')) };
  const foreign = addressRecord('evil.example.net', '192.0.2.66');

  it.each<[string, WireResponse, object]>([
    [
      'a referral',
      { flags: FLAGS.rd, authority: [com] },
      {
        answerKind: 'referral',
        referral: 'com.',
        error: noAnswer('The server referred to com. and did not answer.'),
      },
    ],
    ['the bare question', { flags: FLAGS.rd }, { answerKind: 'lame', error: noAnswer('NOERROR') }],
    ['TC over TCP too', { flags: FLAGS.rd | FLAGS.ra | FLAGS.tc }, { answerKind: 'truncated', error: noAnswer('TC') }],
    [
      'an alias in a circle',
      { answers: [{ name: 'www.example.com', type: 5, data: Uint8Array.from(wireName('www.example.com')) }] },
      { answerKind: 'loop', error: noAnswer('www.example.com.') },
    ],
    [
      'records of another name',
      { answers: [foreign] },
      { answerKind: 'foreign', error: { code: 'dns_bad_response', source: 'resolver' } },
    ],
  ])('is a failure that shows it: %s', async (_reason, response, expected) => {
    const server = await listen((query) => [respond(query, response)]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'failure', rcode: 'NOERROR', resolvedIp: null, ...expected });
    expect(outcome.dnssec).toEqual({ ad: false, verdict: 'unknown' });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is none where name servers were asked for and the referral names them', async () => {
    const own = { ...com, name: 'example.com' };
    const server = await listen((query) => [respond(query, { flags: FLAGS.rd, authority: [own] })]);

    const outcome = await runDns({ ...params(), host: 'example.com', recordType: 'NS' }, ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', answerKind: 'referral', referral: 'example.com.', error: null });
  });
});

describe('an answer', () => {
  const alias: WireRecord = { name: 'www.example.com', type: 5, data: Uint8Array.from(wireName('gone.example.net')) };

  it('that the end of an alias does not exist says so of that name', async () => {
    const server = await listen((query) => [respond(query, { rcode: 3, answers: [alias] })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({
      result: 'failure',
      answerKind: 'nxdomain',
      canonicalName: 'gone.example.net.',
      error: {
        code: 'dns_nxdomain',
        message: 'The name is an alias of gone.example.net., which does not exist (NXDOMAIN).',
      },
    });
  });

  it('gives the address of the name, not the one that comes first', async () => {
    const answers = [addressRecord('evil.example.net', '192.0.2.66'), addressRecord('www.example.com', '192.0.2.1')];
    const server = await listen((query) => [respond(query, { answers })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'success', answerKind: 'answer', resolvedIp: '192.0.2.1' });
    expect(outcome.answers).toHaveLength(2);
  });

  it('of a server that does not resolve (no RA) is no verdict on validation', async () => {
    const answers = [addressRecord('www.example.com', '192.0.2.1')];
    const server = await listen((query) => [respond(query, { flags: FLAGS.aa | FLAGS.rd, answers })]);

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome.dnssec).toEqual({ ad: false, verdict: 'unknown' });
  });

  it.each(['udp', 'tcp'] as const)('with octets after its end is one, and says so: over %s', async (transport) => {
    const answers = [addressRecord('www.example.com', '192.0.2.1')];
    const server = await listen((query) => [Buffer.concat([respond(query, { answers }), Buffer.alloc(8)])]);

    const outcome = await runDns(params({ transport }), ownResolver(server));

    expect(outcome).toMatchObject({
      result: 'success',
      resolvedIp: '192.0.2.1',
      formatError: '8 octets after the last record',
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each(['udp', 'tcp'] as const)('with one malformed record keeps all the rest: over %s', async (transport) => {
    const short: WireRecord = { name: 'www.example.com', type: 1, data: Uint8Array.of(192, 0, 2) };
    const good = addressRecord('www.example.com', '192.0.2.1');
    const nameServer = { name: 'example.com', type: 2, data: Uint8Array.from(wireName('ns.example.com')) };
    const server = await listen((query) => [respond(query, { answers: [short, good], authority: [nameServer] })]);

    const outcome = await runDns(params({ transport }), ownResolver(server));

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: 'dns_bad_response', source: 'resolver' },
      rcode: 'NOERROR',
      answerKind: 'malformed',
      formatError: 'a field runs past its bound',
      flags: ['qr', 'rd', 'ra'],
      resolvedIp: null,
      answers: [
        { name: 'www.example.com.', type: 'A', data: '\\# 3 C00002' },
        { name: 'www.example.com.', type: 'A', data: '192.0.2.1' },
      ],
      authority: [{ type: 'NS', data: 'ns.example.com.' }],
    });
    expect(outcome.size).toBeGreaterThan(60);
    expect(outcome.rt).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('that was SERVFAIL once, and no more when it is asked for again, does not fail validation', async () => {
    const server = await listen((query) => {
      if (server.queries.length === 1) return [respond(query, { rcode: 2 })];
      return [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] })];
    });

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'failure', rcode: 'SERVFAIL', dnssec: { ad: false, verdict: 'unknown' } });
    expect(flagsAboutName(server).slice(0, 3)).toEqual([0, FLAGS.cd, 0]);
  });

  it.each([
    ['No Reachable Authority', [22], 'unknown'],
    ['Network Error', [23, 0], 'unknown'],
    ['No Reachable Authority for the keys', [22, 9], 'validation_failed'],
    ['DNSSEC Bogus', [6], 'validation_failed'],
    ['Other', [0], 'validation_failed'],
    ['nothing', [], 'validation_failed'],
  ] as const)('that is SERVFAIL, and answers under CD, by %s: %j is %s', async (_reason, codes, verdict) => {
    const errors = codes.flatMap((code) => [0, 15, 0, 2, 0, code]);
    const server = await listen((query) => {
      if ((query.flags & FLAGS.cd) === 0) return [respond(query, { rcode: 2, additional: [optRecord(errors)] })];
      return [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] })];
    });

    const outcome = await runDns(params(), ownResolver(server));

    expect(outcome).toMatchObject({ result: 'failure', rcode: 'SERVFAIL', dnssec: { ad: false, verdict } });
    expect(outcome.error?.message.includes('DNSSEC')).toBe(verdict === 'validation_failed');
  });
});

describe('the resolver', () => {
  it('whose own name is not found is not the name that was asked for', async () => {
    const outcome = await runDns(params({ resolver: 'nowhere.example' }), testContext());

    expect(outcome).toMatchObject({
      result: 'failure',
      resolvedIp: null,
      error: { code: 'dns_resolver_unreachable', phase: 'resolve', source: 'resolver' },
    });
    expect(outcome.error?.message).toBe(
      'The address of the resolver could not be found: The test knows no nowhere.example.',
    );
    expect(outcome.rcode).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of a family that the probe lacks is the one that has no other', async () => {
    const message = 'The target has IPv4 addresses only, and this probe has no IPv4 address with a default route.';
    const failure = { code: 'family_unavailable', phase: 'resolve', source: 'probe', message } as const;
    const admit = async () => ({ admitted: false, failure, addresses: [], resolveMs: 0 }) as const;

    const outcome = await runDns(params({ resolver: '192.0.2.53' }), testContext({ admit }));

    expect(outcome).toMatchObject({
      result: 'error',
      error: {
        message: 'The resolver has IPv4 addresses only, and this probe has no IPv4 address with a default route.',
      },
    });
  });

  it('of the caller passes the policy first', async () => {
    const server = await listen((query) => [respond(query)]);
    const context = testContext({ hosts: { 'resolver.example': ['127.0.0.1'] }, resolvers: ['192.0.2.1'] });

    const outcome = await runDns(params({ resolver: `resolver.example:${server.port}` }), context);

    expect(context.admissions).toMatchObject([{ host: 'resolver.example', port: server.port, purpose: 'dns' }]);
    expect(outcome).toMatchObject({ result: 'success', resolver: `127.0.0.1:${server.port}` });
  });

  it.each<[string, DnsOptions['transport'], number]>([
    ['udp', 'udp', 53],
    ['tls', 'tls', 853],
    ['https', 'https', 443],
  ])('of the caller is admitted for the usual port of %s', async (_reason, transport, port) => {
    const context = testContext({ refused: ['resolver.example'] });

    const outcome = await runDns(params({ resolver: 'resolver.example', transport }), context);

    expect(context.admissions).toMatchObject([{ host: 'resolver.example', port, purpose: 'dns' }]);
    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' }, resolvedIp: null });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of the probe needs no admission, and the next one is asked where one cannot be reached', async () => {
    const server = await listen((query) => [respond(query)]);
    const closed = await closedPort();
    servers.push(closed);
    const context = testContext({ resolvers: [`127.0.0.1:${closed.port}`, `127.0.0.1:${server.port}`] });

    const outcome = await runDns(params(), context);

    expect(context.admissions).toEqual([]);
    expect(outcome).toMatchObject({ result: 'success', resolver: `127.0.0.1:${server.port}` });
  });

  it.each<[string, WireResponse]>([
    ['refuses', { rcode: 5 }],
    ['fails', { rcode: 2 }],
    ['does not support the question', { rcode: 4 }],
    ['sends neither records nor a proof', { flags: FLAGS.rd }],
  ])('of the probe is followed by the next one where it %s, as in a stub resolver', async (_what, response) => {
    const first = await listen((query) => [respond(query, response)]);
    const server = await listen((query) => [respond(query, { answers: [addressRecord(query.name, '192.0.2.7')] })]);
    const context = testContext({ resolvers: [first, server].map(({ port }) => `127.0.0.1:${port}`) });

    const outcome = await runDns(params(), context);

    expect(outcome).toMatchObject({ result: 'success', error: null, resolver: `127.0.0.1:${server.port}` });
  });

  it.each(['udp', 'tcp'] as const)(
    'of the probe that is silent over TCP is followed by the next one: %s',
    async (transport) => {
      const silent = await listen((query, via) =>
        via === 'udp' ? [respond(query, { flags: FLAGS.ra | FLAGS.tc })] : [],
      );
      const server = await listen((query) => [respond(query, { answers: [addressRecord(query.name, '192.0.2.7')] })]);
      const context = testContext({ resolvers: [silent, server].map(({ port }) => `127.0.0.1:${port}`) });

      const outcome = await run(params({ transport }), context, undefined, { ...patientWaits, eachStreamMs: 100 });

      expect(outcome).toMatchObject({ result: 'success', resolver: `127.0.0.1:${server.port}` });
    },
  );

  it('of the probe that fails is reported before one that refuses', async () => {
    const failing = await listen((query) => [respond(query, { rcode: 2 })]);
    const refusing = await listen((query) => [respond(query, { rcode: 5 })]);
    const context = testContext({ resolvers: [failing, refusing].map(({ port }) => `127.0.0.1:${port}`) });

    const outcome = await runDns(params(), context);

    expect(outcome).toMatchObject({ error: { code: 'dns_resolver_failing' }, resolver: `127.0.0.1:${failing.port}` });
  });

  it.each<[string, Partial<DnsOptions>, WireResponse]>([
    ['the name does not exist', {}, { rcode: 3 }],
    ['no recursion is desired', { recursionDesired: false }, { rcode: 5 }],
  ])('of the probe is the only one asked where %s', async (_what, options, response) => {
    const first = await listen((query) => [respond(query, response)]);
    const other = await listen((query) => [respond(query)]);
    const context = testContext({ resolvers: [first, other].map(({ port }) => `127.0.0.1:${port}`) });

    const outcome = await runDns(params(options), context);

    expect([outcome.resolver, other.queries]).toEqual([`127.0.0.1:${first.port}`, []]);
  });

  it.each<[string, Failure['code'], Partial<WireResponse> | null]>([
    ['answers about others', 'dns_servers_silent', { rcode: 3 }],
    ['is silent about others too', 'timed_out', null],
    ['fails for others', 'timed_out', { rcode: 2 }],
    ['does not resolve, and answers about others', 'timed_out', { rcode: 3, flags: FLAGS.aa }],
  ])('that is silent about the name and %s is reported as %s', async (_what, code, response) => {
    const about = (name: string): boolean => name === 'www.example.com.';
    const server = await listen((query) => (about(query.name) || response === null ? [] : [respond(query, response)]));

    const outcome = await run(params(), ownResolver(server), undefined, { ...patientWaits, ...impatience });

    expect(outcome).toMatchObject({ result: 'timeout', error: { code, phase: 'response' } });
    expect(problemsOf(outcome)).toEqual([]);
    const others = server.queries.map(({ query }) => query.name).filter((name) => !about(name));
    expect([...new Set(others)]).toEqual([expect.stringMatching(/^[a-z0-9]{16}\.com\.$/)]);
  });

  it('that sends another id in place of the answer about the name does not make the name servers silent', async () => {
    const server = await listen((query) =>
      aboutOther(query) ? [respond(query, { rcode: 3 })] : [respond({ ...query, id: query.id ^ 1 })],
    );

    const outcome = await run(params(), ownResolver(server), undefined, { ...patientWaits, ...impatience });

    const message = expect.stringMatching(
      /^The resolver did not answer in time. \d+ datagrams? came that did not answer /,
    );
    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out', message } });
  });

  it('that answers when packets are no longer lost, after answers about others, answers about the name', async () => {
    let lost = 3;
    const server = await listen((query) =>
      aboutOther(query) ? [respond(query, { rcode: 3 })] : (lost -= 1) < 0 ? [respond(query)] : [],
    );

    const outcome = await run(params(), ownResolver(server), undefined, { ...patientWaits, ...impatience });

    expect(outcome).toMatchObject({ result: 'success', error: null });
  });

  it('of the probe is not shown where its address is private', async () => {
    const server = await listen((query) => [respond(query)]);
    const resolvers = [`127.0.0.1:${server.port}`];
    const context = testContext({ resolvers, isPrivateAddress: () => true, showPrivateAddresses: false });

    const outcome = await runDns(params(), context);

    expect(outcome).toMatchObject({ result: 'success', resolver: null });
    expect(problemsOf(outcome)).toEqual([]);
  });

  itWithIpv6('is asked over IPv6', async () => {
    const server = await listen((query) => [respond(query)], '::1');

    const outcome = await runDns(params(), testContext({ resolvers: [`[::1]:${server.port}`] }));

    expect(outcome).toMatchObject({ result: 'success', resolver: `[::1]:${server.port}` });
  });

  it.each(['udp', 'tcp'] as const)('that is not there is unreachable over %s', async (transport) => {
    const closed = await closedPort();
    servers.push(closed);

    const outcome = await runDns(params({ transport }), testContext({ resolvers: [`127.0.0.1:${closed.port}`] }));

    expect(outcome).toMatchObject({
      result: 'failure',
      rt: null,
      resolver: `127.0.0.1:${closed.port}`,
      error: { code: 'dns_resolver_unreachable', source: 'resolver' },
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('may be missing, which is a fault of the probe', async () => {
    const outcome = await runDns(params(), testContext());

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'dns_resolver_unreachable', source: 'probe' } });
  });
});

describe('a job that no coordinator would send', () => {
  it.each([
    ['ANY', { recordType: 'ANY' }],
    ['a record type that is none', { recordType: 'constructor' }],
    ['a name that is none', { host: `${'a'.repeat(64)}.example` }],
  ])('is not run: %s', async (_reason, change) => {
    const server = await listen((query) => [respond(query)]);

    const outcome = await runDns({ ...params(), ...change }, ownResolver(server));

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'invalid_job' } });
    expect(server.queries).toEqual([]);
  });
});

/** Short waits, for tests with a server that does not answer. */
const impatience = { oneMs: [50], uncheckedMs: 2_000 };

function noAnswer(words: string): object {
  return { code: 'dns_no_answer', source: 'resolver', message: expect.stringContaining(words) };
}

function params(options: Partial<DnsOptions> = {}): ParamsOf<typeof dns> {
  const defaults: DnsOptions = {
    transport: 'udp',
    dnssecOk: false,
    checkingDisabled: false,
    recursionDesired: true,
    nsid: false,
    trace: false,
  };
  return { host: 'www.example.com', recordType: 'A', options: { ...defaults, ...options } };
}

function ownResolver(server: DnsServer) {
  return testContext<typeof dns>({ resolvers: [`127.0.0.1:${server.port}`] });
}

/** True for the made-up name by which a check examines a resolver that gives no answer. */
function aboutOther({ name }: { readonly name: string }): boolean {
  return /^[a-z0-9]{16}\.com\.$/.test(name);
}

/** The CD flag of each query about the name of the check. */
function flagsAboutName(server: DnsServer): readonly number[] {
  return server.queries.flatMap(({ query }) => (aboutOther(query) ? [] : [query.flags & FLAGS.cd]));
}

function problemsOf(outcome: object): unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(dns), { ...outcome, startedAt: now, finishedAt: now })];
}

async function listen(answer: AnswerDns, address = '127.0.0.1', udpOnly = false): Promise<DnsServer> {
  const server = await startDnsServer(answer, { address, udpOnly });
  servers.push(server);
  return server;
}
