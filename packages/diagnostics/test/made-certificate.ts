import type { X509Certificate } from 'node:crypto';

import type { Certificate } from '../src/tls/certificate/certificate.ts';
import type { TrustAnchors } from '../src/tls/certificate/trust-store.ts';

/** The time of the tests. */
export const now = Date.parse('2026-01-01T00:00:00Z');

export interface Made {
  readonly name: string;
  readonly subject: string;
  readonly issuer: string;
  /** Name of the key that signed it; its own key if it is self-signed. */
  readonly signer: string;
  /** Name of its key; by default `name`. */
  readonly key?: string;
  readonly isExpired?: boolean;
  /** Days of validity that are left; 1 if absent. */
  readonly days?: number;
}

/** Number of signatures that were verified. */
export const signatures = { verified: 0 };

/** A certificate without a real key: it counts as signed by a certificate whose key has the name `signer`. */
export function made({ name, subject, issuer, signer, key = name, isExpired = false, days = 1 }: Made): Certificate {
  const end = now + (isExpired ? -1 : days) * 86_400_000;
  const parsed = {
    validFromDate: new Date(now - 9e9),
    validToDate: new Date(end),
    verify: (other: unknown) => {
      signatures.verified += 1;
      return other === signer;
    },
  };
  return {
    parsed: parsed as unknown as X509Certificate,
    fingerprint: name,
    subject,
    issuer,
    publicKey: key as never,
    keyType: 'ec',
    keyBits: 256,
    body: null,
    constraints: { ca: true, pathLength: null },
    keyUsages: null,
    purposes: null,
    subjectKeyId: null,
    authorityKeyId: null,
    mustStaple: false,
    serverNames: { commonName: null, names: [], addresses: [] },
  };
}

export function trusting(...anchors: readonly Certificate[]): TrustAnchors {
  return {
    isPublic: () => false,
    named: (subject) => anchors.filter((anchor) => anchor.subject === subject),
    includes: ({ fingerprint }) => anchors.some((anchor) => anchor.fingerprint === fingerprint),
  };
}
