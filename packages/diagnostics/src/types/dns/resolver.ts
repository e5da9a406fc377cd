/** A resolver as written by a client or operator. */
export interface ResolverText {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Parses `host`, `host:port`, `address`, `address:port`, `[IPv6]` or `[IPv6]:port`. An IPv6 address with a port needs
 * brackets, which no other host has (RFC 3986 section 3.2.2). The host itself is validated at admission.
 *
 * @returns `undefined` for anything else
 */
export function parseResolver(text: string): ResolverText | undefined {
  const bare = text.split(':').length > 2 && !text.startsWith('[');
  if (bare) return /^[0-9a-f:.]+$/i.test(text) ? { host: text, port: undefined } : undefined;
  const parts = /^(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^[\]:\s]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined) return undefined;
  const port = parts?.[3] === undefined ? undefined : Number(parts[3]);
  if (port !== undefined && (port < 1 || port > 0xff_ff)) return undefined;
  return { host, port };
}

/** The inverse of `parseResolver`; omits the default port. */
export function resolverText(address: string, port: number, usualPort: number): string {
  if (port === usualPort) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** True for text that resembles an address literal; the target policy validates it. */
export function looksLikeAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}
