/**
 * Escapes untrusted text (PTR name, AS name, certificate field, header, peer message): the characters of `UNSAFE`, such
 * as control characters, become `\u{…}`, and the length is bounded.
 *
 * @param maxCodePoints bound of the result; longer text ends in `…`
 */
export function escapeText(text: string, maxCodePoints = 256): string {
  // Fast path: one test of the whole text instead of one per character.
  if (text.length <= maxCodePoints && !UNSAFE.test(text)) return text;
  let escaped = '';
  let length = 0;
  for (const character of text) {
    const shown = UNSAFE.test(character) ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character;
    length += shown === character ? 1 : shown.length;
    if (length > maxCodePoints) return truncate(escaped, maxCodePoints);
    escaped += shown;
  }
  return escaped;
}

/**
 * Parses JSON from outside, and escapes its text values as `escapeText` does, but not the names of fields. No value
 * gets longer, in code points, so the bounds of a schema hold.
 *
 * @throws SyntaxError
 */
export function parseEscaped(json: string): unknown {
  // Without these characters, no string needs an escape.
  if (!ESCAPED_IN_JSON.test(json) && !UNSAFE.test(json)) return JSON.parse(json) as unknown;
  return JSON.parse(json, (_name, value: unknown) =>
    typeof value === 'string' ? escapeText(value, Array.from(value).length) : value,
  ) as unknown;
}

/** Escape sequences of RFC 8259 section 7 that may denote control characters. */
const ESCAPED_IN_JSON = /\\[bfnrtu]/;

/**
 * Characters that are escaped, by category: Cc, Cf (bidi controls, zero width, soft hyphen), Cs (lone surrogates), Co,
 * Cn, line and paragraph separators.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

/**
 * True if an operator's text can be shown as it is: it has a visible character, and none that ends a line, controls a
 * terminal or changes the direction of text. Joiners are allowed, which some scripts and emojis need.
 */
export function isShowable(text: string): boolean {
  return /[^\s\p{Cf}]/u.test(text) && !CONTROLS.test(text);
}

const CONTROLS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function truncate(text: string, maxCodePoints: number): string {
  return `${Array.from(text)
    .slice(0, maxCodePoints - 1)
    .join('')}…`;
}
