import type { CommonResult } from '@vantage/contract';

import type { SparseResultOf } from '../src/probe-result.ts';
import { bad } from './cases.ts';
import { tls } from './results.ts';

/** An answer whose body did not end before the deadline. */
export function unfinished(
  statusCode: number,
  fields: SparseResultOf<'http'> = {},
): SparseResultOf<'http'> & CommonResult {
  const timings = { dns: 5, connect: 20, tls: 25, firstByte: 30, total: 15_002 };
  const url = 'https://example.com/';
  const all = {
    statusCode,
    url,
    location: null,
    timings,
    bodyBytes: 1_234,
    truncated: true,
    tls: tls('01'),
    ...fields,
  };
  return bad('http_body_unfinished', all, { result: 'timeout', phase: 'response', source: 'network' });
}
