/** Results of a verification that another CA file can change: `X509_V_ERR_*` of OpenSSL. */
const codes: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * True if a connection failed because its certificate leads to no trusted CA. Node's message for this may advise an
 * option of Node.
 */
export function isUntrustedIssuer(error: unknown): boolean {
  return Error.isError(error) && 'code' in error && codes.has(error.code);
}
