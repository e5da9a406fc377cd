import { X509Certificate } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { numbers } from '../../../test/numbers.ts';
import { certificateOf, issuerUrlOf, labelOf, type Certificate } from './certificate.ts';
import { certificateFieldsOf, daysLeft, describeChain } from './describe-certificate.ts';
import { hostMismatch } from './host-names.ts';
import { linkFaults } from '../faults/link-faults.ts';
import { keyWeakness, signatureWeakness } from './strength.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

let mint: CertificateMint;
let root: Issued;

describeWithOpenssl('a certificate (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    root = mint.issue({ subject: '/O=Trust/CN=Root', ca: true });
  });
  afterAll(() => mint?.close());

  it.each<[string, readonly string[], string | null, number | null]>([
    ['RSA', ['rsa:3072'], 'rsa', 3072],
    ['RSA-PSS', ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'], 'rsa-pss', 2048],
    ['P-256', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], 'ec', 256],
    ['P-521', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521'], 'ec', 521],
    ['Ed25519', ['ed25519'], 'ed25519', 256],
    ['Ed448', ['ed448'], 'ed448', 456],
  ])('has the kind and size of its key shown: %s', (_name, key, keyType, keyBits) => {
    const chain = [certificateOf(derOf(mint.issue({ subject: '/CN=x', issuer: root, key })))];

    expect(describeChain(chain)).toMatchObject([{ keyType, keyBits }]);
    expect([keyWeakness(chain[0]!), signatureWeakness(chain[0]!)]).toEqual([null, null]);
  });

  it.each<[string, readonly string[], string, boolean]>([
    ['the name', ['DNS:a.test'], 'a.test', true],
    ['a name below a wildcard', ['DNS:*.a.test'], 'b.a.test', true],
    ['a name two below a wildcard', ['DNS:*.a.test'], 'c.b.a.test', false],
    ['an address', ['IP:192.0.2.1'], '192.0.2.1', true],
    ['an address that is there as a name', ['DNS:192.0.2.1'], '192.0.2.1', false],
    ['the common name next to another name', ['DNS:a.test'], 'common.test', false],
    ['a name within another kind of name', ['URI:http://x/,DNS:b.test'], 'b.test', false],
  ])('is held against a host: %s', (_reason, names, host, expected) => {
    const leaf = certificateOf(derOf(mint.issue({ subject: '/CN=common.test', names, issuer: root })));

    expect(hostMismatch(host, leaf.serverNames) === null).toBe(expected);
  });

  it('names Chromium for a wildcard over a registry, which Firefox takes', () => {
    const served = { commonName: null, names: ['*.co.uk'], addresses: [] };

    expect(hostMismatch('a.co.uk', served)).toContain('Chromium refuses it, though other clients take it');
  });

  it('throws nothing, whichever of its bytes are changed', () => {
    const names = ['DNS:good.test', 'IP:192.0.2.1', 'URI:http://x/,DNS:a', 'email:a@b.test'];
    const extensions = ['authorityInfoAccess = caIssuers;URI:http://ca.test/i.crt'];
    const raw = derOf(mint.issue({ subject: '/O=Söhne/CN=good.test', names, issuer: root, extensions }));
    const random = numbers(0x5eed);
    let readable = 0;
    for (let round = 0; round < 4_000; round += 1) {
      const changed = Buffer.from(raw);
      for (let changes = 1 + random(3); changes > 0; changes -= 1) changed[random(changed.length)] = random(256);
      const leaf = readableOf(changed);
      if (leaf === undefined) continue;
      readable += 1;
      expect(() => [
        certificateFieldsOf(leaf),
        describeChain([leaf]),
        keyWeakness(leaf),
        signatureWeakness(leaf),
        linkFaults({ certificates: [leaf, leaf], isAnchored: false, isSound: false }, Date.now()),
        labelOf(leaf),
        daysLeft(leaf, Date.now()),
        issuerUrlOf(leaf),
        hostMismatch('good.test', leaf.serverNames),
      ]).not.toThrow();
    }
    expect(readable).toBeGreaterThan(500);
  });
});

function derOf({ cert }: Issued): Buffer {
  return new X509Certificate(cert).raw;
}

function readableOf(der: Buffer): Certificate | undefined {
  try {
    return certificateOf(der);
  } catch {
    return undefined;
  }
}
