import type { Deviates } from '../deviations.ts';
import type { Head } from '../response-head.ts';

/** How the end of a response is determined (RFC 9112 section 6.3); a text with the reason if it cannot be. */
export type Framing =
  | { readonly kind: 'none' | 'chunked' | 'untilClose' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'undecidable'; readonly reason: string };

/** Determines the framing of a response's body. */
export function framingOf(method: string, head: Head, deviates: Deviates): Framing {
  const { statusCode } = head;
  const codings = listOf(head, 'transfer-encoding').map((coding) => coding.toLowerCase());
  const lengths = listOf(head, 'content-length');
  if (statusCode === 204 || statusCode < 200) {
    if (codings.length > 0 || lengths.length > 0) deviates('length_unexpected');
    return { kind: 'none' };
  }
  if (method === 'HEAD' || statusCode === 304) return { kind: 'none' };
  if (codings.length > 0) {
    const framing = byCodings(codings, lengths.length > 0, head, deviates);
    if (framing !== undefined) return framing;
  }
  if (lengths.length === 0) return { kind: 'untilClose' };
  return byLengths(lengths, statusCode, deviates);
}

function byCodings(
  codings: readonly string[],
  hasLength: boolean,
  { httpVersion }: Head,
  deviates: Deviates,
): Framing | undefined {
  // RFC 7230 removed `identity`; servers that still send it mean no coding.
  const own = codings.filter((coding) => coding !== 'identity');
  const chunked = own.filter((coding) => coding === 'chunked').length;
  if (codings.length > chunked) deviates('transfer_encoding_unasked');
  if (own.length === 0) return undefined;
  if (chunked > 1) deviates('transfer_encoding_repeated');
  if (Number.parseFloat(httpVersion) < 1.1) deviates('transfer_encoding_version');
  if (hasLength) deviates('content_length_and_chunked');
  return { kind: own.at(-1) === 'chunked' ? 'chunked' : 'untilClose' };
}

function byLengths(lengths: readonly string[], statusCode: number, deviates: Deviates): Framing {
  const [length] = lengths as readonly [string];
  if (lengths.every((other) => !/^\d+$/.test(other))) {
    deviates('content_length_invalid');
    return { kind: 'untilClose' };
  }
  if (lengths.some((other) => Number(other) !== Number(length))) {
    return { kind: 'undecidable', reason: 'it has two different lengths (RFC 9112 section 6.3)' };
  }
  if (lengths.length > 1) deviates('content_length_repeated');
  if (statusCode === 205 && Number(length) > 0) deviates('body_unexpected');
  return { kind: 'length', bytes: Number(length) };
}

/** Elements of a list header in all its lines (RFC 9110 section 5.6.1). An empty line counts as an empty element. */
function listOf({ rawHeaders }: Head, name: string): readonly string[] {
  return rawHeaders.flatMap((text, index) => {
    if (index % 2 === 0 || rawHeaders[index - 1]!.toLowerCase() !== name) return [];
    return text.split(',').map((element) => element.trim());
  });
}

/** Maximum number of hexadecimal digits that a number represents exactly. */
const MAX_CHUNK_DIGITS = 13;

/** @returns the size, or the reason if the line is no chunk size or too large a one */
export function readChunkSize(line: string, deviates: Deviates): number | string {
  const [, digits, space] = /^([0-9a-f]+)([ \t]*)(?:;.*)?$/is.exec(line) ?? [];
  if (digits === undefined) return 'the size of a chunk is no number (RFC 9112 section 7.1)';
  if (digits.replace(/^0+/, '').length > MAX_CHUNK_DIGITS) return 'the size of a chunk is too large';
  if (space !== '' && !line.includes(';')) deviates('chunk_size_spacing');
  return Number.parseInt(digits, 16);
}
