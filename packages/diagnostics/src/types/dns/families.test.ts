import { afterEach, describe, expect, it } from '@jest/globals';
import { resultSchema, type ParamsOf } from '@vantage/contract';
import { testContext } from '@vantage/test-support/context';
import { freeServerPort } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { startKnot, type Knot } from '@vantage/test-support/dns/knot';
import { startDnsServer, type AnswerDns } from '@vantage/test-support/dns/server';
import { addressRecord, FLAGS, respond, wireName, type WireRecord } from '@vantage/test-support/dns/wire';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { Value } from 'typebox/value';

import { patientWaits } from '../../../test/patient-waits.ts';
import { defineDiagnostic } from '../../define-diagnostic.ts';
import type { Outcome } from '../../diagnostic.ts';
import { dns } from './contract.ts';
import { runDns } from './run.ts';
import type { TraceStart } from './trace/trace.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);
const itWithKnot = itNeeding(ipv6Missing() ?? (await packagesMissing(['knot', 'knot-dnsutils'])), process.env['CI']);

const servers: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(servers.splice(0).map(async ({ close }) => close()))));

type Options = Partial<ParamsOf<typeof dns>['options']>;

function asked(options: Options, resolvers: readonly string[], start?: TraceStart): Promise<Outcome<typeof dns>> {
  const params = dns.jobParams!({
    host: 'www.zone.example',
    recordType: 'A',
    options: {
      transport: 'udp',
      dnssecOk: false,
      checkingDisabled: false,
      recursionDesired: true,
      nsid: false,
      trace: false,
      family: 'both',
      ...options,
    },
  });
  const { run } = defineDiagnostic(dns, (all, context) => runDns(all, context, start, patientWaits));
  const hosts = { 'both.example': ['127.0.0.1', '::1'], 'old.example': ['127.0.0.1'] };
  return run(params as ParamsOf<typeof dns>, testContext<typeof dns>({ resolvers, hosts })).then(valid);
}

function valid(outcome: Outcome<typeof dns>): Outcome<typeof dns> {
  const times = { startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z' };
  expect([...Value.Errors(resultSchema(dns), { ...outcome, ...times })]).toEqual([]);
  return outcome;
}

describe('a dns check over both families', () => {
  itWithKnot('has the answers of both addresses of a name server, as kdig has them', async () => {
    const port = await freeServerPort();
    const soa = '@ 60 SOA a.zone.example. h.zone.example. 1 60 60 60 60\n@ 60 NS a.zone.example.\n';
    const start = async (address: string, www: string): Promise<Knot> => {
      const zones = { 'zone.example.': `$ORIGIN zone.example.\n${soa}www 60 A ${www}\n` };
      const knot = await startKnot({ address, port, zones });
      servers.push({ close: knot.stop });
      return knot;
    };
    const knots = await Promise.all([start('127.0.0.1', '192.0.2.4'), start('::1', '192.0.2.6')]);

    const outcome = await asked({}, [`127.0.0.1:${port}`, `[::1]:${port}`]);

    const dug = await Promise.all(knots.map(({ kdig }) => kdig('+short', 'www.zone.example', 'A')));
    expect([outcome, outcome.otherFamily!].map(({ answers }) => `${answers![0]!.data}\n`)).toEqual(dug);
    expect(outcome).toMatchObject({ result: 'success', family: 4, resolver: `127.0.0.1:${port}` });
    expect(outcome.otherFamily).toMatchObject({ result: 'success', family: 6, resolver: `[::1]:${port}` });
  });

  itWithIpv6('keeps the answer of one family if nothing listens on the other', async () => {
    const server = await startDnsServer((query) => [
      respond(query, { answers: [addressRecord(query.name, '192.0.2.4')] }),
    ]);
    servers.push(server);

    const outcome = await asked({}, [`127.0.0.1:${server.port}`, `[::1]:${server.port}`]);

    expect(outcome).toMatchObject({ result: 'success', rcode: 'NOERROR' });
    expect(outcome.otherFamily).toMatchObject({ family: 6, result: 'failure', resolver: `[::1]:${server.port}` });
  });

  it.each([
    ['the probe has no resolver of the family', {}, 'The resolver of the probe has no IPv6 address.'],
    ['the resolver has no address of the family', { resolver: 'old.example' }, 'The resolver has no IPv6 address.'],
  ])('says that %s', async (_reason, options, message) => {
    const outcome = await asked(options, ['127.0.0.1:9']);

    expect(outcome.family).toBe(4);
    expect(outcome.otherFamily).toMatchObject({
      family: 6,
      result: 'failure',
      error: { code: 'family_unavailable', phase: 'resolve', source: 'resolver', message },
    });
  });

  itWithIpv6('traces over the addresses of each family alone', async () => {
    const glue: WireRecord[] = [
      addressRecord('ns.zone.example', '127.0.0.1'),
      { name: 'ns.zone.example', type: 28, data: Uint8Array.from([...Array<number>(15).fill(0), 1]) },
    ];
    const answering = (): AnswerDns => {
      let count = 0;
      return (query) => {
        count += 1;
        if (count > 1) return [respond(query, { flags: FLAGS.aa, answers: [addressRecord(query.name, '192.0.2.80')] })];
        const authority = [{ name: 'zone.example', type: 2, data: Uint8Array.from(wireName('ns.zone.example')) }];
        return [respond(query, { authority, additional: glue })];
      };
    };
    const server = await startDnsServer(answering());
    const other = await startDnsServer(answering(), { address: '::1', port: server.port });
    servers.push(server, other);
    const start = { servers: [{ name: 'a.root.', addresses: ['127.0.0.1', '::1'] }], port: server.port };

    const outcome = await asked({ trace: true }, [], start);

    expect(outcome.trace?.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(outcome.otherFamily?.trace?.map(({ address }) => address)).toEqual(['::1', '::1']);
    expect(outcome.otherFamily).toMatchObject({ result: 'success', rcode: 'NOERROR' });
  });

  itWithIpv6('says of a zone without a name server in one family that there is none', async () => {
    const server = await startDnsServer((query) => [
      respond(query, { flags: FLAGS.aa, answers: [addressRecord(query.name, '192.0.2.80')] }),
    ]);
    servers.push(server);
    const start = { servers: [{ name: 'old.example.', addresses: ['127.0.0.1'] }], port: server.port };

    const outcome = await asked({ trace: true }, [], start);

    expect(outcome).toMatchObject({ result: 'success', family: 4 });
    expect(outcome.otherFamily).toMatchObject({
      result: 'failure',
      error: { code: 'family_unavailable', source: 'resolver', message: 'The name server has no IPv6 address.' },
      trace: [{ server: 'old.example.', address: null, rcode: null }],
    });
  });
});
