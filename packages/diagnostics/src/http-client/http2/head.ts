import type { Head } from '../response-head.ts';
import type { Deviates } from '../deviations.ts';

/** Decoded header fields. */
export type Fields = readonly (readonly [name: string, value: string])[];

export type Http2Head =
  | { readonly head: Head; readonly fault: null }
  /** A malformed response (RFC 9113 section 8.1.1): the reason, and the head, or null without a valid status. */
  | { readonly head: Head | null; readonly fault: string };

/** The head of an answer from its decoded fields. */
export function readHttp2Head(fields: Fields, deviates: Deviates): Http2Head {
  const statuses = fields.filter(([name]) => name === ':status').map(([, value]) => value);
  const rawHeaders = fields.filter(([name]) => !name.startsWith(':')).flatMap(([name, value]) => [name, trim(value)]);
  const [status = ''] = statuses;
  const statusCode = /^\d{3}$/.test(status) ? Number(status) : 0;
  const head: Head | null = statusCode < 100 ? null : { statusCode, statusText: null, httpVersion: '2', rawHeaders };
  if (head === null) return { head, fault: 'it has no status of three digits (RFC 9113 section 8.3.2)' };
  if (statuses.length > 1) return { head, fault: 'it has two statuses (RFC 9113 section 8.3.2)' };
  return { head, fault: fieldFault(fields, [':status'], deviates) };
}

/**
 * The first reason why fields are refused in a message (RFC 9113 sections 8.2, 8.3); null if they are accepted.
 *
 * @param pseudo the allowed pseudo-headers
 */
export function fieldFault(fields: Fields, pseudo: readonly string[], deviates: Deviates): string | null {
  let isPastPseudo = false;
  for (const [name, value] of fields) {
    if (name.startsWith(':')) {
      if (!pseudo.includes(name)) deviates('pseudo_header_unexpected');
      else if (isPastPseudo) return 'a pseudo-header follows a header (RFC 9113 section 8.3)';
      continue;
    }
    isPastPseudo = true;
    if (!NAME.test(name)) return 'the name of a header is not valid (RFC 9113 section 8.2.1)';
    if (FORBIDDEN_IN_VALUE.test(value)) return 'the value of a header has a control character (RFC 9113 section 8.2.1)';
    if (name === 'transfer-encoding') return 'it has a transfer coding (RFC 9113 section 8.2.2)';
    if (trim(value) !== value) deviates('header_value_space');
    if (connectionHeaders.has(name)) deviates('connection_header');
  }
  return null;
}

function trim(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

/** Name of a header: visible ASCII without upper case and without a colon (RFC 9113 section 8.2.1). */
const NAME = /^[\x21-\x39\x3b-\x40\x5b-\x7e]+$/;
// oxlint-disable-next-line no-control-regex -- these are what is forbidden
const FORBIDDEN_IN_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const connectionHeaders = new Set(['connection', 'proxy-connection', 'keep-alive', 'upgrade']);
