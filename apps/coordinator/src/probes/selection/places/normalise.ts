/** Letters with a stroke or two in one, which Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ı: 'i', þ: 'th' },
};

/** Lower case, no accents, words of letters and digits with one space between. */
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

/** As `normalisePlace`, without blanks and with `saint` in full: "Hà Nội" and "Hanoi", "St. Gallen" and "Saint Gallen" are one. */
export function placeKey(text: string): string {
  return normalisePlace(text)
    .replace(/^the (?=\S)/, '')
    .replaceAll(/\bst\b/g, 'saint')
    .replaceAll(' ', '');
}
