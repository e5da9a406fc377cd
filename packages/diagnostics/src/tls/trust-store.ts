import { constants } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** The certificates that a probe trusts, read once: with own ones that takes as long as several whole checks. */
export interface TrustStore {
  /**
   * What a handshake is made with. TLS 1.0 and weak ciphers are allowed in it: they are measured, not relied on. It
   * carries no sessions, so that each handshake is a full one and shows the certificate.
   */
  readonly secureContext: () => SecureContext;
}

/**
 * Reads the certificates when they are first needed.
 *
 * @param certificateAuthorities PEM texts to trust beside the certificates that Node trusts
 */
export function createTrustStore(certificateAuthorities: readonly string[]): TrustStore {
  let secureContext: SecureContext | undefined;
  return {
    secureContext: () => (secureContext ??= read(certificateAuthorities)),
  };
}

function read(certificateAuthorities: readonly string[]): SecureContext {
  return createSecureContext({
    // `TLSSocket.disableRenegotiation` stops only the clients of a server, not the servers of a client.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.3',
    ciphers: 'DEFAULT@SECLEVEL=0',
    // Without the key share of X25519MLKEM768, which no server requires: it makes a ClientHello of two packets.
    ecdhCurve: 'X25519:P-256:X448:P-521:P-384',
    ...(certificateAuthorities.length === 0
      ? {}
      : { ca: [...getCACertificates('default'), ...certificateAuthorities] }),
  });
}
