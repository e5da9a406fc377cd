import { escapeText } from '@vantage/contract';

/**
 * Makes text from outside safe to show and bounds what it takes in a result: a code point may take four bytes, and a
 * quote or backslash two.
 *
 * @param maxBytes bound of the text in JSON, without its quotes, and of its code points
 */
export function boundText(text: string, maxBytes: number): string {
  const escaped = escapeText(text, maxBytes);
  if (jsonBytes(escaped) <= maxBytes) return escaped;

  let kept = '';
  let bytes = ELLIPSIS_BYTES;
  for (const character of escaped) {
    bytes += jsonBytes(character);
    if (bytes > maxBytes) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Size of a text in JSON, in bytes of UTF-8, without quotes. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

const ELLIPSIS_BYTES = 3;
