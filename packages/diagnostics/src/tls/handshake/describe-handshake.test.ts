import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

import { describe, expect, it } from '@jest/globals';

import { createTrustStore } from '../certificate/trust-store.ts';
import { describeTls } from './describe-handshake.ts';

const negotiated = { protocol: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256', keyExchange: null, verification: null };
const { raw, subject } = new X509Certificate(rootCertificates[0]!);
const unreadable = Buffer.from('3000', 'hex');

describe('the fields of a TLS connection', () => {
  const described = (certificates: readonly Buffer[]): ReturnType<typeof describeTls> =>
    describeTls({
      host: 'a.example',
      anchors: createTrustStore([]).anchors(),
      staple: null,
      negotiated,
      flight: {
        certificates,
        asksForCertificate: false,
        alpn: null,
        chosen: { suite: null, group: null, signature: null },
      },
    });

  it('leave out certificates of issuers that cannot be read', () => {
    const fields = described([raw, unreadable]);

    expect(fields?.sslSubject).toBe(subject.split('CN=')[1]!.split('\n')[0]);
    expect(fields?.tls.sentCertificates).toBe(2);
  });

  it("are not those of an issuer if the server's own certificate cannot be read", () => {
    expect(described([unreadable, raw])).toBeNull();
    expect(described([])).toBeNull();
  });
});
