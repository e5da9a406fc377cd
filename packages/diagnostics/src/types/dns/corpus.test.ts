import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { resultSchema, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { testContext } from '@vantage/test-support/context';
import { temporaryFolder } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { authorityCorpus, hostileCorpus, hostileTcpCorpus, zoneCorpus } from '../../../test/dns-corpus.ts';
import { CORPUS_ZONE, corpusZoneFile } from '../../../test/dns-corpus-zone.ts';
import {
  nameServerPackages,
  startNsd,
  startPdns,
  startUnbound,
  type NameServerDaemon,
} from '../../../test/dns-daemons.ts';
import { dig, digMissing, type Dug } from '@vantage/test-support/dns/dig';
import { answerHostile, HOSTILE_ZONE, hostileBehaviours } from '../../../test/dns-hostile.ts';
import { signedZones, startKnot, type Knot } from '@vantage/test-support/dns/knot';
import { startNamed, type Named } from '../../../test/dns-named.ts';
import { delvSays, digSays, told } from '../../../test/dns-second-opinion.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import { startDnsServer, type DnsServer } from '@vantage/test-support/dns/server';
import { signZone } from '../../../test/dns-signed-by-hand.ts';
import { zoneFile } from '@vantage/test-support/dns/zone';
import { itNeeding } from '@vantage/test-support/needs';
import type { Outcome } from '../../diagnostic.ts';
import { dns } from './contract.ts';
import { runDns } from './run.ts';

type Options = ParamsOf<typeof dns>['options'];

const noOpenssl = opensslVersion() === null ? 'openssl not found' : null;
const noDig = await digMissing();
const noServers = await packagesMissing(['knot', 'knot-dnsutils'], ['bind9'], ...nameServerPackages);
const itWithDig = itNeeding(noDig, process.env['CI']);
const itWithServers = itNeeding(noServers ?? noDig ?? noOpenssl, process.env['CI']);
// Concurrent: what fails validation is asked again after more than a second.
const itMeanwhile = itNeeding(noServers ?? noDig ?? noOpenssl, process.env['CI'], 'concurrent');

const defaults: Options = {
  transport: 'udp',
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
  nsid: false,
  trace: false,
};

async function ask(
  port: number,
  host: string,
  recordType: string,
  options: Partial<Options> = {},
  certificateAuthorities: readonly string[] = [],
): Promise<Outcome<typeof dns>> {
  const context = testContext<typeof dns>({
    resolvers: [`127.0.0.1:${port}`],
    hosts: { 'resolver.example': ['127.0.0.1'] },
    certificateAuthorities,
  });
  const params = { host, recordType, options: { ...defaults, ...options } };
  const outcome = await runDns(params, context, undefined, patientWaits);
  const now = new Date().toISOString();
  expect([...Value.Errors(resultSchema(dns), { ...outcome, startedAt: now, finishedAt: now })]).toEqual([]);
  return outcome;
}

describe('a server that may do anything', () => {
  const open: DnsServer[] = [];

  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });

  it('has a row in the table for each thing it does', () => {
    expect(Object.keys(hostileCorpus)).toEqual(Object.keys(hostileBehaviours));
  });

  const rows = [
    ...Object.entries(hostileCorpus).map(([label, row]) => ['udp', label, row] as const),
    ...Object.entries(hostileTcpCorpus).map(([label, row]) => ['tcp', label, row] as const),
  ];
  for (const [transport, label, row] of rows) {
    const likeDig = row.why === undefined ? 'as dig' : `not as dig: ${row.why}`;
    itWithDig(`${label} over ${transport}: ${row.kind ?? 'no answer'}; ${likeDig}`, async () => {
      const server = await startDnsServer(answerHostile);
      open.push(server);
      const host = `${label}.${HOSTILE_ZONE}`;

      const outcome = await ask(server.port, host, 'A', { transport });
      const { message, warnings } = await digSays(server.port, host, 'A', ...(transport === 'tcp' ? ['+tcp'] : []));

      const ours = saidOf(outcome);
      expect({ ours, kind: outcome.answerKind }).toEqual({ ours: row.ours, kind: row.kind });
      expect(outcome.error?.code).toBe(row.code);
      expect(outcome.formatError ?? undefined).toBe(row.breach);
      const isSame = message === ours && warnings.every((warning) => isTold(warning, outcome));
      // A difference that no longer exists must leave the table.
      expect(isSame ? undefined : [message, ...warnings].join(', ')).toBe(row.dig);
      expect(row.why === undefined).toBe(row.dig === undefined);
    });
  }
});

