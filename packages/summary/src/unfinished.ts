import type { SparseResultOf } from './probe-result.ts';

type Http = SparseResultOf<'http'>;

/** True for an answer whose body did not end in time, or ends before its content coding does. */
export function isBodyUnfinished(result: Http): boolean {
  return result.error?.code === 'http_body_unfinished' || isCodingCut(result);
}

/** True for a body that ends before its content coding does. */
export function isCodingCut({ error, truncated }: Http): boolean {
  return error?.code === 'http_decode_failed' && truncated === true;
}
