import { describe, expect, it } from '@jest/globals';

import { plainText } from './plain-text.ts';

describe('the text of a card', () => {
  it.each([
    ['tcp bücher.example:443', 'tcp xn--bcher-kva.example:443'],
    ['http https://bücher.example/ä', 'http https://xn--bcher-kva.example/a'],
    ['No probe reaches bücher.example.', 'No probe reaches xn--bcher-kva.example.'],
    ['ping 例え.テスト', 'ping xn--r8jz45g.xn--zckzah'],
  ])('has host names in ASCII: %s', (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it.each([
    ['AS9121 Türk Telekom, Ankara, Türkiye.', 'AS9121 Turk Telekom, Ankara, Turkiye.'],
    ['AS64500 Sánchez y Cía. Ltda.', 'AS64500 Sanchez y Cia. Ltda.'],
    ['Up from São Tomé & Príncipe. No answer elsewhere.', 'Up from Sao Tome & Principe. No answer elsewhere.'],
  ])('does not take the end of a sentence for a host name: %s', (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });
});
