import { boundText } from '../../shared/bounded-text.ts';
import { headerOf, type Head } from '../../http-client/response-head.ts';
import { MAX_ALTERNATIVES } from './result-fields.ts';
import type { HttpFields } from './types.ts';

type AltSvc = NonNullable<HttpFields['altSvc']>;

/**
 * Parses the first `MAX_ALTERNATIVES` alternative services in the first `Alt-Svc` header (RFC 7838 section 3); none of
 * them is tried. Malformed entries are skipped.
 *
 * @returns `null` without the header; an empty list for `clear`
 */
export function altSvcOf(head: Head): AltSvc | null {
  const header = headerOf(head, 'alt-svc');
  if (header === undefined) return null;
  return [...header.slice(0, MAX_HEADER).matchAll(ENTRY)].slice(0, MAX_ALTERNATIVES).flatMap((entry) => {
    const [, protocol = '', authority = '', parameters = ''] = entry;
    const [, host = '', port = ''] = /^(.*):(\d{1,5})$/s.exec(unescaped(authority)) ?? [];
    if (port === '' || Number(port) > 65_535) return [];
    const maxAge = /;[ \t]*ma="?(\d{1,12})"?/i.exec(parameters)?.[1];
    return [
      {
        protocol: boundText(percentDecoded(protocol), 32),
        host: host === '' ? null : boundText(host, 256),
        port: Number(port),
        // RFC 7838 section 3.1: without `ma` an alternative is fresh for 24 hours.
        maxAge: maxAge === undefined ? 86_400 : Number(maxAge),
      },
    ];
  });
}

const MAX_HEADER = 2_048;

/** `protocol-id="[host]:port"; parameter=value; …`; a quoted string may have commas. */
const ENTRY =
  /([!#$%&'*+.^_`|~0-9A-Za-z-]+)="((?:[^"\\]|\\.)*)"((?:[ \t]*;[ \t]*[^=;,\s]+=(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))*)/g;

function unescaped(quoted: string): string {
  return quoted.replaceAll(/\\(.)/gs, '$1');
}

/** RFC 7838 section 3: characters not allowed in a token are percent-encoded. */
function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
