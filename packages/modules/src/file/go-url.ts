const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;
/** Characters allowed in a host; percent-encoded ones only beyond ASCII. */
const HOST = /^(?:[\w.~!$&'()*+,;=:[\]<>"-]|[^\p{ASCII}]|%[89a-f][0-9a-f])*$/iu;
const USER_INFO = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*$/i;
/** The zone of an IPv6 address, RFC 6874. */
const ZONE = /%25(?:[\w.~-]|%[0-9a-f]{2})*(?=\])/i;

/** True if the text passes the main checks of `Parse` of Go's `net/url`; releases of Go differ in rare forms. */
export function isGoUrl(text: string): boolean {
  const [, beforeFragment = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(text)!;
  if (/(?=\p{ASCII})\p{Cc}/u.test(text) || text.startsWith(':') || BROKEN_ESCAPE.test(fragment)) return false;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(beforeFragment)?.[0] ?? '';
  const rest = beforeFragment.slice(scheme.length).replace(/\?.*$/s, '');
  if (!rest.startsWith('/')) return scheme !== '' || !(/^[^/]*:/.test(rest) || BROKEN_ESCAPE.test(rest));
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
  if (!hasAuthority) return !BROKEN_ESCAPE.test(rest);
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(rest)!;
  return isAuthority(authority) && !BROKEN_ESCAPE.test(path);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  if (at >= 0 && !USER_INFO.test(authority.slice(0, at))) return false;
  const port = host.startsWith('[') ? /\]([^\]]*)$/.exec(host)?.[1] : (/:[^:]*$/.exec(host)?.[0] ?? '');
  return port !== undefined && /^(?::\d*)?$/.test(port) && HOST.test(host.replace(ZONE, ''));
}
