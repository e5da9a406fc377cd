import type { CommonResult } from '@vantage/contract';

import type { SparseResultOf } from '../src/probe-result.ts';
import { bad } from './cases.ts';
import { tls } from './results.ts';

type Http = SparseResultOf<'http'> & CommonResult;

const answered = {
  url: 'https://example.com/',
  location: null,
  timings: { dns: 5, connect: 20, tls: 25, firstByte: 30, total: 15_002 },
  bodyBytes: 1_234,
  truncated: true,
  tls: tls('01'),
};

/** An answer whose body did not end before the deadline. */
export function unfinished(statusCode: number): Http {
  const fields = { ...answered, statusCode };
  return bad('http_body_unfinished', fields, { result: 'timeout', phase: 'response', source: 'network' });
}

/** An answer whose body ends before its content coding does. */
export function cutCoding(statusCode: number): Http {
  return bad('http_decode_failed', { ...answered, statusCode }, { phase: 'response' });
}
