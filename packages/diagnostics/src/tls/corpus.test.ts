import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { certificateCorpus, type CertificateCorpus, type CorpusServer } from '../../test/certificate-corpus.ts';
import { certificateMint, opensslVersion, type CertificateMint } from '@vantage/test-support/certificate-mint';
import { expectations, type CorpusExpectation } from '../../test/certificate-verdicts.ts';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { chromiumHere, requiredInCi } from '../../test/chromium-here.ts';
import { checkOf, problemsOf } from '../../test/http.ts';
import { startOpensslServer, type OpensslServer } from '../../test/openssl-server.ts';
import {
  curlVersion,
  secondOpinions,
  type DigQuery,
  type ChromiumOpinion,
  type SecondOpinions,
} from '../../test/second-opinions.ts';
import { scanOf, sslscan, sslscanDifferences, type Scan } from '../../test/sslscan.ts';
import { createTrustStore, type TrustStore } from './certificate/trust-store.ts';

const tools = requiredInCi(opensslVersion() === null || curlVersion() === null ? 'openssl and curl are needed' : null);
const scannerMissing = requiredInCi(tools ?? (await packagesMissing(['sslscan'])));
const { missing: chromiumMissing, open: openChromium } = await chromiumHere(tools);

const names = Object.keys(expectations);
/** One in this many servers is also tested with TLS 1.2. */
const EVERY = 6;

let mint: CertificateMint;
let corpus: CertificateCorpus;
let trust: TrustStore;
let opinions: SecondOpinions;
let chromium: ChromiumOpinion | undefined;
let scanner: string | undefined;

beforeAll(async () => {
  if (tools !== null) return;
  mint = certificateMint();
  corpus = certificateCorpus(mint);
  const trusted = [...corpus.roots, ...corpus.trustedServers];
  trust = createTrustStore(trusted.map(({ cert }) => cert));
  opinions = secondOpinions(trusted);
  if (scannerMissing === null) scanner = (await unpackPackages('sslscan')).program('sslscan');
  chromium = await openChromium({ roots: corpus.roots, servers: corpus.trustedServers });
});

afterAll(async () => {
  await chromium?.close();
  opinions?.close();
  mint?.close();
});

describe('the verdicts on the servers of the corpus', () => {
  it.each(Object.entries(expectations))('have a reason where they differ: %s', (_name, expectation) => {
    const { check, openssl, curl, chromium, why } = expectation;
    const accepted = [check.length === 0, openssl.length === 0, curl, chromium === '200'];

    expect(new Set(accepted).size > 1).toBe(why !== undefined);
  });

  // If the check fails for another reason, Chromium's verdict may be either.
  it.each(Object.entries(expectations).filter(([, { check }]) => check.length === 0))(
    'name what Chromium refuses, and nothing that it takes: %s',
    (_name, { chromium, chromiumFaults = [] }) => {
      expect(chromiumFaults.length > 0).toBe(chromium !== '200');
    },
  );

  it.each(Object.entries(expectations))('name every fault that OpenSSL finds: %s', (_name, expectation) => {
    const codes = expectation.check.map((fault) => fault.replace(/@.*/, ''));

    expect(unnamed(expectation, codes)).toEqual([]);
  });
});

(tools === null ? describe : describe.skip)(
  `each server of the corpus${tools === null ? '' : ` (skipped: ${tools})`}`,
  () => {
    const note = (missing: string | null): string => (missing === null ? '' : ` (skipped: ${missing})`);
    const others = `openssl, curl, Chromium${note(chromiumMissing)} and sslscan${note(scannerMissing)}`;
    it.each(names)(`%s is seen as expected by the check, ${others}`, async (name) => {
      const server = serverOf(name);
      // Verification does not depend on the version: few servers are also tested with TLS 1.2, and only by the check
      // and sslscan.
      const isEarlier = names.indexOf(name) % EVERY === 0 && server.tls13Only !== true;
      await Promise.all([expectOpinions(server), ...(isEarlier ? [expectEarlier(server)] : [])]);
    });
  },
);

const described = chromiumMissing === null ? describe : describe.skip;
described(`Chromium on the corpus${chromiumMissing === null ? '' : ` (skipped: ${chromiumMissing})`}`, () => {
  it.each(['-tls1', '-tls1_1'])('refuses a good certificate by %s, which the check only reports', async (version) => {
    const server = serverOf('good');
    await using served = await serve(server, version);
    const { port } = served;

    expect(await chromium!.visit({ host: server.host, port })).toMatch(
      /^ERR_SSL_(VERSION_OR_CIPHER_MISMATCH|PROTOCOL_ERROR)$/,
    );
    expect((await check(server, port)).tls).toMatchObject({ authorized: true });
  });
});

function serverOf(name: string): CorpusServer {
  return corpus.servers.find((server) => server.name === name)!;
}

