import type { SparseResultOf } from './probe-result.ts';

/**
 * Milliseconds from the start of a request, with its resolution and retries, to the first byte of the response; `rt` is
 * the end of the head. Undefined if none came.
 */
export function firstByteOf(timings: SparseResultOf<'http'>['timings']): number | undefined {
  if (timings?.firstByte === undefined) return undefined;
  const { dns = 0, retries = 0, connect = 0, tls = 0, firstByte } = timings;
  return dns + retries + connect + tls + firstByte;
}
