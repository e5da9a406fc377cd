import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES, resultSchema, type Failure, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import { testContext } from '@vantage/test-support/context';
import { patientWaits } from '../../../../test/patient-waits.ts';
import { startDnsServer, type AnswerDns, type DnsServer } from '@vantage/test-support/dns/server';
import {
  addressRecord,
  FLAGS,
  respond,
  wireName,
  type WireQuery,
  type WireRecord,
} from '@vantage/test-support/dns/wire';
import { dns } from '../contract.ts';
import { runDns as run } from '../run.ts';

/** Linux answers on all of 127.0.0.0/8, so each name server gets a separate address on the same port. */
const ROOT = '127.0.0.2';
const TLD = '127.0.0.3';
const AUTHORITY = '127.0.0.4';
const LAME = '127.0.0.5';

const runDns: typeof run = (request, context, start) => run(request, context, start, patientWaits);

const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => server.close()));
});

const root: AnswerDns = (query) => [refer(query, 'example', [['ns.nic.example', TLD]])];
const tld: AnswerDns = (query) => [refer(query, 'zone.example', [['ns.zone.example', AUTHORITY]])];
const authority: AnswerDns = (query) => [
  respond(query, { flags: FLAGS.aa, answers: [addressRecord('www.zone.example', '192.0.2.80')] }),
];

