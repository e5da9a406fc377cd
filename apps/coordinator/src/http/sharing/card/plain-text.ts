import { domainToASCII } from 'node:url';

/** Labels with periods between them: a word followed only by the period of its sentence is no host name. */
const NAME = /[[^\s\p{P}]_\-]+(?:\.[[^\s\p{P}]_\-]+)+/gv;

/**
 * Reduces a text to the available glyphs, as far as possible: host names in ASCII form (RFC 5891), letters without
 * diacritics.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(NAME, (name) => (/[^\p{ASCII}]/u.test(name) ? domainToASCII(name) || name : name))
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '');
}
