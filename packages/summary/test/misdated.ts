import { refused } from './results.ts';

/** A result whose certificate is valid at the end of the check, and was refused by the clock of the probe. */
export function misdated(code: 'tls_expired' | 'tls_not_yet_valid'): ReturnType<typeof refused> {
  const result = refused(code);
  const dates = { validFrom: '2025-12-01T00:00:00.000Z', validUntil: '2026-02-01T00:00:00.000Z' };
  const [leaf] = result.tls!.chain;
  const faults = [{ code, certificate: 0, reason: 'The certificate was valid until 2026-02-01.' }];
  return { ...result, tls: { ...result.tls!, faults, chain: [{ ...leaf!, ...dates }] } };
}

/** A result whose certificate is valid, but was issued by one that has expired. */
export function ofExpiredIssuer(): ReturnType<typeof refused> {
  const expired = refused('tls_expired');
  const reason = '“R1” above the certificate was valid until 2025-12-01.';
  return { ...expired, tls: { ...expired.tls!, faults: [{ code: 'tls_expired', certificate: 1, reason }] } };
}
