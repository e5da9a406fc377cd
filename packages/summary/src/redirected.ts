import type { SparseResultOf } from './probe-result.ts';
import { safeText } from './words.ts';

type Http = SparseResultOf<'http'>;

/** The last URL, if redirects led there from another origin; undefined otherwise. */
export function redirectedTo({ redirects = [], url }: Http): URL | undefined {
  const [first, last] = [redirects[0]?.url, url].map((text) => URL.parse(text ?? '') ?? undefined);
  return first !== undefined && last !== undefined && first.origin !== last.origin ? last : undefined;
}

/** ` at https://b.example, to which it redirects`; empty without redirects to another origin. */
export function redirectPlace(result: Http): string {
  const last = redirectedTo(result);
  return last === undefined ? '' : ` at ${safeText(last.origin, 120)}, to which it redirects`;
}

/**
 * True for a redirect whose Location is none that an http client can follow, such as that of an app or a mail address.
 */
export function leadsToNoPage({ location, url }: Http): boolean {
  if (location === null || location === undefined) return false;
  return !/^https?:$/.test(URL.parse(location, url)?.protocol ?? '');
}

/**
 * The family of the address to which redirects led, if the check failed because it measures the other one; undefined
 * otherwise.
 */
export function familyOfRedirect(result: Http): 'IPv4' | 'IPv6' | undefined {
  const { error } = result;
  if (error?.phase !== 'resolve' || error.code !== 'dns_no_address') return undefined;
  const host = redirectedTo(result)?.hostname ?? '';
  if (host.startsWith('[')) return 'IPv6';
  return /^\d+(\.\d+){3}$/.test(host) ? 'IPv4' : undefined;
}

/** The host of the last URL; undefined for other types, and without redirects to another origin. */
export function redirectedHost(result: Http): string | undefined {
  const last = redirectedTo(result);
  return last === undefined ? undefined : safeText(last.hostname, 120);
}
