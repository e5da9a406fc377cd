import { domainToASCII } from 'node:url';

/**
 * A text in the letters of a card: names of hosts in their ASCII form (RFC 5891), letters without their marks. A box stands for
 * each other character.
 */
export function plainText(text: string): string {
  return text
    .split(/([^\s/:[\]]+)/)
    .map((word) => (/[^\p{ASCII}]/u.test(word) && word.includes('.') ? domainToASCII(word) || word : word))
    .join('')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '');
}
