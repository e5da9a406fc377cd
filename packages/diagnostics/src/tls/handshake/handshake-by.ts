import { createTrustStore, type TrustStore } from '../certificate/trust-store.ts';
import type { TlsRules } from '../rules.ts';
import type { HandshakeOptions } from './handshake.ts';

/** Trust settings of a diagnostic context. */
interface Trusting {
  readonly certificateAuthorities?: readonly string[] | undefined;
  readonly trust?: TrustStore | undefined;
}

/**
 * Options of a handshake with a host.
 *
 * @param rules those of a module, if it has any
 */
export function handshakeBy(
  rules: TlsRules | undefined,
  host: string,
  { certificateAuthorities = [], trust = createTrustStore(certificateAuthorities) }: Trusting,
): Omit<HandshakeOptions, 'alpn'> {
  if (rules === undefined) return { host, trust };
  const { serverName, ca, minVersion, maxVersion, identity } = rules;
  return {
    host: serverName ?? host,
    trust: ca === undefined ? trust : createTrustStore([ca], { exclusive: true }),
    versions: { minVersion, maxVersion },
    identity,
  };
}
