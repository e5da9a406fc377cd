/** What a caller or an operator writes for a resolver. */
export interface ResolverText {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Reads `host`, `host:port`, `address`, `address:port`, `[IPv6]` or `[IPv6]:port`. An IPv6 address with a port needs the
 * brackets, which no other host has (RFC 3986 section 3.2.2). What the host is, only the admission says.
 *
 * @returns `undefined` for another form
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

/** The inverse of `parseResolver`; the port is left out where it is the usual one. */
export function resolverText(address: string, port: number, usualPort: number): string {
  if (port === usualPort) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** True for what looks like an address literal; whether it is one in canonical form, the policy says. */
export function looksLikeAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}
