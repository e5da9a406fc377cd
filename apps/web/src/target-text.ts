/** What a person typed or pasted, as far as it can be understood. */
export interface TypedTarget {
  readonly host: string;
  /** From `host:443`. */
  readonly port?: string;
  /** The scheme of a URL. */
  readonly isUrl: boolean;
}

/** Reads a URL, `host:port`, `[::1]:port` or a plain host. Says nothing of whether it is valid: that is the service's work. */
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
 * The host as a check type wants it: a URL for http, a bare host for the others, whatever of the two was typed.
 *
 * @param hostKind of the check type
 */
export function hostFor(hostKind: 'host' | 'url' | 'name', text: string): string {
  const { host, port, isUrl } = readTarget(text);
  if (hostKind === 'url') {
    if (isUrl || host === '') return host;
    const name = host.includes(':') ? `[${host}]` : host;
    return `https://${name}${port === undefined ? '' : `:${port}`}`;
  }
  if (!isUrl) return host;
  try {
    return new URL(host).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return host;
  }
}

/** The port that the text names: `:8443`, or the one of the scheme. */
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
