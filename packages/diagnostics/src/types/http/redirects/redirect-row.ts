import { boundText } from '../../../shared/bounded-text.ts';
import type { Step } from '../hop/hop-timings.ts';
import { MAX_REDIRECT_DEVIATIONS } from '../result-fields.ts';
import type { HttpFields } from '../types.ts';

/** The rows of followed redirects in a result. */
export type Redirects = NonNullable<HttpFields['redirects']>;

/**
 * Limits in bytes of one text of a redirect, of the texts of all redirects, and of one text once all are near their
 * limit.
 */
const [MAX_TEXT, MAX_TEXT_IN_ALL, LEAST_TEXT] = [1_024, 8_192, 256];

/** The row of a redirect; ten of them must fit into a result. */
export function redirectOf({ fields, resolvedIp, rt }: Step, before: Redirects): Redirects[number] {
  const { url, statusCode, httpVersion, location, timings, deviations, hsts } = fields;
  const taken = before.reduce((sum, row) => sum + row.url.length + (row.location?.length ?? 0), 0);
  const most = taken + 2 * MAX_TEXT > MAX_TEXT_IN_ALL ? LEAST_TEXT : MAX_TEXT;
  return {
    url: boundText(url!, most),
    statusCode: statusCode!,
    httpVersion: httpVersion!,
    location: typeof location === 'string' ? boundText(location, most) : null,
    ...(hsts === undefined ? {} : { hsts }),
    resolvedIp: resolvedIp!,
    rt: rt!,
    timings: timings!,
    ...(deviations === undefined ? {} : { deviations: deviations.slice(0, MAX_REDIRECT_DEVIATIONS) }),
  };
}
