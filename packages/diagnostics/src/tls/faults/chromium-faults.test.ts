import { X509Certificate } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { certificateOf } from '../certificate/certificate.ts';
import { chromiumFaults } from './chromium-faults.ts';
import { buildPath } from '../certificate/path.ts';
import { createTrustStore } from '../certificate/trust-store.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

const daysTo = (date: string): number => (Date.parse(date) - Date.now()) / 86_400_000;

let mint: CertificateMint;
let root: Issued;

describeWithOpenssl('the validity that Chromium takes (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    root = mint.issue({ subject: '/CN=Root', ca: true, from: -5_000, until: 5_000 });
  });
  afterAll(() => mint?.close());

  it.each([
    ['200 days of a public authority', true, daysTo('2026-03-16'), 200, undefined],
    ['201 days of a public authority', true, daysTo('2026-03-16'), 201, 'valid for 201 days, and Chromium takes 200'],
    ['399 days of a private authority', false, daysTo('2026-03-16'), 399, undefined],
    ['398 days before the rule of 200', true, daysTo('2026-03-14'), 398, undefined],
    ['399 days before it', true, daysTo('2026-03-14'), 399, 'valid for 399 days, and Chromium takes 398'],
    ['100 days since 2027', true, daysTo('2027-03-15'), 100, undefined],
    ['101 days since 2027', true, daysTo('2027-03-15'), 101, 'valid for 101 days, and Chromium takes 100'],
    ['47 days since 2029', true, daysTo('2029-03-15'), 47, undefined],
    ['48 days since 2029', true, daysTo('2029-03-15'), 48, 'valid for 48 days, and Chromium takes 47'],
    ['825 days before any rule', true, daysTo('2020-08-30'), 825, undefined],
    ['399 days since the first rule', true, daysTo('2020-09-02'), 399, 'valid for 399 days, and Chromium takes 398'],
  ])('ends with %s', (_reason, isPublic, from, days, expected) => {
    const leaf = mint.issue({ subject: '/CN=www.good.test', issuer: root, from, until: from + days });
    const anchors = createTrustStore([root.cert], { publicAuthorities: () => (isPublic ? [root.cert] : []) }).anchors();
    const path = buildPath([certificateOf(new X509Certificate(leaf.cert).raw)], anchors, Date.now());

    const faults = chromiumFaults({ path, anchors, isSigning: true });

    expect(path.isAnchored).toBe(true);
    expect(faults.map(({ reason }) => /valid for .*takes \d+/.exec(reason)?.[0])).toEqual(
      expected === undefined ? [] : [expected],
    );
  });

  it('knows the authorities that Node brings along as public, and its own as private', () => {
    const anchors = createTrustStore([root.cert]).anchors();

    expect(anchors.isPublic(certificateOf(new X509Certificate(root.cert).raw))).toBe(false);
    expect(anchors.named('c=us\no=internet security research group\ncn=isrg root x1').map(anchors.isPublic)).toEqual([
      true,
    ]);
  });
});
