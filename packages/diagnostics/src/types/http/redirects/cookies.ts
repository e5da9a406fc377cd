import type { Head } from '../../../http-client/response-head.ts';

/** Cookies of one check, kept across redirects (RFC 6265). */
export interface CookieJar {
  /** Stores the cookies of a response. */
  readonly keep: (url: URL, head: Head) => void;
  /** The Cookie header for this URL; `null` if no cookie matches, or if it would exceed its limit. */
  readonly cookiesFor: (url: URL) => string | null;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
}

/** Limit of the cookies that redirecting servers can have the check store. */
const MAX_COOKIES = 20;
/** Limit of a Cookie header that the check sends, bytes: about that of curl and of the heads that servers take. */
const MAX_COOKIE_BYTES = 8 * 1024;

export function cookieJar(): CookieJar {
  let cookies: readonly Cookie[] = [];
  return {
    keep: (url, { rawHeaders }) => {
      for (const [index, name] of rawHeaders.entries()) {
        if (index % 2 === 1 || name.toLowerCase() !== 'set-cookie') continue;
        const parsed = parse(rawHeaders[index + 1]!, url);
        if (parsed === undefined) continue;
        const { cookie, isOver } = parsed;
        const others = cookies.filter((other) => !isSame(other, cookie));
        cookies = isOver ? others : [...others, cookie].slice(-MAX_COOKIES);
      }
    },
    cookiesFor: (url) => {
      const own = cookies.filter((cookie) => isFor(cookie, url)).map(({ name, value }) => `${name}=${value}`);
      const text = own.join('; ');
      return own.length === 0 || text.length > MAX_COOKIE_BYTES ? null : text;
    },
  };
}

/** Parses a Set-Cookie header (RFC 6265 section 5.2); undefined for an ignored cookie. */
function parse(header: string, url: URL): { readonly cookie: Cookie; readonly isOver: boolean } | undefined {
  const [pair = '', ...attributes] = header.split(';');
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
  // Cookies with other than printable ASCII are not stored, since requests contain nothing else.
  if (name === '' || !/^[\x21-\x7e]*$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) return undefined;
  const given = new Map(
    attributes.map((attribute) => {
      const [key = '', ...rest] = attribute.split('=');
      return [key.trim().toLowerCase(), rest.join('=').trim()] as const;
    }),
  );
  const domain = (given.get('domain') ?? '').replace(/^\./, '').toLowerCase();
  if (domain !== '' && !isWithin(url.hostname, domain)) return undefined;
  const isHostOnly = domain === '';
  const path = given.get('path') ?? '';
  const cookie: Cookie = {
    name,
    value,
    isHostOnly,
    isSecure: given.has('secure'),
    domain: isHostOnly ? url.hostname : domain,
    path: path.startsWith('/') ? path : url.pathname.replace(/(.)\/[^/]*$|^\/[^/]*$/, '$1') || '/',
  };
  const maxAge = given.get('max-age');
  const isOver = maxAge === undefined ? Date.parse(given.get('expires') ?? '') <= Date.now() : Number(maxAge) <= 0;
  return { cookie, isOver };
}

function isSame(one: Cookie, other: Cookie): boolean {
  return one.name === other.name && one.domain === other.domain && one.path === other.path;
}

/** True if the cookie is sent with a request for the URL (RFC 6265 section 5.4). */
function isFor({ domain, isHostOnly, path, isSecure }: Cookie, url: URL): boolean {
  const isHost = isHostOnly ? url.hostname === domain : isWithin(url.hostname, domain);
  const isPath = url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
  return isHost && isPath && (!isSecure || url.protocol === 'https:');
}

/**
 * True if the host is the domain of a cookie, or a name below it (RFC 6265 section 5.1.3). A domain without a dot, such
 * as a top-level domain, matches itself only.
 */
function isWithin(host: string, domain: string): boolean {
  return host === domain || (domain.includes('.') && /[a-z]/i.test(host) && host.endsWith(`.${domain}`));
}
