import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeName } from '@vantage/contract/dns-message';

import { certificateMint, opensslVersion, type CertificateMint } from '@vantage/test-support/certificate-mint';
import { testContext } from '@vantage/test-support/context';
import { temporaryFolder } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { nameServerPackages, startDnsmasq, startUnbound } from '../../../test/dns-daemons.ts';
import { dig, digMissing } from '@vantage/test-support/dns/dig';
import { signedZones, startKnot } from '@vantage/test-support/dns/knot';
import { startNamed } from '../../../test/dns-named.ts';
import { delvSays } from '../../../test/dns-second-opinion.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import { startDnsServer, type DnsServer } from '@vantage/test-support/dns/server';
import { signZone } from '../../../test/dns-signed-by-hand.ts';
import { addressRecord, FLAGS, respond, type WireQuery } from '@vantage/test-support/dns/wire';
import { zoneFile } from '@vantage/test-support/dns/zone';
import { itNeeding } from '@vantage/test-support/needs';
import type { Outcome } from '../../diagnostic.ts';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

type Verdict = NonNullable<Outcome<typeof dns>['dnssec']>['verdict'];

const noOpenssl = opensslVersion() === null ? 'openssl not found' : null;
const noServers = await packagesMissing(['knot', 'knot-dnsutils'], ['bind9'], ...nameServerPackages);
const itWithServers = itNeeding(noServers ?? (await digMissing()) ?? noOpenssl, process.env['CI']);

async function verdictOf(port: number, host: string, recordType = 'A'): Promise<Verdict | undefined> {
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  const params = { host, recordType, options: { transport: 'udp' as const, ...flags } };
  const context = testContext<typeof dns>({ resolvers: [`127.0.0.1:${port}`] });
  return (await runDns(params, context, undefined, patientWaits)).dnssec?.verdict;
}

describe('an AD bit', () => {
  const open: DnsServer[] = [];

  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  const hasDo = ({ rest }: WireQuery): boolean => ((rest[7] ?? 0) & 0x80) !== 0;
  const hasAd = ({ flags }: WireQuery): boolean => (flags & FLAGS.ad) !== 0;
  let asked = 0;

  it.each<[string, Verdict, (query: WireQuery) => boolean]>([
    ['of a resolver that follows RFC 6840', 'validated', (query) => hasAd(query) || hasDo(query)],
    ['that is the one of the query', 'unknown', hasAd],
    ['that is always set', 'unknown', () => true],
    ['that is gone when it is asked again', 'unknown', () => (asked += 1) === 1],
    ['that is not there', 'not_validated', () => false],
  ])('%s makes the verdict %s', async (_what, verdict, setsAd) => {
    asked = 0;
    const server = await startDnsServer((query) => {
      const flags = FLAGS.rd | FLAGS.ra | (setsAd(query) ? FLAGS.ad : 0);
      return [respond(query, { flags, answers: [addressRecord('www.example.com', '192.0.2.1')] })];
    });
    open.push(server);

    expect(await verdictOf(server.port, 'www.example.com')).toBe(verdict);
  });

  it('proves nothing where another answer comes to the same question', async () => {
    const server = await startDnsServer((query) => {
      const isFirst = (asked += 1) === 1;
      const flags = FLAGS.rd | FLAGS.ra | (hasAd(query) || hasDo(query) ? FLAGS.ad : 0);
      return [respond(query, { flags, rcode: isFirst ? 0 : 2, answers: [] })];
    });
    open.push(server);
    asked = 0;

    expect(await verdictOf(server.port, 'www.example.com')).toBe('unknown');
  });
});

const { nsec, plain } = signedZones;
const tampered = 'tampered.example.';

/** The trust anchor of 2017, because dnsmasq requires one to start. */
const ROOT_ANCHOR = '--trust-anchor=.,20326,8,2,E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D';

interface Lab {
  /** Port by resolver. */
  readonly ports: Readonly<Record<string, number>>;
  readonly anchors: string;
}

let mint: CertificateMint | undefined;
let lab: Lab;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if ((noServers ?? (await digMissing()) ?? noOpenssl) === null) lab = await startLab();
});

afterAll(async () => {
  mint?.close();
  await Promise.all(stops.map((stop) => stop()));
});

