import { canonicalizeHost, type CanonicalHost } from './canonical-host.ts';
import { malformed, type Malformed } from './malformed.ts';

export interface CanonicalUrl {
  readonly ok: true;
  /** The URL as WHATWG URL serialises it, with the canonical host. */
  readonly url: string;
  readonly protocol: 'http' | 'https';
  readonly host: CanonicalHost;
  /** The explicit port, or that of the protocol. */
  readonly port: number;
}

const MAX_URL_LENGTH = 2048;
const DEFAULT_PORTS = { http: 80, https: 443 };
/**
 * Scheme, authority, rest. WHATWG also accepts `http:host`, `http:///host` and `http:\\host`; here they are malformed.
 */
const ABSOLUTE = /^(https?):\/\/([^/?#]*)(.*)$/i;
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Z}]/u;

/**
 * Converts an absolute http(s) URL to its canonical text. The rules of `canonicalizeHost` apply to the host as written,
 * before WHATWG URL turns `0177.0.0.1`, `①27.1` or `127%2e1` into an address.
 *
 * @param dotless see `canonicalizeHost`
 */
export function canonicalizeUrl(text: string, dotless: readonly string[] = []): CanonicalUrl | Malformed {
  if (text.length > MAX_URL_LENGTH) return malformed('url_too_long');
  if (FORBIDDEN.test(text) || /^[^?#]*\\/.test(text)) return malformed('url_character');
  const [, scheme, authority, rest] = ABSOLUTE.exec(text) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return malformed('url_syntax');
  if (authority.includes('@')) return malformed('url_credentials');

  const protocol = scheme.toLowerCase() === 'https' ? 'https' : 'http';
  const split = splitAuthority(authority);
  if ('ok' in split) return split;
  const { hostText, portText } = split;
  const port = portText === '' ? DEFAULT_PORTS[protocol] : parsePort(portText);
  if (port === undefined) return malformed('url_port');
  const host = canonicalizeHost(hostText, 'host', dotless);
  if (!host.ok) return host;
  return assemble(protocol, host.canonical, port, rest);
}

/** The port may be empty: RFC 3986 section 3.2.3. An IPv6 address needs its brackets: section 3.2.2. */
function splitAuthority(authority: string): { readonly hostText: string; readonly portText: string } | Malformed {
  const end = authority.startsWith('[') ? authority.lastIndexOf(']') + 1 : authority.search(/:|$/);
  const tail = authority.slice(end);
  if (end === 0 && authority !== '' && !authority.startsWith(':')) return malformed('brackets');
  if (tail !== '' && !tail.startsWith(':')) return malformed('brackets');
  if (tail.includes(':', 1)) return malformed('brackets');
  return { hostText: authority.slice(0, end), portText: tail.slice(1) };
}

function assemble(
  protocol: CanonicalUrl['protocol'],
  host: CanonicalHost,
  port: number,
  rest: string,
): CanonicalUrl | Malformed {
  const hostText = host.kind === 'ipv6' ? `[${host.text}]` : host.text;
  const url = URL.parse(`${protocol}://${hostText}:${port}${rest}`);
  // Cross-check: WHATWG URL must find the same host.
  if (url === null || !isSameHost(url.hostname, host)) return malformed('url_syntax');
  return url.href.length > MAX_URL_LENGTH
    ? malformed('url_too_long')
    : { ok: true, url: url.href, protocol, host, port };
}

function isSameHost(hostname: string, host: CanonicalHost): boolean {
  if (host.kind !== 'ipv6') return hostname === host.text;
  const seen = canonicalizeHost(hostname, 'host');
  return seen.ok && seen.canonical.kind === 'ipv6' && seen.canonical.text === host.text;
}

function parsePort(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text) || Number(text) > 65_535) return undefined;
  return Number(text);
}
