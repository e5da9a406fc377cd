import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { createTrustStore } from './trust-store.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

describeWithOpenssl('the contexts of a trust store (skipped without the openssl command)', () => {
  const versions = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const;
  let mint: CertificateMint;
  let clients: readonly Issued[];

  beforeAll(() => {
    mint = certificateMint();
    clients = Array.from({ length: 9 }, (_, index) => mint.issue({ subject: `/CN=client ${index}` }));
  });
  afterAll(() => mint?.close());

  const identityOf = (index: number): { readonly cert: string; readonly key: string } => {
    const { cert, key } = clients[index]!;
    return { cert, key };
  };

  it('are one for all handshakes with the same client certificate, versions and groups', () => {
    const store = createTrustStore([]);
    const context = store.secureContext(versions, identityOf(0));
    const others = [
      store.secureContext(versions, identityOf(1)),
      store.secureContext(versions),
      store.secureContext(undefined, identityOf(0)),
      store.secureContext(versions, identityOf(0), 'with ML-KEM'),
    ];

    expect(store.secureContext(versions, identityOf(0))).toBe(context);
    expect(new Set([context, ...others]).size).toBe(5);
  });

  it('are kept for eight client certificates, those that were used last', () => {
    const store = createTrustStore([]);
    const contexts = clients.slice(0, 8).map((_, index) => store.secureContext(versions, identityOf(index)));
    store.secureContext(versions, identityOf(0));
    store.secureContext(versions, identityOf(8));

    expect(store.secureContext(versions, identityOf(0))).toBe(contexts[0]);
    expect(store.secureContext(versions, identityOf(1))).not.toBe(contexts[1]);
  });
});
