import { X509Certificate } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { numbers } from '../../../test/numbers.ts';
import { DerError } from './der.ts';
import { describeStaple, isRevoked } from './ocsp.ts';
import { readOcspResponse } from './ocsp-response.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

const DAY_MS = 86_400_000;

let mint: CertificateMint;
let issuer: Issued;
let leaf: Issued;
let revoked: Buffer;

describeWithOpenssl('a stapled OCSP response (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    issuer = mint.issue({ subject: '/CN=Issuer', ca: true });
    leaf = mint.issue({ subject: '/CN=leaf', issuer });
    revoked = mint.ocspResponse({ certificate: leaf, issuer, revoked: true });
  });
  afterAll(() => mint?.close());

  it.each<[string, number, boolean]>([
    ['now', 0, true],
    ['a little before it was made, by a clock that is slow', -60_000, true],
    ['a day before it was made', -DAY_MS, false],
    ['two days after', 2 * DAY_MS, false],
  ])('counts as a revocation %s, and says whether it is current', (_reason, later, current) => {
    const ocsp = described(revoked, Date.now() + later);

    expect(ocsp).toMatchObject({ status: 'revoked', signature: 'issuer', current });
    expect(isRevoked(ocsp)).toBe(true);
  });

  it.each([
    ['while its response is current', 0, true],
    ['but not by an old response: it may have ended', 2 * DAY_MS, false],
  ])('counts as a revocation if the certificate is on hold, %s', (_reason, later, isNow) => {
    const held = mint.ocspResponse({ certificate: leaf, issuer, revoked: true, reason: 'certificateHold' });
    const ocsp = described(held, Date.now() + later);

    expect(ocsp).toMatchObject({ status: 'revoked', revocationReason: 'certificateHold', current: isNow });
    expect(isRevoked(ocsp)).toBe(isNow);
  });

  it.each([
    ['rsa', ['rsa:2048'], 'sha256'],
    ['ec', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'], 'sha384'],
    ['ed25519', ['ed25519'], 'sha256'],
  ])('has its signature verified with a key of %s', (_type, key, digest) => {
    const own = mint.issue({ subject: '/CN=Other Issuer', ca: true, key });
    const below = mint.issue({ subject: '/CN=below', issuer: own, digest: key[0] === 'ed25519' ? 'default' : digest });
    const staple = mint.ocspResponse({ certificate: below, issuer: own });

    const ocsp = describeStaple(staple, parsed(below), parsed(own), Date.now());

    expect(ocsp).toMatchObject({ status: 'good', signature: 'issuer', current: true });
    expect(isRevoked(ocsp)).toBe(false);
  });

  it('is believed where the issuer is not known, but reported as unchecked', () => {
    const ocsp = describeStaple(revoked, parsed(leaf), undefined, Date.now());

    expect(ocsp).toMatchObject({ status: 'revoked', signature: 'unchecked' });
    expect(isRevoked(ocsp)).toBe(true);
  });

  it('is not believed where one bit of what is signed is another', () => {
    const changed = Buffer.from(revoked);
    // Changes a byte of the revocation time, which the signature covers.
    changed[changed.indexOf('20260101000000Z') + 3]! ^= 1;

    const ocsp = described(changed);

    expect(ocsp).toMatchObject({ status: 'revoked', revokedAt: '2027-01-01T00:00:00.000Z', signature: 'invalid' });
    expect(isRevoked(ocsp)).toBe(false);
  });

  it.each<[string, () => Buffer | null, object | null]>([
    ['there is none', () => null, null],
    ['it is empty', () => Buffer.alloc(0), null],
    ['it is cut', () => revoked.subarray(0, -1), { status: 'malformed' }],
    ['it is longer than it says', () => Buffer.concat([revoked, Buffer.alloc(1)]), { status: 'malformed' }],
    ['it is no DER', () => Buffer.from('hello'), { status: 'malformed' }],
    ['it is too large', () => Buffer.alloc(100_000, 0x30), { status: 'malformed' }],
    ['it says that it is an error', () => Buffer.from('30030a0106', 'hex'), { status: 'error' }],
  ])('says so where %s', (_reason, staple, expected) => {
    const ocsp = described(staple());

    if (expected === null) expect(ocsp).toBeNull();
    else expect(ocsp).toMatchObject(expected);
    expect(isRevoked(ocsp)).toBe(false);
  });

  it('ends in nothing but its own error, whichever bytes of it are changed', () => {
    const random = numbers(0x0c5b);
    const outcomes = { read: 0, refused: 0 };
    for (let round = 0; round < 5_000; round += 1) {
      const changed = Buffer.from(revoked.subarray(0, 1 + random(revoked.length)));
      for (let changes = 1 + random(4); changes > 0; changes -= 1) changed[random(changed.length)] = random(256);
      const bytes = round % 2 === 0 ? changed : Buffer.concat([changed, revoked.subarray(changed.length)]);
      try {
        readOcspResponse(bytes);
        outcomes.read += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(DerError);
        outcomes.refused += 1;
      }
      expect(() => described(bytes)).not.toThrow();
    }
    expect(outcomes.read).toBeGreaterThan(100);
    expect(outcomes.refused).toBeGreaterThan(100);
  });
});

function described(staple: Buffer | null, nowMs = Date.now()): ReturnType<typeof describeStaple> {
  return describeStaple(staple, parsed(leaf), parsed(issuer), nowMs);
}

function parsed({ cert }: Issued): X509Certificate {
  return new X509Certificate(cert);
}
