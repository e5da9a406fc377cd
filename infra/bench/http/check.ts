import type { ParamsOf } from '@vantage/contract';

import type { DiagnosticContext, Outcome } from '../../../packages/diagnostics/src/diagnostic.ts';
import type { http } from '../../../packages/diagnostics/src/types/http/contract.ts';
import { runHttp } from '../../../packages/diagnostics/src/types/http/run.ts';
import { onLoopback } from '../dns/context.ts';

type Options = ParamsOf<typeof http>['options'];
type Context = Pick<DiagnosticContext, 'trust'>;

/** One http check of the benchmark's target. */
export function checkHttp(
  url: string,
  httpVersion: Options['httpVersion'],
  context: Context,
): Promise<Outcome<typeof http>> {
  const options: Options = { method: 'GET', headers: {}, followRedirects: 0, httpVersion, screenshot: false };
  return runHttp({ host: url, insecureSSL: false, options }, { ...onLoopback([]), ...context });
}
