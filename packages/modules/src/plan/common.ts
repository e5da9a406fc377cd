import type { Family } from '@vantage/contract';

import { refuseSet, type Refusals } from './refusals.ts';

interface FamilyOptions {
  readonly preferred_ip_protocol?: string;
  readonly ip_protocol_fallback?: boolean;
}

/** The required address family; undefined if either is allowed. */
export function requiredFamily(
  options: FamilyOptions | undefined,
  path: string,
  refusals: Refusals,
): Family | undefined {
  const { preferred_ip_protocol: preferred = '', ip_protocol_fallback: fallback = true } = options ?? {};
  if (!['', 'ip4', 'ip6'].includes(preferred)) {
    refusals.refuse(options!, path, 'preferred_ip_protocol', `"${preferred}" is none of ip4 and ip6`);
  }
  if (!fallback) return preferred === 'ip4' ? 4 : 6;
  if (preferred === 'ip6') {
    const reason = 'with a fallback, probes prefer IPv4: set ip_protocol_fallback to false, or leave this out';
    refusals.refuse(options!, path, 'preferred_ip_protocol', reason);
  }
  return undefined;
}

const NO_SOURCE = 'the address that a probe sends from is not for the client to choose';

export function refuseSourceAddress(options: object | undefined, path: string, refusals: Refusals): void {
  refuseSet(refusals, options, path, { source_ip_address: NO_SOURCE });
}

const NO_FILE = 'a probe reads no files of the module';

/** Why a dns module cannot use options of `tls_config`. */
export const tlsReasons = {
  ca_file: NO_FILE,
  cert_file: NO_FILE,
  key_file: NO_FILE,
  server_name: 'the server name is that of the target',
  min_version: 'a probe negotiates TLS 1.2 and above, and reports the version',
  max_version: 'a probe negotiates TLS 1.2 and above, and reports the version',
} as const;
