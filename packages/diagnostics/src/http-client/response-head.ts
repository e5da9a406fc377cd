import { boundText, jsonBytes } from '../shared/bounded-text.ts';
import { MAX_KEPT_HEADER_BYTES, MAX_KEPT_HEADERS } from './bounds.ts';

/** The head of a response, common to HTTP/1.1 and HTTP/2. */
export interface Head {
  readonly statusCode: number;
  /** `null` for HTTP/2, which has no status line. */
  readonly statusText: string | null;
  readonly httpVersion: string;
  /** Alternating names and values in the order received, one character per byte, as in Node. */
  readonly rawHeaders: readonly string[];
}

/** The first value of a header, whose name is given in lower case. */
export function headerOf(head: Head, name: string): string | undefined {
  return headersOf(head, name)[0];
}

/** The values of all lines of a header, whose name is given in lower case. */
export function headersOf({ rawHeaders }: Head, name: string): readonly string[] {
  return rawHeaders.filter((_text, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
}

/** Result fields from the head, escaped and bounded. */
export function headFields(head: Head): {
  statusCode: number;
  statusText: string | null;
  httpVersion: string;
  location: string | null;
  headers: string[][];
  headerCount: number;
} {
  const location = headerOf(head, 'location');
  return {
    statusCode: head.statusCode,
    statusText: head.statusText === null ? null : boundText(fieldText(head.statusText), 256),
    httpVersion: head.httpVersion,
    location: location === undefined ? null : boundText(fieldText(location), 2048),
    headers: keptHeaders(head.rawHeaders),
    headerCount: head.rawHeaders.length / 2,
  };
}

function keptHeaders(rawHeaders: readonly string[]): string[][] {
  const kept: string[][] = [];
  let left = MAX_KEPT_HEADER_BYTES;
  for (let at = 0; at + 1 < rawHeaders.length && kept.length < MAX_KEPT_HEADERS; at += 2) {
    const name = boundText(fieldText(rawHeaders[at]!), 256);
    left -= jsonBytes(name);
    // A truncated value ends with an ellipsis, which must fit too.
    if (left < 4) break;
    const value = boundText(fieldText(rawHeaders[at + 1]!), left);
    left -= jsonBytes(value);
    kept.push([name, value]);
  }
  return kept;
}

/** RFC 9110 section 5.5 leaves bytes above ASCII undefined: decoded as UTF-8 if valid, else as ISO 8859-1. */
function fieldText(latin1: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}
