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
    ['398 days of a public authority', true, -1, 397, false],
    ['399 days of a public authority', true, -1, 398, true],
    ['399 days of a private authority', false, -1, 398, false],
    ['825 days of a public authority before the rule', true, daysTo('2020-08-30'), daysTo('2020-08-30') + 825, false],
    ['399 days of a public authority since the rule', true, daysTo('2020-09-02'), daysTo('2020-09-02') + 399, true],
  ])('ends with %s', (_reason, isPublic, from, until, expected) => {
    const leaf = mint.issue({ subject: '/CN=www.good.test', issuer: root, from, until });
    const anchors = createTrustStore([root.cert], { publicAuthorities: () => (isPublic ? [root.cert] : []) }).anchors();
    const path = buildPath([certificateOf(new X509Certificate(leaf.cert).raw)], anchors, Date.now());

    const faults = chromiumFaults({ path, anchors, isSigning: true });

    expect(path.isAnchored).toBe(true);
    expect(faults.map(({ reason }) => /valid for \d+ days/.exec(reason)?.[0])).toEqual(
      expected ? ['valid for 399 days'] : [],
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
