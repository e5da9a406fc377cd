import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import {
  certificateMint,
  opensslVersion,
  withUnreadableKey,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { itNeeding } from '@vantage/test-support/needs';

import { certificateOf, type Certificate } from './certificate.ts';
import { daysLeft, describeChain } from './describe-certificate.ts';

const itByOpenssl = itNeeding(opensslVersion() === null ? 'openssl' : null, process.env['CI']);

describe('the fingerprint of a public key', () => {
  const ours = ({ cert }: Issued): string | undefined =>
    describeChain([certificateOf(new X509Certificate(cert).raw)])[0]!.publicKey256;
  const opensslOf = ({ cert }: Issued): string => {
    const key = execFileSync('openssl', ['x509', '-noout', '-pubkey'], { input: cert });
    const der = execFileSync('openssl', ['pkey', '-pubin', '-outform', 'der'], { input: key });
    return createHash('sha256').update(der).digest('hex');
  };

  itByOpenssl('is that of openssl, and stays when a certificate is renewed with its key', async () => {
    const mint = certificateMint();
    try {
      const kinds = [['rsa:2048'], ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], ['ed25519']];
      for (const key of kinds) {
        const first = mint.issue({ subject: '/CN=example.org', key });
        const renewed = mint.issue({ subject: '/CN=example.org', keyOf: first, until: 90 });
        const other = mint.issue({ subject: '/CN=example.org', key });

        expect(ours(first)?.replaceAll(':', '').toLowerCase()).toBe(opensslOf(first));
        expect([ours(renewed), ours(renewed) === ours(other)]).toEqual([ours(first), false]);
      }
      expect(ours(withUnreadableKey(mint.issue({ subject: '/CN=example.org' })))).toBeUndefined();
    } finally {
      mint.close();
    }
  });
});

const DAY_MS = 86_400_000;
const end = Date.parse('2026-01-10T12:00:00Z');

describe('the days until a certificate expires', () => {
  it.each([
    ['sixty days before, to the second', 60, 60],
    ['some hours less than that', 59.5, 59],
    ['on the last day', 0.5, 0],
    ['an hour after its end', -1 / 24, -1],
    ['a day and a half after', -1.5, -1],
    ['three days after, to the second', -3, -3],
    ['three days and an hour after', -3 - 1 / 24, -3],
  ])('are whole ones, and negative once it has: %s', (_when, days, expected) => {
    const certificate = { parsed: { validToDate: new Date(end) } as X509Certificate } as Certificate;

    expect(daysLeft(certificate, end - days * DAY_MS)).toBe(expected);
  });

  it('are not known of an end that is no date', () => {
    const certificate = { parsed: { validToDate: new Date(Number.NaN) } as X509Certificate } as Certificate;

    expect(daysLeft(certificate, end)).toBeNull();
  });
});
