import { createPrivateKey, X509Certificate } from 'node:crypto';

import {
  MAX_CA_LENGTH,
  MAX_KEY_LENGTH,
  type TlsIdentity,
  type TlsRules,
  type TlsVersion,
} from '@vantage/diagnostics/contract';

import type { RawTls } from '../file/shape.ts';
import type { Refusals } from './refusals.ts';

const versions: Readonly<Record<string, TlsVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};

/** Rules of a module without `tls_config`. */
export const DEFAULT_TLS = {
  insecure: false,
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
} as const satisfies TlsRules;

/** @param path of `tls_config` below the module */
export function planTls(raw: RawTls | undefined, path: string, refusals: Refusals): TlsRules {
  const { server_name: serverName = '', insecure_skip_verify: insecure = false } = raw ?? {};
  if (serverName.length > 253) refusals.refuse(raw!, path, 'server_name', 'has more than 253 characters');
  const ca = refusals.textOf(raw, path, 'ca_file');
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) {
    refusals.refuse(raw!, path, 'ca_file', 'has no certificate in PEM');
  }
  if (ca !== undefined && ca.length > MAX_CA_LENGTH) {
    refusals.refuse(raw!, path, 'ca_file', `has more than ${MAX_CA_LENGTH} characters, which every probe would get`);
  }
  const minVersion = raw?.min_version === undefined ? DEFAULT_TLS.minVersion : versions[raw.min_version]!;
  const maxVersion = raw?.max_version === undefined ? DEFAULT_TLS.maxVersion : versions[raw.max_version]!;
  const identity = identityOf(raw, path, refusals);
  if (minVersion > maxVersion) {
    const option = raw?.max_version === undefined ? 'min_version' : 'max_version';
    refusals.refuse(raw!, path, option, `leaves no version of TLS: the lowest is ${minVersion}`);
  }
  return {
    insecure,
    ...(serverName === '' ? {} : { serverName }),
    ...(ca === undefined ? {} : { ca }),
    ...(identity === undefined ? {} : { identity }),
    minVersion,
    maxVersion,
  };
}

/**
 * The certificate of the client and its key. Undefined if the module names neither or only one, or if a file cannot be
 * read; faults go to `refusals`.
 */
function identityOf(raw: RawTls | undefined, path: string, refusals: Refusals): TlsIdentity | undefined {
  const { cert_file: certFile = '', key_file: keyFile = '' } = raw ?? {};
  if (certFile === '' && keyFile === '') return undefined;
  if (certFile === '' || keyFile === '') {
    const [given, needed] =
      certFile === '' ? (['key_file', 'cert_file'] as const) : (['cert_file', 'key_file'] as const);
    refusals.refuse(raw!, path, given, `needs ${needed}`);
    return undefined;
  }
  const cert = refusals.textOf(raw, path, 'cert_file');
  const key = refusals.textOf(raw, path, 'key_file');
  if (cert === undefined || key === undefined) return undefined;
  for (const [option, text, most] of [
    ['cert_file', cert, MAX_CA_LENGTH],
    ['key_file', key, MAX_KEY_LENGTH],
  ] as const) {
    if (text.length > most) refusals.refuse(raw!, path, option, `has more than ${most} characters`);
  }
  const fault = identityFault({ cert, key });
  if (fault !== undefined) refusals.refuse(raw!, path, fault.option, fault.reason);
  return { cert, key };
}

/**
 * Why the certificate or its key cannot be used; undefined if both can. The errors of OpenSSL are not repeated, because
 * they could reveal content of the file.
 */
function identityFault({ cert, key }: TlsIdentity): { readonly option: string; readonly reason: string } | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch {
    return { option: 'cert_file', reason: 'has no certificate in PEM' };
  }
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
      ? undefined
      : { option: 'key_file', reason: 'is not the key of the certificate' };
  } catch {
    return { option: 'key_file', reason: 'has no private key in PEM without a passphrase' };
  }
}