async function serve(
  { certificate, chain, staple }: CorpusServer,
  version: string,
): Promise<OpensslServer & AsyncDisposable> {
  const stapled = staple === undefined ? {} : { staple };
  const served = await startOpensslServer({ certificate, chain, ...stapled, args: ['-www', version] });
  return { ...served, [Symbol.asyncDispose]: served.close };
}

function check({ host }: CorpusServer, port: number): Promise<Outcome> {
  return checkOf(`https://${host}:${port}/`, {}, { hosts: { [host]: ['127.0.0.1'] }, trust });
}

/** Runs the check and other programs one after the other: `openssl s_server` answers one client at a time. */
async function expectOpinions(server: CorpusServer): Promise<void> {
  await using served = await serve(server, '-tls1_3');
  const asked = { host: server.host, port: served.port };

  const seen = await expectCheck(server, served.port, '-tls1_3');
  expect(await opinions.openssl(asked)).toEqual(server.openssl);
  expect(await opinions.curl(asked)).toBe(server.curl);
  if (chromium !== undefined) expect(await chromium.visit(asked)).toBe(server.chromium);
  await expectScan(asked, server.name, seen, '1.3');
}

/** Compares the check and sslscan at a TLS 1.2 server. */
async function expectEarlier(server: CorpusServer): Promise<void> {
  await using served = await serve(server, '-tls1_2');
  const seen = await expectCheck(server, served.port, '-tls1_2');
  await expectScan({ host: server.host, port: served.port }, server.name, seen, '1.2');
}

type Outcome = Awaited<ReturnType<typeof checkOf>>;

async function expectCheck(server: CorpusServer, port: number, version: string): Promise<Outcome> {
  const outcome = await check(server, port);

  expect({ version, faults: faultsOf(outcome) }).toEqual({ version, faults: server.check });
  expect((outcome.tls?.chromiumFaults ?? []).map(({ certificate }) => certificate)).toEqual(
    server.chromiumFaults ?? [],
  );
  expect(outcome.tls?.authorizationError ?? null).toBe(server.check[0]?.replace(/@.*/, '') ?? null);
  expect(outcome.error?.code ?? null).toBe(outcome.tls?.authorizationError ?? null);
  expect(problemsOf(outcome)).toEqual([]);
  const reasons = outcome.tls?.faults?.map(({ reason }) => reason).join(' ') ?? '';
  expect(reasons).toMatch(reasonOf[server.name] ?? /^/);
  expect(reasons).not.toContain('UNSPECIFIED');
  return outcome;
}

/** @param version the only one that the server speaks */
async function expectScan(asked: DigQuery, name: string, outcome: Outcome, version: '1.2' | '1.3'): Promise<void> {
  if (scanner === undefined) return;
  const seen = scanOf(outcome);
  const said = sslscanDifferences[name]?.said ?? {};
  for (const [field, value] of Object.entries(said)) expect(seen[field as keyof Scan]).not.toBe(value);
  expect(await sslscan(scanner, asked, version)).toEqual({ ...seen, ...said });
}

function faultsOf({ tls }: Outcome): readonly string[] | undefined {
  return tls?.faults?.map(({ code, certificate }) => `${code}@${certificate}`);
}

/** Expected message of faults with a shared code: it must identify what to fix. */
const reasonOf: Readonly<Record<string, RegExp>> = {
  'weak-leaf-key': /key .*1,?024/i,
  'weak-leaf-signature': /sign.*SHA-?1|SHA-?1.*sign/i,
  'weak-leaf-md5': /MD5/i,
  'weak-authority-reversed': /key .*1,?024/i,
  'sha1-authority-reversed': /SHA-?1/i,
  'constraint-permitted': /permit|constrain/i,
  'constraint-excluded': /exclud|constrain/i,
  'critical-unknown': /critical/i,
  'authority-may-not-sign': /sign/i,
  'explicit-curve': /explicit|parameters|curve/i,
};

/** Failure codes for the error messages of OpenSSL. */
const codeOf: readonly (readonly [RegExp, string])[] = [
  [/^self-signed certificate$/, 'tls_self_signed'],
  [/^self-signed certificate in|^unable to (get|verify)/, 'tls_unknown_issuer'],
  [/has expired/, 'tls_expired'],
  [/not yet valid/, 'tls_not_yet_valid'],
  [/mismatch$/, 'tls_hostname_mismatch'],
  [/too weak$/, 'tls_weak_key'],
  [/./, 'tls_untrusted'],
];

function unnamed({ openssl, why }: CorpusExpectation, codes: readonly string[]): readonly string[] {
  const wanted = openssl.map((error) => codeOf.find(([pattern]) => pattern.test(error))![1]);
  return wanted.filter((code) => {
    const same = code === 'tls_unknown_issuer' ? [code, 'tls_missing_intermediate'] : [code];
    return why === undefined && !same.some((one) => codes.includes(one));
  });
}
