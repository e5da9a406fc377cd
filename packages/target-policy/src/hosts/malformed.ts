/** All ways in which a host or URL can be malformed, with a sentence each. The coordinator answers 400. */
export const malformedReasons = {
  empty: 'The host is empty.',
  too_long: 'The host is longer than 253 characters after IDNA to-ASCII.',
  forbidden_character: 'The host contains a character that no host name has.',
  brackets: 'Brackets may only surround an IPv6 address, as one pair; in a URL it needs them.',
  zone_id: 'An IPv6 zone id has a meaning on one machine only and is not accepted.',
  url: 'This is a URL, which only http checks take; others take its host name or address alone.',
  invalid_ipv6: 'A colon belongs to an IPv6 address, and this is none; a port goes into its own field.',
  non_canonical_ip:
    'A host whose last label is a number must be an IPv4 address of four decimal octets without leading zeros, in ASCII digits and without a trailing dot.',
  invalid_idna: 'The host is not a valid internationalised domain name.',
  empty_label: 'The host has an empty label.',
  label_too_long: 'A label of the host is longer than 63 characters.',
  leading_hyphen: 'A label of the host begins with a hyphen.',
  dotless: 'The host has no dot: a fully qualified name is needed.',
  family_mismatch: 'The host is an address of another family than `family` asks for.',
  url_syntax: 'The URL is not an absolute http or https URL, such as https://example.com/.',
  url_too_long: 'The URL is longer than 2,048 characters.',
  url_credentials: 'The URL contains credentials.',
  url_character: 'The URL contains a control or blank character, or a backslash before its query.',
  url_port: 'The port of the URL is not a number from 1 to 65535 without leading zeros.',
} as const;

export type MalformedCode = keyof typeof malformedReasons;

export interface Malformed {
  readonly ok: false;
  readonly code: MalformedCode;
  readonly message: string;
}

export function malformed(code: MalformedCode): Malformed {
  return { ok: false, code, message: malformedReasons[code] };
}

/**
 * A fault that names the first matching character: a printable ASCII character as it is, a space as “a blank”, any
 * other by its code point.
 */
export function forbidden(text: string, pattern: RegExp): Malformed {
  const [character = ''] = pattern.exec(text) ?? [];
  const isPrintable = /^[!-~]$/.test(character);
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = character === ' ' ? 'a blank' : isPrintable ? `“${character}”` : `the character U+${code}`;
  return { ...malformed('forbidden_character'), message: `The host contains ${name}, which no host name has.` };
}
