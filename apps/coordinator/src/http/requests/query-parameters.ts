import { escapeText, hasApiKey, nearestWord, type InputError } from '@vantage/contract';
import type { Request } from 'express';

import { HAS_API_KEY } from './read-json.ts';
import { invalid } from './validate-request.ts';

export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
}

/**
 * Faults of unknown parameters, of those that are repeated although they have a single value, and of those with an API
 * key, since targets are sent to agents and shown as labels.
 */
export function parameterFaults(
  query: URLSearchParams,
  { once, repeated }: { readonly once: readonly string[]; readonly repeated: readonly string[] },
): readonly InputError[] {
  const known = [...once, ...repeated];
  return [...new Set(query.keys())].flatMap((name) => {
    if (hasApiKey(name)) return [{ path: '?…', message: HAS_API_KEY }];
    const path = `?${escapeText(name, 64)}`;
    if (known.includes(name) && query.getAll(name).some(hasApiKey)) return [{ path, message: HAS_API_KEY }];
    if (once.includes(name)) return query.getAll(name).length > 1 ? [{ path, message: 'must be given once' }] : [];
    if (known.includes(name)) return [];
    if (known.length === 0) return [{ path, message: 'is not a known parameter; there are none' }];
    const nearest = nearestWord(name, known);
    const hint = nearest === undefined ? `expected ${known.join(', ')}` : `did you mean ${nearest}?`;
    return [{ path, message: `is not a known parameter; ${hint}` }];
  });
}

/** Parameters that sites and chats add to links, and the `_` with which clients avoid caches. */
const ADDED_BY_OTHERS = /^(?:utm_\w+|fbclid|gclid|msclkid|_)$/;

/**
 * Refuses parameters that an endpoint does not have: a mistyped one would be ignored.
 *
 * @param known names that the endpoint has; it checks itself how often each is given
 * @throws HttpProblem 400
 */
export function refuseUnknownParameters(request: Request, known: readonly string[]): void {
  if (!request.originalUrl.includes('?')) return;
  const query = queryOf(request);
  for (const name of new Set(query.keys())) if (ADDED_BY_OTHERS.test(name)) query.delete(name);
  const errors = parameterFaults(query, { once: [], repeated: known });
  if (errors.length > 0) throw invalid(errors);
}

/**
 * `Last-Event-ID`, or the parameter by which the usual replacements of `EventSource` send it: unlike `EventSource` they
 * can send an API key.
 */
export const LAST_EVENT_PARAMETER = 'lastEventId';

export function lastEventIdOf(request: Request): string | undefined {
  const id = request.headers['last-event-id'] ?? queryOf(request).get(LAST_EVENT_PARAMETER);
  return typeof id === 'string' ? id : undefined;
}