function saidOf({ rcode, answers = [], authority = [] }: Outcome<typeof dns>): string {
  if (rcode === undefined) return 'nothing';
  const data = answers.map((record) => record.data);
  return told(rcode, `${answers.length}/${authority.length}`, data);
}

/** True if the result has the information that dig prints as a warning. */
function isTold(warning: string, { flags, transport, answerKind, formatError, error }: Outcome<typeof dns>): boolean {
  switch (warning) {
    case 'no recursion':
      return flags?.includes('ra') === false;
    case 'truncated':
      return transport === 'tcp';
    case 'malformed':
      return answerKind === 'malformed';
    case 'id mismatch':
    case 'question mismatch':
      return flags === undefined && error?.code === 'dns_bad_response';
    case 'extra octets':
      return formatError?.includes('after the last record') === true;
    default:
      return false;
  }
}

const zones = { [CORPUS_ZONE]: corpusZoneFile };
const { nsec, plain } = signedZones;
const [tampered, expired] = ['tampered.example.', 'expired.example.'];

interface Lab {
  readonly knot: Knot;
  readonly nsd: NameServerDaemon;
  readonly pdns: NameServerDaemon;
  readonly named: Named;
  readonly unbound: NameServerDaemon;
  /** Trust anchors for delv, and the authority of the resolver's certificate, as files. */
  readonly anchors: string;
  readonly authorityFile: string;
  readonly authority: Issued;
}

let mint: CertificateMint | undefined;
let lab: Lab;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if ((noServers ?? noDig ?? noOpenssl) !== null) return;
  lab = await startLab();
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
  const old = await signZone(expired, zoneFile(expired, []), {
    valid: { from: '20200101000000', until: '20200201000000' },
  });
  const signed = {
    [plain]: zoneFile(plain),
    [nsec]: zoneFile(nsec),
    [tampered]: good.file.replaceAll('192.0.2.10', '192.0.2.66'),
    [expired]: old.file,
  };
  const knot = await started(startKnot({ zones: { ...zones, ...signed } }));
  const [keys] = await dig(knot.port, [[nsec, 'DNSKEY']]);
  const trusted: Readonly<Record<string, string | null>> = {
    [CORPUS_ZONE]: null,
    [plain]: null,
    [nsec]: keys!.answers[0]!.data,
    [tampered]: good.key,
    [expired]: old.key,
  };
  mint = certificateMint();
  const authority = mint.issue({ subject: '/CN=The lab', ca: true });
  const certificate = mint.issue({
    subject: '/CN=resolver.example',
    names: ['DNS:resolver.example'],
    issuer: authority,
  });
  const anchors = join(folder.path, 'anchors');
  await writeFile(anchors, `trust-anchors {\n${Object.entries(trusted).map(anchorOf).join('')}};\n`);
  const authorityFile = join(folder.path, 'authority.pem');
  await writeFile(authorityFile, authority.cert);
  const authorityPort = knot.port;
  const asked = Object.entries(trusted).map(([zone, key]) => ({ zone, key }));
  const [nsd, pdns, named, unbound] = await Promise.all([
    started(startNsd(zones)),
    started(startPdns(zones)),
    started(startNamed({ authorityPort, certificate, zones: asked })),
    started(startUnbound({ authorityPort, zones: trusted })),
  ]);
  return { knot, anchors, authorityFile, authority, nsd, pdns, named, unbound };
}

function anchorOf([zone, key]: readonly [string, string | null]): string {
  if (key === null) return '';
  const [flags, protocol, algorithm, ...base64] = key.split(' ');
  return `  "${zone}" static-key ${flags} ${protocol} ${algorithm} "${base64.join('')}";\n`;
}

/** The parts that are compared: not the additional section, nor the TTLs, which count down in a resolver. */
const view = ({ rcode, flags, answers = [], authority = [], size }: Outcome<typeof dns> | Dug): object => ({
  rcode,
  flags: [...(flags ?? [])],
  size,
  answers: answers.map(({ name, type, data }) => `${name} ${type} ${data}`).toSorted(),
  authority: authority.map(({ name, type, data }) => `${name} ${type} ${data}`).toSorted(),
});

