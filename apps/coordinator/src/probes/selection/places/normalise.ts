/** Letters that Unicode does not decompose, such as those with a stroke and ligatures. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  þ: 'th',
};

/** Lower case without accents; words of letters and digits separated by one space. */
export function normalisePlace(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[ßæœøđðłħıþ]/g, (letter) => LETTERS[letter]!)
    .replaceAll(/['’ʻ‘`]/g, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * Like `normalisePlace`, without spaces and a leading `the`, and with `saint` in full: "Hà Nội" equals "Hanoi", "St.
 * Gallen" equals "Saint Gallen".
 */
export function placeKey(text: string): string {
  return normalisePlace(text)
    .replace(/^the (?=\S)/, '')
    .replaceAll(/\bst\b/g, 'saint')
    .replaceAll(' ', '');
}
