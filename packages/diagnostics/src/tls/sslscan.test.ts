import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { certificateCorpus, type CertificateCorpus } from '../../test/certificate-corpus.ts';
import { certificateMint, opensslVersion, type CertificateMint } from '@vantage/test-support/certificate-mint';
import { expectations } from '../../test/certificate-verdicts.ts';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { checkOf } from '../../test/http.ts';
import { itNeeding } from '@vantage/test-support/needs';
import { startOpensslServer } from '../../test/openssl-server.ts';
import { sslscan, type Scan } from '../../test/sslscan.ts';
import { createTrustStore, type TrustStore } from './certificate/trust-store.ts';

const missing = opensslVersion() === null ? 'openssl is needed' : await packagesMissing(['sslscan']);
const itWithSslscan = itNeeding(missing, process.env['CI']);

const pss = 'sslscan does not name the hash of RSASSA-PSS, by which the check calls a signature weak';
const key = 'sslscan knows no key of this kind';

/** Differences between the check and sslscan, with the reasons. */
const differences: Readonly<Record<string, { readonly said: Partial<Scan>; readonly why: string }>> = {
  'weak-leaf-pss-sha1': { said: { signature: 'rsassaPss' }, why: pss },
  'authority-rsa-pss': { said: { signature: 'rsassaPss' }, why: pss },
  'key-ed25519': { said: { key: null }, why: key },
  'key-ed448': { said: { key: null }, why: key },
  'key-rsa-pss': { said: { key: null }, why: key },
};

describe('the certificate of each server of the corpus', () => {
  let mint: CertificateMint;
  let corpus: CertificateCorpus;
  let trust: TrustStore;
  let program: string;

  beforeAll(async () => {
    if (missing !== null) return;
    mint = certificateMint();
    corpus = certificateCorpus(mint);
    trust = createTrustStore([...corpus.roots, ...corpus.trustedServers].map(({ cert }) => cert));
    program = (await unpackPackages('sslscan')).program('sslscan');
  });
  afterAll(() => mint?.close());

  for (const name of Object.keys(expectations)) {
    itWithSslscan(
      `${name} is what sslscan sees${differences[name] === undefined ? '' : `, but that ${differences[name].why}`}`,
      async () => {
        const { host, certificate, chain, tls13Only } = corpus.servers.find((server) => server.name === name)!;
        const version = tls13Only === true ? '1.3' : '1.2';
        const args = ['-www', version === '1.3' ? '-tls1_3' : '-tls1_2'];
        const server = await startOpensslServer({ certificate, chain, args });
        try {
          const { port } = server;
          const outcome = await checkOf(`https://${host}:${port}/`, {}, { hosts: { [host]: ['127.0.0.1'] }, trust });

          const seen = seenBy(outcome);
          const said = differences[name]?.said ?? {};
          for (const [field, value] of Object.entries(said)) expect(seen[field as keyof Scan]).not.toBe(value);
          expect(await sslscan(program, { host, port }, version)).toEqual({ ...seen, ...said });
        } finally {
          await server.close();
        }
      },
    );
  }
});

/** The result of a check in the form of a scan. */
function seenBy({ tls }: Awaited<ReturnType<typeof checkOf>>): Scan {
  const [leaf] = tls!.chain;
  const { subject, issuer, subjectAltNames, signatureAlgorithm, keyType, keyBits, validFrom, validUntil } = leaf!;
  return {
    version: tls!.protocol,
    commonName: commonNameOf(subject),
    issuer: commonNameOf(issuer),
    names: subjectAltNames,
    signature: signatureAlgorithm ?? null,
    key: `${keyType} ${keyBits}`,
    validFrom,
    validUntil,
    selfSigned: subject === issuer,
    expired: (tls!.faults ?? []).some(({ code, certificate }) => code === 'tls_expired' && certificate === 0),
  };
}

function commonNameOf(name: string): string | null {
  return /(?:^|, )CN=([^,]*)/.exec(name)?.[1] ?? null;
}
