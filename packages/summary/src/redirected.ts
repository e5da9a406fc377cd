import type { SparseResultOf } from './probe-result.ts';
import { shown } from './words.ts';

type Http = SparseResultOf<'http'>;

/** The origin of the last URL, if redirects led there from another one; undefined otherwise. */
export function redirectedTo({ redirects = [], url }: Http): URL | undefined {
  const [first, last] = [redirects[0]?.url, url].map((text) => URL.parse(text ?? '') ?? undefined);
  return first !== undefined && last !== undefined && first.origin !== last.origin ? last : undefined;
}

/** ` at https://b.example, to which it redirects`; empty if the last answer is that of the URL of the check. */
export function redirectPlace(result: Http): string {
  const last = redirectedTo(result);
  return last === undefined ? '' : ` at ${shown(last.origin, 120)}, to which it redirects`;
}

/** The host of the last URL; undefined for other types, and without redirects to another one. */
export function redirectedHost(result: Http): string | undefined {
  const last = redirectedTo(result);
  return last === undefined ? undefined : shown(last.hostname, 120);
}
