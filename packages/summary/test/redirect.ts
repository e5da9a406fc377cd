import type { SparseResultOf } from '../src/probe-result.ts';

/** A redirect that an http check followed. */
export function redirectOf(
  url: string,
  fields: Partial<NonNullable<SparseResultOf<'http'>['redirects']>[number]> = {},
): NonNullable<SparseResultOf<'http'>['redirects']>[number] {
  const timings = { dns: 5, connect: 20, firstByte: 30, total: 55 };
  const all = { url, statusCode: 301, httpVersion: '1.1', location: 'https://b.example/', rt: 55, timings };
  return { ...all, resolvedIp: '203.0.113.1', ...fields };
}
