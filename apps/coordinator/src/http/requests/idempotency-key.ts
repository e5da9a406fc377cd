import type { Request } from 'express';

import type { Claim, FirstClaim, IdempotencyRecord, IdempotencyStore } from '../../checks/create/idempotency-store.ts';
import { callerOf } from '../caller.ts';
import { callerKey } from '../limits/axes.ts';
import { HttpProblem } from '../problem.ts';
import { invalid } from './validate-request.ts';

const HEADER = 'idempotency-key';

/**
 * Form of a key: opaque visible ASCII, such as the quoted strings without spaces of
 * draft-ietf-httpapi-idempotency-key-header.
 */
const KEY = /^[\x21-\x7e]{1,255}$/;

export function hasIdempotencyKey(request: Request): boolean {
  return request.headers[HEADER] !== undefined;
}

/**
 * Claims the idempotency key of a request.
 *
 * @param text the body in canonical JSON
 * @throws HttpProblem 400 for a malformed key
 * @throws StoreUnavailable
 */
export async function claimKey(
  request: Request,
  idempotencyStore: IdempotencyStore,
  text: string,
  signal: AbortSignal,
): Promise<Claim> {
  return idempotencyStore.claim(callerKey(callerOf(request)), readKey(request), text, signal);
}

/**
 * The response to the first request with the key.
 *
 * @throws HttpProblem 409 if the key belongs to a different request or its response is not known yet
 */
export function repeatedAnswer(claim: Exclude<Claim, FirstClaim>): IdempotencyRecord {
  if (claim.kind === 'repeated') return claim.answer;
  if (claim.kind === 'other-request') {
    throw new HttpProblem('idempotency-key-reused', 'This Idempotency-Key was used with another body.');
  }
  throw new HttpProblem('idempotency-key-in-use', 'The first request with this Idempotency-Key has no answer yet.', {
    headers: { 'Retry-After': '2' },
  });
}

function readKey(request: Request): string {
  const key = request.headers[HEADER];
  if (typeof key === 'string' && KEY.test(key)) return key;
  const message = 'must be 1 to 255 visible ASCII characters without spaces, given once';
  throw invalid([{ path: 'Idempotency-Key:', message }]);
}
