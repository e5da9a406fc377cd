import { domainToASCII, domainToUnicode } from 'node:url';

import { formatAddress, parseIpv4, parseIpv6 } from '../addresses/address.ts';
import { forbidden, malformed, type Malformed, type MalformedCode } from './malformed.ts';

/** `host`: a destination of packets. `name`: a name to query, including `.` and `com`. */
export type HostKind = 'host' | 'name';

export interface CanonicalHost {
  readonly kind: 'name' | 'ipv4' | 'ipv6';
  /** Lower-case ASCII without a trailing dot (but for `.` itself), dotted quad, or RFC 5952 text without brackets. */
  readonly text: string;
}

export type Canonicalization = { readonly ok: true; readonly canonical: CanonicalHost } | Malformed;

const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
/** Maximum length before IDNA mapping. */
const MAX_RAW_LENGTH = 2048;

/**
 * Control, format, surrogate, private-use and unassigned characters, separators, and characters that fonts draw as
 * nothing.
 */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const NOT_ASCII = /\P{ASCII}/u;
const NAME_CHARACTERS = /^[a-z0-9._-]+$/;
const OTHER_CHARACTER = /[^a-z0-9._-]/;
/** Text that some parser reads as an IPv4 number: decimal and octal digits, or a 0x-number, including `0x` alone. */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * Converts a host to its canonical text, or explains why it is malformed. Later stages see the canonical text only, so
 * that parsers cannot disagree.
 *
 * @param dotless names without a dot that the operator allows for kind `host`
 */
export function canonicalizeHost(text: string, kind: HostKind, dotless: readonly string[] = []): Canonicalization {
  if (text === '') return malformed('empty');
  if (text.length > MAX_RAW_LENGTH) return malformed('too_long');
  if (INVISIBLE.test(text)) return forbidden(text, INVISIBLE);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return malformed('url');
  if (/[[\]:]/.test(text)) return canonicalizeIpv6(text);

  const ascii = toAscii(text);
  if ('ok' in ascii) return ascii;
  const ipv4 = parseIpv4(ascii.text);
  if (ipv4 !== undefined && !ascii.mapped) return accept('ipv4', formatAddress(ipv4));
  if (endsInNumber(ascii.text)) return malformed('non_canonical_ip');
  if (ascii.text === '.' && kind === 'name') return accept('name', '.');

  const name = ascii.text.replace(/\.$/, '');
  const fault = nameFault(name, kind);
  if (fault !== undefined) return malformed(fault);
  if (kind === 'host' && !name.includes('.') && !dotless.includes(name)) return malformed('dotless');
  return accept('name', name);
}

function canonicalizeIpv6(text: string): Canonicalization {
  const inner = /^\[([^[\]]*)\]$/.exec(text)?.[1] ?? text;
  if (/[[\]]/.test(inner) || (inner !== text && !inner.includes(':'))) return malformed('brackets');
  if (inner.includes('%')) return malformed('zone_id');
  const ipv6 = parseIpv6(inner);
  return ipv6 === undefined ? malformed('invalid_ipv6') : accept('ipv6', formatAddress(ipv6));
}

/**
 * IDNA ToASCII (UTS 46) for non-ASCII text. The mapping also decodes percent signs and parses numbers as addresses, so
 * ASCII bypasses it, and its output is checked again.
 */
function toAscii(text: string): { readonly text: string; readonly mapped: boolean } | Malformed {
  const mapped = NOT_ASCII.test(text);
  const visible = (mapped ? text.replaceAll(/\P{ASCII}/gu, '') : text).toLowerCase();
  if (visible !== '' && !NAME_CHARACTERS.test(visible)) return forbidden(visible, OTHER_CHARACTER);
  const ascii = mapped ? domainToASCII(text) : visible;
  return NAME_CHARACTERS.test(ascii) ? { text: ascii, mapped } : malformed('invalid_idna');
}

/** The last label, before one trailing dot, is a number: WHATWG URL, "ends in a number checker". */
function endsInNumber(text: string): boolean {
  return NUMBER.test(text.replace(/\.$/, '').split('.').at(-1)!);
}

function nameFault(name: string, kind: HostKind): MalformedCode | undefined {
  if (name.length > MAX_NAME_LENGTH) return 'too_long';
  const labels = name.split('.');
  if (labels.includes('')) return 'empty_label';
  if (labels.some((label) => label.length > MAX_LABEL_LENGTH)) return 'label_too_long';
  if (labels.some((label) => label.startsWith('-'))) return 'leading_hyphen';
  // A name with invalid Punycode after `xn--` may be queried, but a host needs a name that can be displayed.
  if (kind === 'host' && labels.some(isBrokenALabel)) return 'invalid_idna';
  return undefined;
}

function isBrokenALabel(label: string): boolean {
  if (!label.startsWith('xn--')) return false;
  const unicode = domainToUnicode(label);
  return unicode === label || domainToASCII(unicode) !== label;
}

function accept(kind: CanonicalHost['kind'], text: string): Canonicalization {
  return { ok: true, canonical: { kind, text } };
}
