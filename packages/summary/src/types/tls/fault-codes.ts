import { failureCodes, type FailureCode, type FindingCode } from '@vantage/contract';

import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';

/** The finding for each failure of a certificate or a handshake. */
export const ofCode: Readonly<Partial<Record<FailureCode, FindingCode>>> = {
  tls_expired: 'certificate_expired',
  tls_not_yet_valid: 'certificate_not_yet_valid',
  tls_hostname_mismatch: 'certificate_hostname_mismatch',
  tls_revoked: 'certificate_revoked',
  tls_self_signed: 'certificate_untrusted',
  tls_unknown_issuer: 'certificate_untrusted',
  tls_missing_intermediate: 'certificate_untrusted',
  tls_weak_key: 'certificate_untrusted',
  tls_untrusted: 'certificate_untrusted',
  tls_handshake_failed: 'tls_failed',
  tls_protocol_unsupported: 'tls_failed',
};

export function isFault(code: string | null | undefined): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) && code in ofCode;
}

/** True if the certificate ended the connection: the client may allow any, and the request is then sent. */
export function isRefused({ result: { error } }: ProbeResult<SparseResultOf<'http'>>): boolean {
  const finding = isFault(error?.code) ? ofCode[error.code] : undefined;
  return finding !== undefined && finding !== 'tls_failed';
}
