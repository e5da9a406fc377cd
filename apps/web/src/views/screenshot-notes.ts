import { requestOf } from '../check/request.ts';
import type { CheckData, Result } from '../check/use-check.ts';

const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

/** Sentences about what the browser that took a probe's screenshot does differently from its check. */
export function screenshotNotes(check: CheckData, { statusCode, location }: Result): readonly string[] {
  const { options, withheld = [] } = requestOf(check);
  const { method = 'GET', headers = {} } = (options ?? {}) as { readonly method?: string; readonly headers?: object };
  const hasHeaders = withheld.includes('headers') || Object.keys(headers).length > 0;
  const differences = [
    method === 'GET' ? [] : `with GET in place of ${method}`,
    hasHeaders ? 'without the headers of the check' : [],
  ].flat();
  return [
    REDIRECTS.has(statusCode) && typeof location === 'string'
      ? `The check ended at a redirect (${String(statusCode)} to ${location}). The browser follows redirects.`
      : [],
    differences.length === 0 ? [] : `The browser asked ${differences.join(' and ')}.`,
  ].flat();
}
