import type { Failure, FailureCode } from '@vantage/contract';

import { headerOf, type Head } from './head.ts';

export type Method = 'GET' | 'HEAD' | 'OPTIONS';

/** One request of a check: the first, or one that a redirect led to. */
export interface Request {
  readonly url: URL;
  readonly method: Method;
  /** All but Host, as pairs of name and value. */
  readonly headers: readonly (readonly [string, string])[];
}

/**
 * The headers of a request: the probe's own name, the answer to be sent as it is, and what the caller asked for.
 *
 * @param asked the caller's, already found valid
 */
export function requestHeaders(
  userAgent: string,
  asked: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  const given = new Set(Object.keys(asked).map((name) => name.toLowerCase()));
  const own = [
    ['User-Agent', userAgent],
    ['Accept', '*/*'],
    ['Accept-Encoding', 'identity'],
  ] as const;
  return [...own.filter(([name]) => !given.has(name.toLowerCase())), ...Object.entries(asked)];
}

/** True for the answers that name another place for what was asked (RFC 9110 section 15.4). */
export function isRedirect(head: Head): boolean {
  return [301, 302, 303, 307, 308].includes(head.statusCode) && headerOf(head, 'location') !== undefined;
}

/** The request that a redirect asks for, or why it is not made. The target is not admitted yet. */
export function redirected(
  request: Request,
  head: Head,
): { readonly request: Request; readonly failure: null } | { readonly failure: Failure } {
  const url = parse(headerOf(head, 'location') ?? '', request.url);
  if (url === null) return { failure: no('redirect_refused', 'The redirect leads to something that is no URL.') };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { failure: no('redirect_refused', 'The redirect leads to something that is no http(s) URL.') };
  }
  if (url.username !== '' || url.password !== '') {
    return { failure: no('redirect_refused', 'The redirect leads to a URL with credentials.') };
  }
  if (url.href.length > MAX_URL) return { failure: no('redirect_refused', 'The redirect leads to too long a URL.') };

  // RFC 9110 section 15.4.4: only 303 changes a method that is not POST.
  const method = head.statusCode === 303 && request.method === 'OPTIONS' ? 'GET' : request.method;
  // What the caller wrote for one origin is not for another.
  const headers =
    url.origin === request.url.origin
      ? request.headers
      : request.headers.filter(([name]) => !['authorization', 'cookie'].includes(name.toLowerCase()));
  return { request: { url, method, headers }, failure: null };
}

/** What tells a request from one that was made before. */
export function keyOf({ url, method }: Request): string {
  return `${method} ${url.origin}${url.pathname}${url.search}`;
}

export function no(code: FailureCode, message: string): Failure {
  return { code, phase: 'response', source: 'target', message };
}

const MAX_URL = 2048;

/** A Location is read as browsers do: one character per byte as Node gives it, so UTF-8 has to be put back first. */
function parse(location: string, base: URL): URL | null {
  const url = URL.parse(Buffer.from(location, 'latin1').toString(), base.href);
  if (url !== null) url.hash = '';
  return url;
}
