import { failureCodes, nullable, timestampSchema, type FailureCode, Type, type Static } from '@vantage/contract';

import { chromiumFields, MAX_REASON_BYTES } from './chromium-schema.ts';

/** Limit of certificates per chain. */
export const MAX_CHAIN = 8;
/** Limit of alternative names per certificate. */
export const MAX_ALT_NAMES = 50;
/** Limit of listed faults. */
export const MAX_FAULTS = 8;

const tlsCodes = Object.keys(failureCodes).filter((code) => code.startsWith('tls_')) as FailureCode[];

const text = (maxLength: number, description: string) => Type.String({ maxLength, description });

const certificate = Type.Object(
  {
    subject: text(512, 'Distinguished name of the subject.'),
    issuer: text(512, 'Distinguished name of the issuer.'),
    validFrom: nullable(timestampSchema),
    validUntil: nullable(timestampSchema),
    serialNumber: text(64, 'Serial number, hexadecimal.'),
    fingerprint256: text(95, 'SHA-256 of the certificate, as hexadecimal pairs.'),
    publicKey256: Type.Optional(text(95, 'The same of its public key (SubjectPublicKeyInfo). Older agents have none.')),
    subjectAltNames: Type.Array(text(256, 'One name, such as DNS:example.org.'), {
      maxItems: MAX_ALT_NAMES,
      description: 'The first of its alternative names.',
    }),
    subjectAltNameCount: Type.Integer({ minimum: 0, description: 'How many alternative names it has in all.' }),
    keyType: nullable(text(32, 'Kind of public key, such as rsa, ec, ed25519.')),
    keyBits: nullable(Type.Integer({ minimum: 0, description: 'Size of the public key in bits.' })),
    signatureAlgorithm: Type.Optional(
      nullable(text(64, 'Algorithm by which its issuer signed it, such as ecdsa-with-SHA256.')),
    ),
  },
  { additionalProperties: false },
);

const ocsp = Type.Object(
  {
    status: Type.Enum(['good', 'revoked', 'unknown', 'foreign', 'error', 'malformed'], {
      description:
        'What the responder says of the certificate: good, revoked, or unknown to it. foreign: the response is about ' +
        'another certificate; error: the responder gave none; malformed: it cannot be read.',
    }),
    thisUpdate: nullable({ ...timestampSchema, description: 'When the responder knew this to be so.' }),
    nextUpdate: nullable({ ...timestampSchema, description: 'Until when the response may be used.' }),
    current: Type.Boolean({ description: 'True from 5 minutes before thisUpdate until nextUpdate, if there is one.' }),
    revokedAt: nullable(timestampSchema),
    revocationReason: nullable(text(32, 'Reason of the revocation, by its name in RFC 5280.')),
    signature: Type.Enum(['issuer', 'responder', 'invalid', 'unchecked'], {
      description:
        'Whose signature was verified: the issuer’s of the certificate, or that of a responder which the issuer named. ' +
        'unchecked: the issuer is not known, or the algorithm is not.',
    }),
  },
  { additionalProperties: false },
);

const fault = Type.Object(
  {
    code: Type.Enum(tlsCodes, { description: 'As a code of `error`.' }),
    certificate: nullable(
      Type.Integer({
        minimum: 0,
        description: 'Which certificate, by its position in `chain`; null if it is not known.',
      }),
    ),
    reason: text(MAX_REASON_BYTES, 'The same in a sentence.'),
  },
  { additionalProperties: false },
);

export const tlsSchema = Type.Object(
  {
    protocol: text(16, 'Version of TLS.'),
    cipher: text(64, 'Cipher suite, by its IANA name.'),
    alpn: nullable(text(32, 'Protocol chosen by ALPN; null if the server chose none.')),
    authorized: Type.Boolean({ description: 'True if the certificate is valid for the host and trusted.' }),
    authorizationError: nullable(Type.Enum(tlsCodes, { description: 'Why it is not, as a code of `error`.' })),
    faults: Type.Optional(
      Type.Array(fault, {
        maxItems: MAX_FAULTS,
        description:
          'Everything that is wrong with the certificates, the most basic first; `authorizationError` is the code of the ' +
          'first.',
      }),
    ),
    ...chromiumFields,
    keyExchange: Type.Optional(
      nullable(
        Type.Object(
          {
            group: text(32, 'Group by its name in OpenSSL, such as X25519, prime256v1; DH for a finite field.'),
            bits: Type.Integer({ minimum: 0, description: 'Size of the group in bits.' }),
          },
          {
            additionalProperties: false,
            description: 'How the keys were agreed; null if without a group (RSA), or if OpenSSL does not say.',
          },
        ),
      ),
    ),
    clientCertificateRequested: Type.Optional(
      Type.Boolean({
        description: 'True if the server requested a client certificate; a probe has none but that of a module.',
      }),
    ),
    mustStaple: Type.Optional(
      Type.Boolean({
        description: 'True if the certificate demands that the server staples an OCSP response (RFC 7633).',
      }),
    ),
    daysLeft: nullable(
      Type.Integer({
        description:
          'Whole days until the certificate expires; once it has, whole days since then, negative: −1 or less.',
      }),
    ),
    issuerEnds: Type.Optional(
      Type.Object(
        {
          name: text(80, 'Common name of that certificate, else its whole subject.'),
          validUntil: timestampSchema,
          daysLeft: Type.Integer({ description: 'Whole days until then.' }),
        },
        {
          additionalProperties: false,
          description:
            'The certificate above the server’s own that ends the chain before the own one expires; absent if none does, or if the ' +
            'server sent its successor too. Without a trusted root that was sent or is known, of the certificates that were sent.',
        },
      ),
    ),
    ocsp: Type.Optional(
      nullable({ ...ocsp, description: 'The OCSP response that the server stapled; null if it stapled none.' }),
    ),
    chain: Type.Array(certificate, {
      maxItems: MAX_CHAIN,
      description:
        'The certificates from the server’s own up, and the trusted root where it was found; the first of them.',
    }),
    chainLength: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many certificates the chain has in all.' }),
    ),
    sentCertificates: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'How many certificates the server sent, whether or not they belong to it.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'The TLS connection; also one whose handshake failed after the certificates of the server had been judged, as where it ' +
      'requires one of the client. Absent for http URLs.',
  },
);

/** The fields of a result about the server's own certificate and the version of TLS; absent if none was read. */
export const certificateFields = {
  sslSubject: nullable(text(256, 'Common name of the certificate’s subject, else its first alternative name.')),
  sslIssuer: nullable(text(256, 'Organization of the certificate’s issuer, else its common name.')),
  sslValidFrom: nullable(timestampSchema),
  sslValidUntil: nullable(timestampSchema),
  sslVersion: text(16, 'Version of TLS, such as TLSv1.3.'),
};

/** The field `tls` of a result. */
export type Tls = Static<typeof tlsSchema>;

/** Result fields of a TLS connection. */
export interface TlsFields {
  sslSubject: string | null;
  sslIssuer: string | null;
  sslValidFrom: string | null;
  sslValidUntil: string | null;
  sslVersion: string;
  tls: Tls;
}
