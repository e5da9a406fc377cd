import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { certificateMint, opensslVersion } from '@vantage/test-support/certificate-mint';
import { testContext } from '@vantage/test-support/context';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { dig, digMissing } from '@vantage/test-support/dns/dig';
import { signedZones, startKnot } from '@vantage/test-support/dns/knot';
import { zoneFile } from '@vantage/test-support/dns/zone';
import { itNeeding } from '@vantage/test-support/needs';

import { startNamed } from '../../../test/dns-named.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import type { Outcome } from '../../diagnostic.ts';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

const noServers = await packagesMissing(['knot', 'knot-dnsutils'], ['bind9']);
const noOpenssl = opensslVersion() === null ? 'openssl not found' : null;
const missing = noServers ?? (await digMissing()) ?? noOpenssl;
const itWithServers = itNeeding(missing, process.env['CI']);

const { plain, nsec } = signedZones;
const SERVFAIL = 2;

/** True while the name servers of both zones answer SERVFAIL, as during a reload. */
let areFailing = false;
const stops: (() => Promise<void> | void)[] = [];
const resolvers: { short?: number; long?: number } = {};

/** Passes queries on to the name server, or fails in its place. Returns its port. */
async function startFlakyServer(port: number): Promise<number> {
  const front = createSocket('udp4');
  front.on('message', (query, { port: client }) => {
    if (areFailing) {
      query[2] = query[2]! | 0x80;
      query[3] = (query[3]! & 0xf0) | SERVFAIL;
      front.send(query, client, '127.0.0.1');
      return;
    }
    const back = createSocket('udp4');
    back.on('message', (answer) => {
      front.send(answer, client, '127.0.0.1');
      back.close();
    });
    back.send(query, port, '127.0.0.1');
  });
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  stops.push(() => void front.close());
  return front.address().port;
}

beforeAll(async () => {
  if (missing !== null) return;
  const knot = await startKnot({ zones: { [plain]: zoneFile(plain), [nsec]: zoneFile(nsec) } });
  stops.push(knot.stop);
  const [keys] = await dig(knot.port, [[nsec, 'DNSKEY']]);
  const zones = [
    { zone: plain, key: null },
    { zone: nsec, key: keys!.answers[0]!.data },
  ];
  const mint = certificateMint();
  stops.push(() => mint.close());
  const certificate = mint.issue({ subject: '/CN=resolver.example', ca: true });
  const authorityPort = await startFlakyServer(knot.port);
  for (const [name, servfailTtl] of [
    ['short', undefined],
    ['long', 30],
  ] as const) {
    const named = await startNamed({ authorityPort, certificate, zones, servfailTtl });
    stops.push(named.stop);
    resolvers[name] = named.port;
  }
});

afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

/** Result of a check after another client has queried the resolver while the name servers failed. */
async function checkAfterFailure(port: number, host: string): Promise<Outcome<typeof dns>> {
  areFailing = true;
  const [failed] = await dig(port, [[host, 'A']]);
  areFailing = false;
  expect(failed).toMatchObject({ rcode: 'SERVFAIL' });
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  const context = testContext<typeof dns>({ resolvers: [`127.0.0.1:${port}`] });
  return runDns({ host, recordType: 'A', options: { transport: 'udp', ...flags } }, context, undefined, patientWaits);
}

describe('a resolver (named) that keeps a failure of name servers in its cache (RFC 9520)', () => {
  itWithServers('does not fail validation of an unsigned zone', async () => {
    const { rcode, dnssec, error } = await checkAfterFailure(resolvers.long!, `www.${plain}`);
    const [unchecked] = await dig(resolvers.long!, [[`www.${plain}`, 'A', '+cd']]);

    expect(unchecked).toMatchObject({ rcode: 'NOERROR' });
    expect({ rcode, verdict: dnssec?.verdict }).toEqual({ rcode: 'SERVFAIL', verdict: 'unknown' });
    expect(error?.message).not.toMatch(/DNSSEC/);
  });

  itWithServers('for a second, as by default, does not fail validation of a signed zone', async () => {
    const { dnssec } = await checkAfterFailure(resolvers.short!, `www.${nsec}`);
    const [later] = await dig(resolvers.short!, [[`www.${nsec}`, 'A', '+adflag']]);

    expect(later).toMatchObject({ rcode: 'NOERROR', flags: expect.arrayContaining(['ad']) });
    expect(dnssec?.verdict).not.toBe('validation_failed');
  });
});
