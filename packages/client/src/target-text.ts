/** Parsed user input. */
export interface TypedTarget {
  readonly host: string;
  /** Port of `host:443`. */
  readonly port?: string;
  /** True if the text begins with `http://` or `https://`. */
  readonly isUrl: boolean;
}

/** Parses a URL, `host:port`, `[::1]:port` or a bare host. Does not validate; the service does. */
export function readTarget(text: string): TypedTarget {
  const typed = text.trim();
  if (/^https?:\/\//i.test(typed)) return { host: typed, isUrl: true };
  const [, bracketed, port] = /^\[([0-9a-f:.]+)\](?::(\d{1,5}))?$/i.exec(typed) ?? [];
  if (bracketed !== undefined) return { host: bracketed, isUrl: false, ...(port === undefined ? {} : { port }) };
  const [, name, number] = /^([^\s:/]+):(\d{1,5})$/.exec(typed) ?? [];
  if (name !== undefined) return { host: name, isUrl: false, port: number! };
  return { host: typed, isUrl: false };
}

/**
 * Converts the text to the form of the check type: a URL for http, a bare host otherwise. A malformed URL stays as it
 * is.
 *
 * @param hostKind of the check type
 */
export function hostFor(hostKind: 'host' | 'url' | 'name', text: string): string {
  const { host, isUrl } = readTarget(text);
  if (hostKind === 'url') return isUrl || host === '' ? host : urlOf(text.trim());
  if (!isUrl) return host;
  try {
    return new URL(host).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return host;
  }
}

/** The URL that a text without a scheme means: with http on port 80, else with https. */
function urlOf(text: string): string {
  const [, authority = '', rest = ''] = /^([^/?#]*)(.*)$/s.exec(text) ?? [];
  const { host, port } = readTarget(authority);
  const name = host.includes(':') ? `[${host}]` : host;
  return `${port === '80' ? 'http' : 'https'}://${name}${port === undefined ? '' : `:${port}`}${rest}`;
}

/** Port in the text: `:8443`, or the default of the URL's scheme; undefined without either. */
export function portIn(text: string): string | undefined {
  const { host, port, isUrl } = readTarget(text);
  if (!isUrl) return port;
  try {
    const url = new URL(host);
    return url.port === '' ? { 'http:': '80', 'https:': '443' }[url.protocol] : url.port;
  } catch {
    return undefined;
  }
}
