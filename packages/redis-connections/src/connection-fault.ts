import { isUntrustedIssuer } from '@vantage/contract';

import { SentinelsUnusable } from './sentinel/sentinel-connector.ts';

const UNTRUSTED =
  'the certificate of Redis was issued by a CA that is not trusted; set REDIS_CA_FILE to a file with that CA, in PEM';

/**
 * Why a connection failed, in the terms of the settings. The error of a cluster client says only that it reached no
 * node; its `lastNodeError` has the reason.
 */
export function connectionFault(error: Error): string {
  if (error instanceof SentinelsUnusable) return `no Sentinel can be asked: ${connectionFault(error.cause as Error)}`;
  const cause = 'lastNodeError' in error && Error.isError(error.lastNodeError) ? error.lastNodeError : error;
  return isUntrustedIssuer(cause) ? UNTRUSTED : cause.message;
}