describe.each(['knot', 'nsd', 'pdns', 'named', 'unbound'] as const)('the answers of %s', (server) => {
  const isAuthority = ['knot', 'nsd', 'pdns'].includes(server);

  itWithServers('are what dig sees, and of the kinds that RFC 1034, 2308, 6604 and 6672 make them', async () => {
    const rows = isAuthority ? [...zoneCorpus, ...authorityCorpus] : zoneCorpus;
    const questions = rows.map(({ question }) => {
      const [name = '', type = ''] = question.split(' ');
      return [absolute(name), type] as const;
    });
    // A cached answer may have other sections than the first one.
    if (!isAuthority) await dig(lab[server].port, questions);
    const dug = await dig(lab[server].port, questions);

    for (const [at, { question, kind, canonical, but }] of rows.entries()) {
      const [name, type] = questions[at]!;
      const outcome = await ask(lab[server].port, name, type);

      expect([question, outcome.answerKind]).toEqual([question, but?.[server]?.kind ?? kind]);
      expect([question, view(outcome)]).toEqual([question, view(dug[at]!)]);
      if (but?.[server] !== undefined) continue;
      expect([question, outcome.canonicalName]).toEqual([
        question,
        canonical === undefined ? null : absolute(canonical),
      ]);
    }
  });
});

function absolute(name: string): string {
  return name.endsWith('.') ? name : `${name}.${CORPUS_ZONE}`;
}

/** Queries to a validating resolver: reason, zone, name in it, type, the verdict of the check, and delv's. */
const signatures = [
  ['good signatures', nsec, 'www', 'A', 'validated', 'fully validated'],
  ['good signatures of a missing type', nsec, 'www', 'MX', 'validated', 'negative response, fully validated'],
  ['good signatures of a missing name', nsec, 'gone', 'A', 'validated', 'negative response, fully validated'],
  ['good signatures of a wildcard', nsec, 'a.wild', 'TXT', 'validated', 'fully validated'],
  ['no signatures', plain, 'www', 'A', 'not_validated', 'unsigned answer'],
  ['changed data', tampered, 'www', 'A', 'validation_failed', 'RRSIG failed to verify'],
  // The signatures of the keys expired at the same time as those of the data.
  ['expired signatures', expired, 'www', 'A', 'validation_failed', 'broken trust chain'],
] as const;

describe('a validating resolver', () => {
  for (const server of ['named', 'unbound'] as const)
    for (const [reason, zone, owner, type, verdict, delv] of signatures) {
      itMeanwhile(`has the verdict of delv, which validates independently: ${server}, ${reason}`, async () => {
        const { port } = lab[server];
        const name = `${owner}.${zone}`;

        const outcome = await ask(port, name, type);

        expect(outcome.dnssec?.verdict).toBe(verdict);
        // An unsigned zone has no trust anchor.
        expect(await delvSays(port, name, type, lab.anchors, zone === plain ? nsec : zone)).toBe(delv);
      });
    }

  for (const transport of ['tls', 'https'] as const) {
    itMeanwhile(`says over ${transport} what kdig hears over it (named)`, async () => {
      const port = { tls: lab.named.tlsPort, https: lab.named.httpsPort }[transport];
      const trust = [`+tls-ca=${lab.authorityFile}`, '+tls-hostname=resolver.example'];
      const over = transport === 'tls' ? '+tls' : '+https=resolver.example/dns-query';

      for (const [name, kind] of [
        [`www.${nsec}`, 'answer'],
        [absolute('dangling'), 'nxdomain'],
        [absolute('half'), 'nodata'],
        [`www.${tampered}`, 'error'],
      ] as const) {
        const options = { resolver: `resolver.example:${port}`, transport };
        const outcome = await ask(lab.named.port, name, 'A', options, [lab.authority.cert]);
        const text = await lab.knot.kdig('-p', String(port), over, ...trust, name, 'A');

        const [, status, answers, authority] = /status: (\w+);[^]*ANSWER: (\d+); AUTHORITY: (\d+);/.exec(text)!;
        expect([name, outcome.answerKind]).toEqual([name, kind]);
        expect([name, outcome.rcode, outcome.answers?.length, outcome.authority?.length]).toEqual([
          name,
          status,
          Number(answers),
          Number(authority),
        ]);
      }
    });
  }
});
