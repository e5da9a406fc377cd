import type { Check } from '@vantage/contract';

import { ofType, type ProbeResult, type SparseResultOf } from '../probe-result.ts';
import { redirectedTo } from '../redirected.ts';
import { listed, naming, safeText, unique } from '../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** ` with status 200`, if all probes got the same status and it is below 400; empty otherwise. */
export function statusOf(up: readonly ProbeResult[]): string {
  const codes = new Set(ofType<'http'>(up).map(({ result }) => result.statusCode));
  const [code = 400] = codes;
  return codes.size === 1 && code < 400 ? ` with status ${code}` : '';
}

/**
 * `redirects to https://b.example, which answers` (or `to 2 places, which answer`) if redirects led all probes to
 * another host, else `answers`. Hosts that differ only in a leading `www.` count as one.
 */
export function redirectionOf(up: readonly ProbeResult[]): string {
  const led = ofType<'http'>(up).filter(isLedElsewhere);
  if (led.length < up.length || led.length === 0) return 'answers';
  const places = placesOf(led);
  return places.length === 1
    ? `redirects to ${places[0]}, which answers`
    : `redirects to ${places.length} places, which answer`;
}

/**
 * `, for fra-1 after a redirect to https://b.example`; empty if redirects led every probe or no probe to another host.
 */
export function partlyRedirected({ type }: Check, up: readonly ProbeResult[]): string {
  const led = type === 'http' ? ofType<'http'>(up).filter(isLedElsewhere) : [];
  if (led.length === up.length || led.length === 0) return '';
  const redirects = led.length === 1 ? 'a redirect' : 'redirects';
  return `, for ${naming(led)} after ${redirects} to ${listed(placesOf(led), 2)}`;
}

function placesOf(led: readonly HttpResult[]): readonly string[] {
  return unique(led.map(({ result }) => safeText(redirectedTo(result)!.origin, 120)));
}

/** True if redirects that were followed led to an answer of another host; a leading `www.` makes no difference. */
function isLedElsewhere({ result }: HttpResult): boolean {
  const first = URL.parse(result.redirects?.[0]?.url ?? '')?.hostname ?? '';
  // A redirect that was refused has led nowhere.
  const last = result.statusCode === undefined ? undefined : redirectedTo(result);
  return last !== undefined && withoutWww(last.hostname) !== withoutWww(first);
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}
