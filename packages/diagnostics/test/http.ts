import { resultSchema, type ParamsOf } from '@vantage/contract';
import { Value } from 'typebox/value';

import type { Outcome } from '../src/diagnostic.ts';
import { http } from '../src/types/http/contract.ts';
import { runHttp } from '../src/types/http/run.ts';
import { testContext, type TestContextOptions } from '@vantage/test-support/context';

type Http = typeof http;
type Fields = { readonly insecureSSL?: boolean; readonly options?: Partial<ParamsOf<Http>['options']> };

export function paramsOf(url: string, { insecureSSL = false, options = {} }: Fields = {}): ParamsOf<Http> {
  const defaults = { method: 'GET', headers: {}, followRedirects: 0, httpVersion: 'auto', screenshot: false } as const;
  return { host: url, insecureSSL, options: { ...defaults, ...options } };
}

/** Runs an http check of a server on loopback. */
export function checkOf(url: string, fields?: Fields, context?: TestContextOptions<Http>): Promise<Outcome<Http>> {
  return runHttp(paramsOf(url, fields), testContext<Http>(context));
}

/** Errors of an outcome according to the schema of results. */
export function problemsOf(outcome: object): readonly unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(http), { ...outcome, startedAt: now, finishedAt: now })];
}
