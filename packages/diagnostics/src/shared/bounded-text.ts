import { escapeText } from '@vantage/contract';

/**
 * Escapes untrusted text and cuts it to a size, with “…” at the end. The size is that in JSON, where a code point takes
 * up to four bytes, and a quote or backslash two.
 *
 * @param maxBytes limit of its size in JSON without quotes, and of its number of code points
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
