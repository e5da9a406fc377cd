import type { Failure, FailureCode } from '@vantage/contract';

import { MAX_REDIRECT_BODY_BYTES } from './bounds.ts';
import { headersOf, type Head } from './response-head.ts';

/** One HTTP request, such as the first of a check or one that a redirect led to. */
export interface Request {
  readonly url: URL;
  /** Any method; a client can choose GET, HEAD or OPTIONS. */
  readonly method: string;
  /** Value of the header Host; by default the host of the URL. */
  readonly host?: string | undefined;
  /** Over HTTP/2, at most the size of a frame; its length is in `headers`. */
  readonly body?: Uint8Array | undefined;
  /** All except Host and Connection, as pairs of name and value. */
  readonly headers: readonly (readonly [string, string])[];
  /** Limit of bytes read from the response body. */
  readonly maxBodyBytes: number;
  /** Called with the body bytes that are read. */
  readonly onBody?: ((bytes: Uint8Array) => void) | undefined;
  /** True if redirects are followed; of their bodies, at most `MAX_REDIRECT_BODY_BYTES` are read. */
  readonly followsRedirects: boolean;
  /** True if a 301 or 302 changes every method except GET and HEAD to GET, as in the client of Go. */
  readonly becomesGet?: boolean;
}

/**
 * Headers of a request: those of the client, and defaults for `User-Agent` (that of the probe), `Accept` (any media
 * type) and `Accept-Encoding` (no content coding) if the client gives none.
 *
 * @param asked headers of the client, already validated
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

/**
 * True for responses that redirect the request (RFC 9110 section 15.4): 301, 302, 303, 307 or 308 with a `Location`
 * that is not empty.
 */
export function isRedirect(head: Head): boolean {
  return [301, 302, 303, 307, 308].includes(head.statusCode) && locationOf(head) !== undefined;
}

/** The first Location that is not empty. */
function locationOf(head: Head): string | undefined {
  return headersOf(head, 'location').find((text) => text !== '');
}

/** Limit of the bytes that are read of this response's body. */
export function bodyCapOf({ maxBodyBytes, followsRedirects }: Request, head: Head): number {
  return followsRedirects && isRedirect(head) ? Math.min(maxBodyBytes, MAX_REDIRECT_BODY_BYTES) : maxBodyBytes;
}

/** The request for a redirect, or why it is not sent. Its target is not admitted yet. */
export function redirected(
  request: Request,
  head: Head,
): { readonly request: Request; readonly failure: null } | { readonly failure: Failure } {
  const location = locationOf(head) ?? '';
  const url = parse(location, request.url);
  if (url === null) return { failure: no('redirect_refused', 'The redirect leads to something that is no URL.') };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { failure: no('redirect_refused', 'The redirect leads to something that is no http(s) URL.') };
  }
  if (url.username !== '' || url.password !== '') {
    return { failure: no('redirect_refused', 'The redirect leads to a URL with credentials.') };
  }
  if (url.href.length > MAX_URL) return { failure: no('redirect_refused', 'The redirect leads to too long a URL.') };

  // A 303 leads to GET, or to HEAD after HEAD (RFC 9110 section 15.4.4).
  const changes = head.statusCode === 303 || (request.becomesGet === true && head.statusCode < 303);
  const isChanged = changes && !['GET', 'HEAD'].includes(request.method);
  const isSameOrigin = url.origin === request.url.origin;
  // Not sent on: the client's credentials to another origin, and the length of a body that is no longer sent.
  const dropped = new Set([
    ...(isSameOrigin ? [] : ['authorization', 'cookie']),
    ...(isChanged ? ['content-length'] : []),
  ]);
  const headers = request.headers.filter(([name]) => !dropped.has(name.toLowerCase()));
  const isRelative = isSameOrigin && !/^[a-z][a-z\d+.-]*:/i.test(location);
  return {
    request: {
      ...request,
      url,
      headers,
      ...(isChanged ? { method: 'GET', body: undefined } : {}),
      // As in Go's client, only a relative redirect keeps the Host header of the request.
      host: isRelative ? request.host : undefined,
    },
    failure: null,
  };
}

/** Identifies a request, to detect redirect loops; another cookie may lead to another response. */
export function keyOf({ url, method, headers }: Request): string {
  const cookies = headers.filter(([name]) => name.toLowerCase() === 'cookie').map(([, value]) => value);
  return `${method} ${url.origin}${url.pathname}${url.search} ${cookies.join('; ')}`;
}

/** Adds the cookies that earlier responses have set, after those of the client. */
export function withCookies(request: Request, cookies: string | null): Request {
  if (cookies === null) return request;
  const isCookie = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'cookie';
  const own = request.headers.filter(isCookie).map(([, value]) => value);
  const others = request.headers.filter((header) => !isCookie(header));
  return { ...request, headers: [...others, ['Cookie', [...own, cookies].join('; ')]] };
}

export function no(code: FailureCode, message: string): Failure {
  return { code, phase: 'response', source: 'target', message };
}

const MAX_URL = 2048;

/**
 * Parses a Location of one character per byte: bytes above ASCII are percent-encoded. The fragment is removed. Null if
 * it is no URL.
 */
function parse(location: string, base: URL): URL | null {
  const ascii = location.replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const url = URL.parse(ascii, base.href);
  if (url !== null) url.hash = '';
  return url;
}

/** The port of a URL, that of its protocol if it names none. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