describe('a trace', () => {
  it('follows the delegations from the root to the answer, one row for each server', async () => {
    const { start, port } = await serve({ [ROOT]: root, [TLD]: tld, [AUTHORITY]: authority });
    const context = testContext<typeof dns>();

    const outcome = await runDns(params(), context, start);

    expect(outcome).toMatchObject({
      result: 'success',
      resolvedIp: '192.0.2.80',
      rcode: 'NOERROR',
      resolver: `${AUTHORITY}:${port}`,
      answers: [{ name: 'www.zone.example.', type: 'A', data: '192.0.2.80' }],
      trace: [
        { zone: '.', server: 'a.root.', address: ROOT, rcode: 'NOERROR', authoritative: false, referral: 'example.' },
        { zone: 'example.', server: 'ns.nic.example.', address: TLD, referral: 'zone.example.', error: null },
        { zone: 'zone.example.', server: 'ns.zone.example.', address: AUTHORITY, authoritative: true, referral: null },
      ],
    });
    expect(outcome.trace?.[0]?.records).toMatchObject([{ name: 'example.', type: 'NS', data: 'ns.nic.example.' }]);
    expect(outcome.trace?.every(({ rt }) => rt !== null && rt > 0)).toBe(true);
    expect(problemsOf(outcome)).toEqual([]);
    expect(context.partials.flatMap(({ trace }) => (trace === undefined ? [] : [trace.length]))).toEqual([1, 2, 3]);
    const asked = servers.flatMap(({ queries }) => queries.map(({ query }) => query.flags & FLAGS.rd));
    expect(asked).toEqual([0, 0, 0]);
  });

  it('goes over TCP when it is asked to', async () => {
    const { start } = await serve({ [ROOT]: root, [TLD]: tld, [AUTHORITY]: authority });
    const { options, ...request } = params();

    const outcome = await runDns(
      { ...request, options: { ...options, transport: 'tcp' } },
      testContext<typeof dns>(),
      start,
    );

    expect(outcome).toMatchObject({ result: 'success', transport: 'tcp' });
    expect(servers.flatMap(({ queries }) => queries.map(({ via }) => via))).toEqual(['tcp', 'tcp', 'tcp']);
  });

  it('asks the next server where one is silent over TCP', async () => {
    const two: AnswerDns = (query) => [
      refer(query, 'zone.example', [
        ['lame.zone.example', LAME],
        ['ns.zone.example', AUTHORITY],
      ]),
    ];
    const { start } = await serve({ [ROOT]: root, [TLD]: two, [LAME]: () => [], [AUTHORITY]: authority });
    const request = { ...params(), options: { ...params().options, transport: 'tcp' } } as const;

    const outcome = await run(request, testContext<typeof dns>(), start, { ...patientWaits, traceMs: [100] });

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '192.0.2.80' });
    expect(outcome.trace?.map(({ address }) => address)).toEqual([ROOT, TLD, LAME, AUTHORITY]);
  });

  it('asks a server that does not know EDNS without it, even if DNSSEC records were requested', async () => {
    const old: AnswerDns = (query, via) =>
      query.rest.length > 0 ? [respond(query, { question: null, rcode: 1 })] : authority(query, via);
    const { start } = await serve({ [ROOT]: root, [TLD]: tld, [AUTHORITY]: old });
    const { options, ...request } = params();

    const outcome = await runDns(
      { ...request, options: { ...options, dnssecOk: true } },
      testContext<typeof dns>(),
      start,
    );

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '192.0.2.80', edns: null });
  });

  it('has each server admitted by the policy, by its glue or else by its name', async () => {
    const glueless: AnswerDns = (query) => [refer(query, 'zone.example', [['ns.elsewhere.example', null]])];
    const { start, port } = await serve({ [ROOT]: root, [TLD]: glueless, [AUTHORITY]: authority });
    const context = testContext<typeof dns>({ hosts: { 'ns.elsewhere.example': [AUTHORITY] } });

    const outcome = await runDns(params(), context, start);

    expect(outcome.result).toBe('success');
    expect(context.admissions).toEqual([
      { host: ROOT, port, purpose: 'dns' },
      { host: TLD, port, purpose: 'dns' },
      { host: 'ns.elsewhere.example', port, purpose: 'dns' },
    ]);
  });

  it('sends nothing to a server that the policy refuses', async () => {
    const { start, server } = await serve({ [ROOT]: root, [TLD]: tld });

    const outcome = await runDns(params(), testContext<typeof dns>({ refused: [TLD] }), start);

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' } });
    expect(outcome.error?.message).toMatch(/^The name server is refused: /);
    expect(outcome.trace?.at(-1)).toMatchObject({ zone: 'example.', address: null, rt: null, records: [] });
    expect(server(TLD).queries).toEqual([]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, AnswerDns, Failure['code']]>([
    ['refuses', (query) => [respond(query, { rcode: 5 })], 'dns_refused'],
    ['refers upwards', (query) => [refer(query, '.', [['a.root', ROOT]])], 'dns_no_answer'],
    ['refers to its own zone', (query) => [refer(query, 'example', [['ns.nic.example', TLD]])], 'dns_no_answer'],
    [
      'refers to another branch',
      (query) => [refer(query, 'other.example', [['ns.other.example', AUTHORITY]])],
      'dns_no_answer',
    ],
    ['gives nothing at all', (query) => [respond(query, { flags: 0 })], 'dns_no_answer'],
    [
      'answers about another name',
      (query) => [respond(query, { flags: FLAGS.aa, answers: [addressRecord('evil.example.net', '192.0.2.66')] })],
      'dns_bad_response',
    ],
    [
      'sends nonsense',
      (query) => [respond(query, { answers: [addressRecord('x', '192.0.2.1')] }).subarray(0, -1)],
      'dns_bad_response',
    ],
  ])('asks the next server of a zone where one %s', async (_reason, lame, code) => {
    const two: AnswerDns = (query) => {
      return [
        refer(query, 'example', [
          ['lame.nic.example', LAME],
          ['ns.nic.example', TLD],
        ]),
      ];
    };
    const { start } = await serve({ [ROOT]: two, [LAME]: lame, [TLD]: tld, [AUTHORITY]: authority });

    const outcome = await runDns(params(), testContext<typeof dns>(), start);

    expect(outcome.result).toBe('success');
    expect(outcome.trace?.map(({ address }) => address)).toEqual([ROOT, LAME, TLD, AUTHORITY]);
    expect(outcome.trace?.[1]?.error?.code).toBe(code);
  });

  it('ends with the rcode of a zone whose servers refuse, whatever the others did', async () => {
    const refused: AnswerDns = (query) => [respond(query, { rcode: 5 })];
    const two: AnswerDns = (query) => {
      return [
        refer(query, 'example', [
          ['lame.nic.example', LAME],
          ['ns.nic.example', null],
        ]),
      ];
    };
    const { start } = await serve({ [ROOT]: two, [LAME]: refused });

    const outcome = await runDns(params(), testContext<typeof dns>(), start);

    expect(outcome).toMatchObject({
      result: 'failure',
      rcode: 'REFUSED',
      answerKind: 'error',
      flags: ['qr', 'rd', 'ra'],
      error: { code: 'dns_refused', source: 'resolver' },
    });
    expect(outcome.trace?.at(-1)).toMatchObject({ server: 'ns.nic.example.', address: null });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('asks every server of a zone, as the fifth may be the first that answers', async () => {
    const refused: AnswerDns = (query) => [respond(query, { rcode: 5 })];
    const lame = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14'];
    const five: AnswerDns = (query) => [
      refer(
        query,
        'zone.example',
        [...lame, AUTHORITY].map((address, at) => [`ns${at}.zone.example`, address]),
      ),
    ];
    const { start } = await serve({
      [ROOT]: five,
      ...Object.fromEntries(lame.map((address) => [address, refused])),
      [AUTHORITY]: authority,
    });

    const outcome = await runDns(params(), testContext<typeof dns>(), start);

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '192.0.2.80' });
    expect(outcome.trace?.map(({ rcode }) => rcode)).toEqual(['NOERROR', ...lame.map(() => 'REFUSED'), 'NOERROR']);
  });

  it('tells name servers whose name is not found from the name asked for', async () => {
    const glueless: AnswerDns = (query) => [refer(query, 'zone.example', [['ns.nowhere.example', null]])];
    const { start } = await serve({ [ROOT]: root, [TLD]: glueless });

    const outcome = await runDns(params(), testContext<typeof dns>(), start);

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: 'dns_resolver_unreachable', phase: 'resolve', source: 'resolver' },
    });
    expect(outcome.error?.message).toContain('The address of the name server could not be found: ');
    expect(outcome.error?.message).toContain('ns.nowhere.example');
    expect(outcome.rcode).toBeUndefined();
  });

  it('takes the servers of the zone in an answer with authority for no referral', async () => {
    const own: AnswerDns = (query) => [
      respond(query, {
        flags: FLAGS.aa,
        authority: [{ name: 'zone.example', type: 2, data: Uint8Array.from(wireName('ns.zone.example')) }],
      }),
    ];
    const { start } = await serve({ [ROOT]: root, [TLD]: tld, [AUTHORITY]: own });

    const outcome = await runDns(params(), testContext<typeof dns>(), start);

    expect(outcome).toMatchObject({ result: 'success', answerKind: 'nodata', referral: null, answers: [] });
  });

  it('ends with NXDOMAIN as a failure, and with a name without records as a success', async () => {
    const soa: WireRecord = {
      name: 'example',
      type: 6,
      data: Uint8Array.from([...wireName('ns'), 0, ...Array(20).fill(0)]),
    };
    const missing: AnswerDns = (query) => [respond(query, { flags: FLAGS.aa, rcode: 3, authority: [soa] })];
    const empty: AnswerDns = (query) => [respond(query, { flags: FLAGS.aa, authority: [soa] })];

    const first = await serve({ [ROOT]: root, [TLD]: missing });
    const nxdomain = await runDns(params(), testContext<typeof dns>(), first.start);
    const second = await serve({ [ROOT]: root, [TLD]: empty });
    const nodata = await runDns(params(), testContext<typeof dns>(), second.start);

    expect(nxdomain).toMatchObject({ result: 'failure', rcode: 'NXDOMAIN', error: { code: 'dns_nxdomain' } });
    expect(nodata).toMatchObject({ result: 'success', rcode: 'NOERROR', answers: [], error: null });
  });

  it('gives up where delegations do not end', async () => {
    const deeper: AnswerDns = (query) => {
      const labels = query.name.split('.').filter((label) => label !== '');
      const depth = servers.flatMap(({ queries }) => queries).length % labels.length;
      return [refer(query, labels.slice(labels.length - depth).join('.'), [['ns.example', ROOT]])];
    };
    const { start, server } = await serve({ [ROOT]: deeper });

    const outcome = await runDns({ ...params(), host: `${'a.'.repeat(40)}example` }, testContext<typeof dns>(), start);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'dns_bad_response' } });
    expect(server(ROOT).queries).toHaveLength(16);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('fits into a result, however long the names of servers and records are', async () => {
    const quotes = ['"', '"', '"'].map((character) => character.repeat(62)).join('.');
    const longNames: AnswerDns = (query) => {
      const labels = query.name.split('.').filter((label) => label !== '');
      const asked = servers.flatMap(({ queries }) => queries).length;
      const servants = Array.from(
        { length: 20 },
        (_, at) => [`${String(at).padStart(2, '0')}.${quotes}`, ROOT] as const,
      );
      return [refer(query, labels.slice(-(asked + 1)).join('.'), servants)];
    };
    const { start } = await serve({ [ROOT]: longNames });

    const host = `${'abcdefghijkl.'.repeat(19)}zz`;
    const outcome = await runDns({ ...params(), host }, testContext<typeof dns>(), start);

    expect(outcome.trace?.length).toBeGreaterThan(10);
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(MAX_RESULT_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('shows the rows that it has at the deadline', async () => {
    const deadline = new AbortController();
    const silent: AnswerDns = () => {
      deadline.abort();
      return [];
    };
    const { start } = await serve({ [ROOT]: root, [TLD]: silent });

    const outcome = await runDns(params(), testContext<typeof dns>({ signal: deadline.signal }), start);

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out' } });
    expect(outcome.trace).toMatchObject([
      { address: ROOT, error: null },
      {
        address: TLD,
        error: { code: 'timed_out', message: expect.stringMatching(/^The name server did not answer /) },
      },
    ]);
  });

  it('ends before its deadline, so that there is time to report', async () => {
    const { start } = await serve({ [ROOT]: () => [] });
    const { signal } = new AbortController();

    const outcome = await runDns(params(), testContext<typeof dns>({ signal, remainingMs: () => 500 }), start);

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out' } });
  });
});

function refer(
  query: WireQuery,
  zone: string,
  nameServers: readonly (readonly [name: string, glue: string | null])[],
): Buffer {
  return respond(query, {
    flags: 0,
    authority: nameServers.map(([name]) => ({ name: zone, type: 2, data: Uint8Array.from(wireName(name)) })),
    additional: nameServers.flatMap(([name, glue]) => (glue === null ? [] : [addressRecord(name, glue)])),
  });
}

async function serve(byAddress: Readonly<Record<string, AnswerDns>>) {
  const started = new Map<string, DnsServer>();
  let port = 0;
  for (const [address, answer] of Object.entries(byAddress)) {
    const server = await startDnsServer(answer, { address, port });
    ({ port } = server);
    started.set(address, server);
    servers.push(server);
  }
  const start = { servers: [{ name: 'a.root.', addresses: [ROOT] }], port };
  return { start, port, server: (address: string) => started.get(address)! };
}

function params(): ParamsOf<typeof dns> {
  return {
    host: 'www.zone.example',
    recordType: 'A',
    options: {
      transport: 'udp',
      dnssecOk: false,
      checkingDisabled: false,
      recursionDesired: true,
      nsid: false,
      trace: true,
    },
  };
}

function problemsOf(outcome: object): unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(dns), { ...outcome, startedAt: now, finishedAt: now })];
}
