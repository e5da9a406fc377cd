import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { resultSchema, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { testContext } from '@vantage/test-support/context';
import { freeServerPort } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { dig, digMissing, type Dug, type DugRecord } from '@vantage/test-support/dns/dig';
import { KNOT_NSID, signedZoneFiles, signedZones, startKnot, type Knot } from '@vantage/test-support/dns/knot';
import { patientWaits } from '../../../test/patient-waits.ts';
import { startNamed, type Named } from '../../../test/dns-named.ts';
import { signZone } from '../../../test/dns-signed-by-hand.ts';
import { zoneFile, zoneRecords } from '@vantage/test-support/dns/zone';
import { itNeeding } from '@vantage/test-support/needs';
import type { Outcome } from '../../diagnostic.ts';
import { dns } from './contract.ts';
import { runDns } from './run.ts';

type Options = ParamsOf<typeof dns>['options'];

const noOpenssl = opensslVersion() === null ? 'openssl not found' : null;
const noServers = await packagesMissing(['knot', 'knot-dnsutils'], ['bind9']);
const missing = noServers ?? (await digMissing()) ?? noOpenssl;
const itWithServers = itNeeding(missing, process.env['CI']);
const { plain, nsec, nsec3 } = signedZones;

/** Zones with an address that was changed after it was signed, with expired signatures, and with one left out. */
const tampered = 'tampered.example.';
const expired = 'expired.example.';
const unsignedPart = 'part.example.';

let mint: CertificateMint;
let authority: Issued;
let knot: Knot;
let named: Named;

beforeAll(async () => {
  if (missing !== null) return;
  const [good, old, part] = await Promise.all([
    signZone(tampered, zoneFile(tampered, [])),
    signZone(expired, zoneFile(expired, []), { valid: { from: '20200101000000', until: '20200201000000' } }),
    signZone(unsignedPart, zoneFile(unsignedPart, [])),
  ]);
  const changed = good.file.replaceAll('192.0.2.10', '192.0.2.66');
  expect(changed).not.toBe(good.file);
  const left = part.file.replace(/^www\.part\.example\.\s.*\bRRSIG\s+A .*\n/m, '');
  expect(left).not.toBe(part.file);
  knot = await startKnot({
    zones: { ...signedZoneFiles(), [tampered]: changed, [expired]: old.file, [unsignedPart]: left },
  });
  const keys = await dig(knot.port, [
    [nsec, 'DNSKEY'],
    [nsec3, 'DNSKEY'],
  ]);
  mint = certificateMint();
  authority = mint.issue({ subject: '/CN=The lab', ca: true });
  named = await startNamed({
    authorityPort: knot.port,
    certificate: mint.issue({ subject: '/CN=resolver.example', names: ['DNS:resolver.example'], issuer: authority }),
    zones: [
      { zone: plain, key: null },
      { zone: nsec, key: keys[0]!.answers[0]!.data },
      { zone: nsec3, key: keys[1]!.answers[0]!.data },
      { zone: tampered, key: good.key },
      { zone: expired, key: old.key },
      { zone: unsignedPart, key: part.key },
    ],
  });
});

afterAll(async () => {
  mint?.close();
  await named?.stop();
  await knot?.stop();
});

const defaults: Options = {
  transport: 'udp',
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
  nsid: false,
  trace: false,
};

/** @param port of the probe's own resolver */
async function ask(
  port: number,
  host: string,
  recordType: string,
  options: Partial<Options> = {},
): Promise<Outcome<typeof dns>> {
  const context = testContext<typeof dns>({
    resolvers: [`127.0.0.1:${port}`],
    hosts: { 'resolver.example': ['127.0.0.1'] },
    certificateAuthorities: authority === undefined ? [] : [authority.cert],
  });
  const params = { host, recordType, options: { ...defaults, ...options } };
  return valid(await runDns(params, context, undefined, patientWaits));
}

function valid(outcome: Outcome<typeof dns>): Outcome<typeof dns> {
  const now = new Date().toISOString();
  expect([...Value.Errors(resultSchema(dns), { ...outcome, startedAt: now, finishedAt: now })]).toEqual([]);
  return outcome;
}

const records = (all: readonly DugRecord[] = []): readonly string[] =>
  all.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data}`.trimEnd());

/** The parts of an answer that both programs report. */
const view = ({ rcode, flags, answers, authority, additional, size }: Outcome<typeof dns> | Dug): object => ({
  rcode,
  flags: [...(flags ?? [])],
  size,
  answers: records(answers),
  authority: records(authority),
  additional: records(additional),
});

describe('a dns check of a name server of another maker (knot)', () => {
  itWithServers('sees what dig sees, for every type of record', async () => {
    const questions = zoneRecords.map(({ owner, type }) => [`${owner}.${plain}`, type] as const);
    const dug = await dig(knot.port, questions);

    for (const [at, [name, type]] of questions.entries()) {
      const outcome = await ask(knot.port, name, type);

      expect([type, view(outcome)]).toEqual([type, view(dug[at]!)]);
      // At a zone cut, the answer to NS is the delegation.
      const section = type === 'NS' ? outcome.authority : outcome.answers;
      expect([type, outcome.result, section?.[0]?.type]).toEqual([type, 'success', type]);
    }
    expect(questions.length).toBeGreaterThan(30);
  });

  for (const zone of [nsec, nsec3]) {
    itWithServers(`sees what dig sees of ${zone}, a signed zone`, async () => {
      const questions = [
        [zone, 'SOA'],
        [zone, 'NS'],
        [zone, 'DNSKEY'],
        [zone, zone === nsec ? 'NSEC' : 'NSEC3PARAM'],
        [zone, 'RRSIG'],
        [`www.${zone}`, 'A'],
        [`www.${zone}`, 'NSEC'],
        [`www.${zone}`, 'MX'],
        [`missing.${zone}`, 'A'],
        [`below.wild.${zone}`, 'TXT'],
        [`alias.${zone}`, 'AAAA'],
        [`x.dname.${zone}`, 'A'],
      ] as const;
      const dug = await dig(
        knot.port,
        questions.map((question) => [...question, '+dnssec']),
      );
      const types = new Set<string>();

      for (const [at, [name, type]] of questions.entries()) {
        const outcome = await ask(knot.port, name, type, { dnssecOk: true });

        expect([name, type, view(outcome)]).toEqual([name, type, view(dug[at]!)]);
        for (const { type } of [...(outcome.answers ?? []), ...(outcome.authority ?? [])]) types.add(type);
      }
      const denial = zone === nsec ? ['NSEC'] : ['NSEC3', 'NSEC3PARAM'];
      expect([...types]).toEqual(expect.arrayContaining(['DNSKEY', 'RRSIG', 'SOA', ...denial]));
    });
  }

  itWithServers('sees as many records and bytes as kdig, which counts independently', async () => {
    for (const name of [`www.${nsec}`, `missing.${nsec}`, `missing.${nsec3}`, `large.${nsec3}`]) {
      const text = await knot.kdig('+dnssec', '+bufsize=1232', '+stats', name, 'A');
      const { rcode, size, answers, authority } = await ask(knot.port, name, 'A', { dnssecOk: true });

      const [, status] = /status: (\w+);/.exec(text)!;
      const [, answerCount, authorityCount] = /ANSWER: (\d+); AUTHORITY: (\d+);/.exec(text)!;
      expect([name, rcode, answers?.length, authority?.length, size]).toEqual([
        name,
        status,
        Number(answerCount),
        Number(authorityCount),
        Number(/^;; Received (\d+) B$/m.exec(text)![1]),
      ]);
    }
  });

  itWithServers('goes over to TCP where the answer is too long for UDP', async () => {
    const outcome = await ask(knot.port, `large.${plain}`, 'TXT');
    const [whole] = await dig(knot.port, [[`large.${plain}`, 'TXT', '+tcp']]);

    expect(outcome).toMatchObject({ result: 'success', transport: 'tcp', truncated: true, size: whole!.size });
    expect(outcome.size).toBeGreaterThan(4_000);
    // Fifty records are displayed.
    expect(records(outcome.answers)).toEqual(records(whole!.answers).slice(0, 50));
  });

  itWithServers('learns which server it was', async () => {
    const { edns } = await ask(knot.port, plain, 'SOA', { nsid: true });

    expect(edns?.nsid).toEqual({ hex: Buffer.from(KNOT_NSID).toString('hex'), text: KNOT_NSID });
  });

  itWithServers('shows a refusal as one', async () => {
    const outcome = await ask(knot.port, 'elsewhere.example.net', 'A');

    expect(outcome).toMatchObject({ result: 'failure', rcode: 'REFUSED', error: { code: 'dns_refused' } });
  });
});

describe('the verdict of a validating resolver (named)', () => {
  for (const zone of [nsec, nsec3]) {
    itWithServers(`is passed on for ${zone}: a name, a missing type and a missing name`, async () => {
      const outcomes = [
        await ask(named.port, `www.${zone}`, 'A', { dnssecOk: true }),
        await ask(named.port, `www.${zone}`, 'MX'),
        await ask(named.port, `missing.${zone}`, 'A'),
      ];

      expect(outcomes.map(({ rcode, dnssec }) => [rcode, dnssec])).toEqual([
        ['NOERROR', { ad: true, verdict: 'validated' }],
        ['NOERROR', { ad: true, verdict: 'validated' }],
        ['NXDOMAIN', { ad: true, verdict: 'validated' }],
      ]);
    });
  }

  itWithServers('is none for a zone that is not signed', async () => {
    const { dnssec, result } = await ask(named.port, `www.${plain}`, 'A');

    expect([result, dnssec]).toEqual(['success', { ad: false, verdict: 'not_validated' }]);
  });

  for (const [reason, zone] of [
    ['data that was changed', tampered],
    ['signatures that expired', expired],
    ['a record without a signature in a signed zone', unsignedPart],
  ] as const) {
    itWithServers(`is that validation fails, for ${reason}`, async () => {
      const outcome = await ask(named.port, `www.${zone}`, 'A');
      const unchecked = await ask(named.port, `www.${zone}`, 'A', { checkingDisabled: true });

      expect(outcome).toMatchObject({
        result: 'failure',
        rcode: 'SERVFAIL',
        error: { code: 'dns_servfail', source: 'resolver' },
        dnssec: { ad: false, verdict: 'validation_failed' },
      });
      expect(unchecked).toMatchObject({ result: 'success', rcode: 'NOERROR', dnssec: { verdict: 'unknown' } });
    });
  }
});

describe('the same resolver', () => {
  for (const transport of ['tcp', 'tls', 'https'] as const) {
    itWithServers(`gives the same answer over ${transport}`, async () => {
      const port = { tcp: named.port, tls: named.tlsPort, https: named.httpsPort }[transport];
      const options = { resolver: `resolver.example:${port}`, dnssecOk: true };
      const overUdp = await ask(named.port, `www.${nsec}`, 'AAAA', { dnssecOk: true });
      const outcome = await ask(named.port, `www.${nsec}`, 'AAAA', { ...options, transport });

      // TTLs of cached records decrease.
      const data = ({ answers = [] }: typeof outcome): unknown =>
        answers.map(({ name, type, data }) => [name, type, data]);
      expect(outcome).toMatchObject({ result: 'success', transport, rcode: 'NOERROR', dnssec: overUdp.dnssec });
      expect(data(outcome)).toEqual(data(overUdp));
      expect(data(outcome)).toHaveLength(2);
    });
  }
});

describe('a trace over name servers of another maker (three of knot)', () => {
  const [rootAddress, topAddress, zoneAddress] = ['127.0.0.11', '127.0.0.12', '127.0.0.13'] as const;
  const soa = '@ 3600 SOA server.example. hostmaster.example.com. 1 7200 3600 1209600 300';
  const zones = {
    '.': `$ORIGIN .\n${soa}\n@ 60 NS a.root.\na.root. 60 A ${rootAddress}\nexample. 60 NS a.nic.example.\na.nic.example. 60 A ${topAddress}\n`,
    'example.': `$ORIGIN example.\n${soa}\n@ 60 NS a.nic\na.nic 60 A ${topAddress}\nplain 60 NS server.plain\nserver.plain 60 A ${zoneAddress}\n`,
    [plain]: zoneFile(plain),
  };

  itWithServers('shows each delegation and the answer', async () => {
    const port = await freeServerPort();
    const start = (zone: keyof typeof zones, address: string): Promise<Knot> =>
      startKnot({ zones: { [zone]: zones[zone] }, address, port });
    const knots = await Promise.all([
      start('.', rootAddress),
      start('example.', topAddress),
      start(plain, zoneAddress),
    ]);
    try {
      const outcome = valid(
        await runDns(
          { host: `www.${plain}`, recordType: 'A', options: { ...defaults, trace: true } },
          testContext<typeof dns>(),
          { servers: [{ name: 'a.root.', addresses: [rootAddress] }], port },
          patientWaits,
        ),
      );

      expect(outcome).toMatchObject({ result: 'success', rcode: 'NOERROR', resolvedIp: '192.0.2.10' });
      expect(outcome.flags).toContain('aa');
      expect(outcome.trace).toMatchObject([
        { zone: '.', server: 'a.root.', address: rootAddress, authoritative: false, referral: 'example.', error: null },
        { zone: 'example.', server: 'a.nic.example.', address: topAddress, authoritative: false, referral: plain },
        { zone: plain, server: `server.${plain}`, address: zoneAddress, authoritative: true, referral: null },
      ]);
    } finally {
      await Promise.all(knots.map(({ stop }) => stop()));
    }
  });
});
