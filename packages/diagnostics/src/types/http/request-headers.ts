import type { InputError } from '@vantage/contract';

export const MAX_REQUEST_HEADERS = 20;
const MAX_REQUEST_HEADER_BYTES = 4 * 1024;

/** Hop-by-hop headers (RFC 9110 section 7.6.1) and similar ones: the probe controls the connection. */
const hopByHop = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const refused = new Map([
  ['host', 'is made from the URL'],
  ['user-agent', 'says who measures'],
  ['content-length', 'is set by the probe if there is a body'],
  ['expect', 'would delay a body, which the probe sends at once'],
  ...hopByHop.map((name) => [name, 'governs the connection, which belongs to the probe'] as const),
]);

/** A token (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * A field value (RFC 9110 section 5.5) without obs-text: the encoding of a JSON string's characters above ASCII would
 * be ambiguous.
 */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

/** The first fault of each request header, and one if all headers together are too large. */
export function headerErrors(headers: Readonly<Record<string, string>>): readonly InputError[] {
  const seen = new Set<string>();
  const errors = Object.entries(headers).flatMap(([name, value]) => {
    const fault = headerFault(name, value, seen);
    seen.add(name.toLowerCase());
    return fault === undefined ? [] : [{ path: `/options/headers/${pointer(name)}`, message: fault }];
  });
  // A header line also has a colon, a space and CRLF: four bytes.
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (bytes <= MAX_REQUEST_HEADER_BYTES) return errors;
  return [...errors, { path: '/options/headers', message: 'The headers are larger than 4 KiB in all.' }];
}

function headerFault(name: string, value: string, seen: ReadonlySet<string>): string | undefined {
  if (!TOKEN.test(name)) return `${JSON.stringify(name)} is not a valid header name.`;
  const reason = refused.get(name.toLowerCase());
  if (reason !== undefined) return `The header ${name} cannot be set: it ${reason}.`;
  if (seen.has(name.toLowerCase())) return `The header ${name} is given twice.`;
  if (!FIELD_VALUE.test(value)) {
    return `The value of ${name} is not valid: visible ASCII, spaces and tabs within.`;
  }
  return undefined;
}

/** Escapes a token of a JSON pointer (RFC 6901 section 3). */
function pointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
