/** Control and format characters and separators, except line feeds; `JSON.stringify` escapes those below U+0020. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Serialises a value with all characters escaped that could control a terminal. */
export function jsonText(value: unknown, indent = 2): string {
  return withoutControls(JSON.stringify(value, null, indent));
}

/** Escapes characters that could control a terminal, other than line feeds. */
export function withoutControls(text: string): string {
  return text.replaceAll(UNSAFE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
