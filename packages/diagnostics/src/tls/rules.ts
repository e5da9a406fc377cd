import { Type, type Static } from '@vantage/contract';

export const tlsVersions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

/** Limit of the CA or client certificates of a module, characters: a job carries them to every probe. */
export const MAX_CA_LENGTH = 32_768;
/** Limit of the private key of a module, characters. */
export const MAX_KEY_LENGTH = 16_384;

/** `tls_config` of a module, as a job carries it. */
export const tlsRules = Type.Object(
  {
    insecure: Type.Boolean({ description: 'True if the certificate need not be valid.' }),
    serverName: Type.Optional(
      Type.String({ maxLength: 253, description: 'For SNI and the verification, in place of the host of the target.' }),
    ),
    minVersion: Type.Enum(tlsVersions, { description: 'Lowest version of TLS that is offered.' }),
    maxVersion: Type.Enum(tlsVersions, { description: 'Highest version of TLS that is offered.' }),
    ca: Type.Optional(
      Type.String({
        maxLength: MAX_CA_LENGTH,
        description: 'Certificates in PEM to trust, in place of those that the probe trusts.',
      }),
    ),
    identity: Type.Optional(
      Type.Object(
        {
          cert: Type.String({ maxLength: MAX_CA_LENGTH, description: 'Certificate in PEM, and those above it.' }),
          key: Type.String({ maxLength: MAX_KEY_LENGTH, description: 'Its private key in PEM.' }),
        },
        { description: 'Certificate that is shown to a server that requests one.' },
      ),
    ),
  },
  { description: 'How the module makes TLS connections.' },
);

export type TlsRules = Static<typeof tlsRules>;
export type TlsIdentity = NonNullable<TlsRules['identity']>;
