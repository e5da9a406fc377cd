import { domainToASCII } from 'node:url';

/**
 * Reduces a text to the available glyphs, as far as possible: host names in ASCII form (RFC 5891), letters without
 * diacritics.
 */
export function plainText(text: string): string {
  return text
    .split(/([^\s/:[\]]+)/)
    .map((word) => (/[^\p{ASCII}]/u.test(word) && word.includes('.') ? domainToASCII(word) || word : word))
    .join('')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '');
}
