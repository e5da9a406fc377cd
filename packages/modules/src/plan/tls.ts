import { MAX_CA_LENGTH, type TlsRules, type TlsVersion } from '@vantage/diagnostics/contract';

import type { RawTls } from '../file/shape.ts';
import { refuseSet, type Refusals } from './refusals.ts';

const NO_KEY = 'a probe has no certificate: private keys stay where they are';

const versions: Readonly<Record<string, TlsVersion>> = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
};

/** @param path of `tls_config` below the module */
export function planTls(raw: RawTls | undefined, path: string, refusals: Refusals): TlsRules {
  refuseSet(refusals, raw, path, { cert_file: NO_KEY, key_file: NO_KEY });
  const { server_name: serverName = '', insecure_skip_verify: insecure = false } = raw ?? {};
  if (serverName.length > 253) refusals.refuse(raw!, path, 'server_name', 'has more than 253 characters');
  const ca = refusals.textOf(raw, path, 'ca_file');
  if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) {
    refusals.refuse(raw!, path, 'ca_file', 'has no certificate in PEM');
  }
  if (ca !== undefined && ca.length > MAX_CA_LENGTH) {
    refusals.refuse(raw!, path, 'ca_file', `has more than ${MAX_CA_LENGTH} characters, which every probe would get`);
  }
  // The defaults of Go.
  const minVersion = versions[raw?.min_version ?? 'TLS12']!;
  const maxVersion = versions[raw?.max_version ?? 'TLS13']!;
  if (minVersion > maxVersion) {
    const option = raw?.max_version === undefined ? 'min_version' : 'max_version';
    refusals.refuse(raw!, path, option, `leaves no version of TLS: the lowest is ${minVersion}`);
  }
  return {
    insecure,
    ...(serverName === '' ? {} : { serverName }),
    ...(ca === undefined ? {} : { ca }),
    ...{ minVersion, maxVersion },
  };
}
