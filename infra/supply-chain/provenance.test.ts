import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { preAuthEncoding, seal, type Envelope } from './envelope.ts';
import { attest, fileDigest, verifyAttestation, type Source } from './provenance.ts';

const keys = generateKeyPairSync('ed25519');
const source: Source = {
  commit: 'c'.repeat(40),
  isChanged: false,
  materials: [{ name: 'pnpm-lock.yaml', digest: { sha256: 'd'.repeat(64) } }],
};

describe('an attestation of provenance', () => {
  let folder: string;
  let envelope: Envelope;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-provenance-'));
    writeFileSync(join(folder, 'a.cdx.json'), '{}');
    const sha256 = createHash('sha256').update('{}').digest('hex');
    envelope = attest([{ name: 'a.cdx.json', digest: { sha256 } }], source, keys);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const verify = (given = envelope, key = keys.publicKey): unknown =>
    verifyAttestation(given, key, (name) => fileDigest(folder, name));
  const statement = (): Record<string, unknown> =>
    JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as Record<string, unknown>;

  it('says which commit a file was built from', () => {
    expect(verify()).toEqual({ commit: source.commit, isChanged: false, subjects: ['a.cdx.json'] });
  });

  it('is an in-toto statement with SLSA provenance', () => {
    expect(statement()).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: expect.stringMatching(/^urn:/),
          resolvedDependencies: [
            { uri: 'git+file:.', digest: { gitCommit: source.commit } },
            { uri: 'file:pnpm-lock.yaml', digest: { sha256: 'd'.repeat(64) } },
          ],
        },
        runDetails: { builder: { id: expect.stringMatching(/^urn:/) } },
      },
    });
  });

  it('is refused where the file was changed, or is gone', () => {
    writeFileSync(join(folder, 'a.cdx.json'), '{ }');
    expect(() => verify()).toThrow(/^a\.cdx\.json is another one: sha256:[0-9a-f]{64}, attested sha256:44136fa3/);

    rmSync(join(folder, 'a.cdx.json'));
    expect(() => verify()).toThrow('a.cdx.json is not there');
  });

  it('is refused where the statement was changed', () => {
    const payload = Buffer.from(JSON.stringify({ ...statement(), subject: [] })).toString('base64');

    expect(() => verify({ ...envelope, payload })).toThrow('the signature is not of this key');
    expect(() => verify({ ...envelope, payloadType: 'text/plain' })).toThrow('the signature is not of this key');
    expect(() => verify({ ...envelope, signatures: [] })).toThrow('the signature is not of this key');
  });

  it('is refused under another key', () => {
    expect(() => verify(envelope, generateKeyPairSync('ed25519').publicKey)).toThrow(
      'the signature is not of this key',
    );
  });

  it.each([
    ['statement', { _type: 'https://in-toto.io/Statement/v0.1' }],
    ['predicate', { predicateType: 'https://slsa.dev/verification_summary/v1' }],
  ])('is refused where it is another kind of %s, signed by this key', (_kind, change) => {
    const other = seal({ ...statement(), ...change }, keys.privateKey, keys.publicKey);

    expect(() => verify(other)).toThrow('it is no SLSA provenance');
  });

  it('is refused where this key signed the same bytes as another type', () => {
    const payloadType = 'application/json';
    const bytes = preAuthEncoding(payloadType, Buffer.from(envelope.payload, 'base64'));
    const signatures = [{ keyid: '', sig: sign(null, bytes, keys.privateKey).toString('base64') }];

    expect(() => verify({ ...envelope, payloadType, signatures })).toThrow('the payload is application/json');
  });

  it('is refused where it is about nothing', () => {
    expect(() => verify(attest([], source, keys))).toThrow('it is about nothing');
  });

  it('is signed as openssl sees it, too', () => {
    const [{ sig } = { sig: '' }] = envelope.signatures;
    writeFileSync(join(folder, 'key.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(
      join(folder, 'signed'),
      preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64')),
    );
    writeFileSync(join(folder, 'signature'), Buffer.from(sig, 'base64'));
    const ask = (): number | null =>
      spawnSync('openssl', [
        'pkeyutl',
        '-verify',
        '-pubin',
        '-inkey',
        join(folder, 'key.pub'),
        '-rawin',
        '-in',
        join(folder, 'signed'),
        '-sigfile',
        join(folder, 'signature'),
      ]).status;

    expect(readFileSync(join(folder, 'signed'), 'latin1')).toMatch(/^DSSEv1 28 application\/vnd\.in-toto\+json \d+ \{/);
    expect(ask()).toBe(0);
    writeFileSync(join(folder, 'signed'), 'another text');
    expect(ask()).toBe(1);
  });
});