async function startLab(): Promise<Lab> {
  const started = async <D extends { readonly stop: () => Promise<void> }>(starting: Promise<D>): Promise<D> => {
    const daemon = await starting;
    stops.push(daemon.stop);
    return daemon;
  };
  const folder = await temporaryFolder();
  stops.push(folder.remove);
  const good = await signZone(tampered, zoneFile(tampered, []));
  const changed = good.file.replaceAll('192.0.2.10', '192.0.2.66');
  const knot = await started(
    startKnot({ zones: { [plain]: zoneFile(plain), [nsec]: zoneFile(nsec), [tampered]: changed } }),
  );
  const [keys] = await dig(knot.port, [[nsec, 'DNSKEY']]);
  const key = keys!.answers[0]!.data;
  const trusted: Readonly<Record<string, string | null>> = { [plain]: null, [nsec]: key, [tampered]: good.key };
  mint = certificateMint();
  const zones = Object.entries(trusted).map(([zone, key]) => ({ zone, key }));
  const certificate = mint.issue({ subject: '/CN=resolver.example', ca: true });
  const named = await started(startNamed({ authorityPort: knot.port, certificate, zones }));
  const unbound = await started(startUnbound({ authorityPort: knot.port, zones: trusted }));
  const dnsmasq = async (...options: string[]): Promise<number> =>
    (await started(startDnsmasq(unbound.port, nsec, options))).port;
  const own = [
    '--dnssec',
    ROOT_ANCHOR,
    '--dnssec-check-unsigned=no',
    trustAnchor(nsec, key),
    trustAnchor(tampered, good.key),
  ];
  const anchors = join(folder.path, 'anchors');
  await writeFile(anchors, `trust-anchors {\n${anchorOf(nsec, key)}${anchorOf(tampered, good.key)}};\n`);
  return {
    anchors,
    ports: {
      named: named.port,
      unbound: unbound.port,
      dnsmasq: await dnsmasq(),
      'dnsmasq --proxy-dnssec': await dnsmasq('--proxy-dnssec'),
      'dnsmasq --proxy-dnssec without a cache': await dnsmasq('--proxy-dnssec', '--cache-size=0'),
      'dnsmasq --dnssec': await dnsmasq(...own),
    },
  };
}

function anchorOf(zone: string, key: string): string {
  const [flags, protocol, algorithm, ...base64] = key.split(' ');
  return `  "${zone}" static-key ${flags} ${protocol} ${algorithm} "${base64.join('')}";\n`;
}

/** The DS of a DNSKEY in dnsmasq's format (RFC 4034 section 5.1.4 and appendix B). */
function trustAnchor(zone: string, key: string): string {
  const [flags = '', protocol, algorithm, ...base64] = key.split(' ');
  const head = [Number(flags) >> 8, Number(flags) & 0xff, Number(protocol), Number(algorithm)];
  const data = Buffer.concat([Buffer.from(head), Buffer.from(base64.join(''), 'base64')]);
  const sum = data.reduce((total, octet, at) => total + (at % 2 === 0 ? octet << 8 : octet), 0);
  const tag = (sum + (sum >> 16)) & 0xff_ff;
  const digest = createHash('sha256').update(encodeName(zone)).update(data).digest('hex');
  return `--trust-anchor=${zone.slice(0, -1)},${tag},${algorithm},2,${digest}`;
}

/**
 * The query, the zone of delv's trust anchor, the result of delv, which validates independently, and the verdict of a
 * validating resolver.
 */
const questions = [
  [`www.${nsec}`, 'A', nsec, 'fully validated', 'validated'],
  [`gone.${nsec}`, 'A', nsec, 'negative response, fully validated', 'validated'],
  [`www.${plain}`, 'A', nsec, 'unsigned answer', 'not_validated'],
  [`www.${tampered}`, 'A', tampered, 'RRSIG failed to verify', 'validation_failed'],
] as const;

describe('a resolver', () => {
  for (const resolver of ['named', 'unbound', 'dnsmasq --dnssec']) {
    itWithServers(`that validates has the verdicts of delv: ${resolver}`, async () => {
      // With a trust anchor of another root, dnsmasq considers names without an anchor bogus.
      const known = questions.filter(([name]) => resolver !== 'dnsmasq --dnssec' || !name.endsWith(plain));
      for (const [name, type, root, delv, verdict] of known) {
        expect([name, await verdictOf(lab.ports[resolver]!, name, type)]).toEqual([name, verdict]);
        expect([name, await delvSays(lab.ports['named']!, name, type, lab.anchors, root)]).toEqual([name, delv]);
      }
    });
  }

  // The cache of dnsmasq does not keep the AD bit of the upstream resolver.
  const stripped = ['not_validated', 'not_validated', 'not_validated', 'validation_failed'];
  const passedOn = ['validated', 'validated', 'not_validated', 'validation_failed'];

  for (const [resolver, first, again] of [
    ['dnsmasq', stripped, stripped],
    ['dnsmasq --proxy-dnssec', passedOn, stripped],
    ['dnsmasq --proxy-dnssec without a cache', passedOn, passedOn],
  ] as const) {
    itWithServers(`that forwards has the verdict of the one behind it, or none: ${resolver}`, async () => {
      for (const expected of [first, again]) {
        const verdicts = [];
        for (const [name, type] of questions) verdicts.push(await verdictOf(lab.ports[resolver]!, name, type));
        expect(verdicts).toEqual(expected);
      }
    });
  }
});
