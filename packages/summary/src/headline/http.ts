import { ofType, type ProbeResult } from '../probe-result.ts';
import { redirectedTo } from '../redirected.ts';
import { shown, unique } from '../words.ts';

/** The HTTP status, if it is below 400 and equal for all probes. */
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
  const places = ofType<'http'>(up).map(({ result }) => {
    const first = URL.parse(result.redirects?.[0]?.url ?? '')?.hostname ?? '';
    // A redirect that was refused has led nowhere.
    const last = result.statusCode === undefined ? undefined : redirectedTo(result);
    return last === undefined || withoutWww(last.hostname) === withoutWww(first) ? undefined : shown(last.origin, 120);
  });
  const hosts = unique(places.filter((place) => place !== undefined));
  if (places.includes(undefined) || hosts.length === 0) return 'answers';
  return hosts.length === 1
    ? `redirects to ${hosts[0]}, which answers`
    : `redirects to ${hosts.length} places, which answer`;
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}
