import { isIP } from 'node:net';

import { isRedirect, keyOf, redirected, withCookies, type Request } from '../../../http-client/request.ts';
import { headerOf } from '../../../http-client/response-head.ts';
import type { CookieJar } from './cookies.ts';
import type { Step } from '../hop/hop-timings.ts';
import type { HttpFields } from '../types.ts';

/** Determines how browsers would go on if answers of the check demand https (HSTS, RFC 6797). */
export interface Hsts {
  /**
   * Notes the demand of an answer, and finds whether browsers ask another URL than that of its redirect.
   *
   * @param request without the cookies of earlier answers, and as `sent` with them
   */
  readonly after: (request: Request, sent: Request, step: Step) => Pick<HttpFields, 'hsts'>;
}

/** @param jar with the cookies of each answer before `after` is called for it */
export function createHsts(jar: CookieJar): Hsts {
  const hosts = new Map<string, Policy>();
  const asked = new Set<string>();
  return {
    after: (request, sent, { head, fields }) => {
      asked.add(keyOf(sent));
      if (head === null) return {};
      // RFC 6797 section 8.1: only over TLS without a fault, and only the first header.
      const policy =
        fields.tls?.authorized === true ? readPolicy(headerOf(head, 'strict-transport-security')) : undefined;
      const { hostname } = request.url;
      if (policy?.isOver === true) hosts.delete(hostname);
      else if (policy !== undefined && isIP(hostname.replace(/^\[|\]$/g, '')) === 0) hosts.set(hostname, policy);

      const next = isRedirect(head) ? redirected(request, head) : null;
      if (next === null || next.failure !== null || !isUpgraded(next.request.url, hosts)) return {};
      const url = new URL(next.request.url);
      // The port 80 is that of no port, and becomes 443 with the protocol (RFC 6797 section 8.3).
      url.protocol = 'https:';
      const ofBrowsers = withCookies({ ...next.request, url }, jar.cookiesFor(url));
      return { hsts: asked.has(keyOf(ofBrowsers)) ? 'loop' : 'upgraded' };
    },
  };
}

interface Policy {
  readonly isOver: boolean;
  readonly includesSubdomains: boolean;
}

/** A part between semicolons, which quotes may have too. */
const PART = /(?:[^";]|"(?:[^"\\]|\\.)*"?)+/g;
const DIRECTIVE = /^([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+)))?$/;

/** Reads the header (RFC 6797 section 6.1); undefined for one that is ignored. */
function readPolicy(header = ''): Policy | undefined {
  const directives = (header.match(PART) ?? [])
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => DIRECTIVE.exec(part));
  if (directives.includes(null)) return undefined;
  const valuesOf = (name: string): readonly (string | undefined)[] =>
    directives.flatMap((directive) => (directive![1]!.toLowerCase() === name ? [directive![2] ?? directive![3]] : []));
  const [maxAges, included] = [valuesOf('max-age'), valuesOf('includesubdomains')];
  if (maxAges.length !== 1 || included.length > 1 || included[0] !== undefined) return undefined;
  const [maxAge = ''] = maxAges;
  if (!/^\d+$/.test(maxAge)) return undefined;
  return { isOver: Number(maxAge) === 0, includesSubdomains: included.length === 1 };
}

/** True if browsers ask https in place of this URL (RFC 6797 section 8.2). */
function isUpgraded({ protocol, hostname }: URL, hosts: ReadonlyMap<string, Policy>): boolean {
  if (protocol !== 'http:') return false;
  return [...hosts].some(
    ([host, { includesSubdomains }]) => hostname === host || (includesSubdomains && hostname.endsWith(`.${host}`)),
  );
}
