/** A rule of HTTP or gzip that a response violates. */
interface Rule {
  readonly clause: string;
  readonly text: string;
}

/** Every deviation that a result can name, with the clause that an answer departs from. */
export const deviationRules = {
  status_prefix: { clause: 'RFC 9112 section 4', text: 'Bytes before the status line.' },
  status_name_case: { clause: 'RFC 9112 section 2.3', text: 'The name HTTP of the status line is not in upper case.' },
  status_version: { clause: 'RFC 9112 section 2.3', text: 'The status line has no version of HTTP/1.' },
  status_spacing: {
    clause: 'RFC 9112 section 4',
    text: 'The parts of the status line are not separated by one space each.',
  },
  reason_control_character: { clause: 'RFC 9112 section 4', text: 'A control character in the reason.' },
  bare_lf: { clause: 'RFC 9112 section 2.2', text: 'A line ends with LF instead of CR LF.' },
  bare_cr: { clause: 'RFC 9112 section 2.2', text: 'CR without LF in a header.' },
  line_folding: { clause: 'RFC 9112 section 5.2', text: 'A header is continued on the next line.' },
  space_before_header: {
    clause: 'RFC 9112 section 2.2',
    text: 'The first header line begins with a space; it is ignored.',
  },
  space_before_colon: { clause: 'RFC 9112 section 5.1', text: 'A space between the name of a header and its colon.' },
  header_name_invalid: {
    clause: 'RFC 9110 section 5.1',
    text: 'A character in the name of a header that no name may have.',
  },
  header_name_empty: { clause: 'RFC 9110 section 5.1', text: 'A header without a name; it is ignored.' },
  header_without_colon: { clause: 'RFC 9112 section 5', text: 'A header line without a colon; it is ignored.' },
  header_control_character: { clause: 'RFC 9110 section 5.5', text: 'A control character in the value of a header.' },
  location_differs: {
    clause: 'RFC 9110 section 5.3',
    text: 'Location headers that differ: the first is taken here, and browsers such as Chromium refuse the answer.',
  },
  content_disposition_differs: {
    clause: 'RFC 9110 section 5.3',
    text: 'Content-Disposition headers that differ: browsers such as Chromium refuse the answer.',
  },
  content_length_invalid: {
    clause: 'RFC 9112 section 6.3',
    text: 'Content-Length is no number; the body was read until the connection closed.',
  },
  content_length_repeated: { clause: 'RFC 9110 section 8.6', text: 'Content-Length is given more than once.' },
  content_length_and_chunked: {
    clause: 'RFC 9112 section 6.2',
    text: 'Content-Length in addition to Transfer-Encoding, which prevails.',
  },
  length_unexpected: {
    clause: 'RFC 9110 section 8.6',
    text: 'Content-Length or Transfer-Encoding in a 1xx or 204 answer.',
  },
  transfer_encoding_unasked: {
    clause: 'RFC 9112 section 7.4',
    text: 'A transfer coding other than chunked, which was not asked for.',
  },
  transfer_encoding_repeated: { clause: 'RFC 9112 section 6.1', text: 'The transfer coding chunked more than once.' },
  transfer_encoding_version: {
    clause: 'RFC 9112 section 6.1',
    text: 'Transfer-Encoding in an answer of HTTP/1.0, which has none.',
  },
  chunk_size_spacing: { clause: 'RFC 9112 section 7.1', text: 'A space after the size of a chunk.' },
  close_notify_missing: {
    clause: 'RFC 9112 section 9.8',
    text: 'TLS ended without close_notify after a body that ends with the connection: it may not be whole.',
  },
  body_unexpected: {
    clause: 'RFC 9110 section 6.4.1',
    text: 'A body after an answer that has none: to HEAD, or with status 204, 205 or 304.',
  },
  header_value_space: {
    clause: 'RFC 9113 section 8.2.1',
    text: 'The value of an HTTP/2 header begins or ends with a space.',
  },
  connection_header: {
    clause: 'RFC 9113 section 8.2.2',
    text: 'A header of the connection, such as Connection or Keep-Alive, in an answer of HTTP/2.',
  },
  pseudo_header_unexpected: {
    clause: 'RFC 9113 section 8.3',
    text: 'A pseudo-header that no answer has, or one among the trailers.',
  },
  content_length_differs: {
    clause: 'RFC 9113 section 8.1.1',
    text: 'The body of an HTTP/2 answer is not as long as its content-length.',
  },
  bytes_after_gzip: {
    clause: 'RFC 1952 section 2.2',
    text: 'Bytes after the end of the gzip data; they are ignored.',
  },
  bytes_after_body: { clause: 'RFC 9112 section 6.3', text: 'Bytes after the end of the answer; they are ignored.' },
} as const satisfies Readonly<Record<string, Rule>>;

export type DeviationCode = keyof typeof deviationRules;

/** Called for each deviation of a response. */
export type Deviates = (code: DeviationCode) => void;

export const deviationCodes = Object.keys(deviationRules) as DeviationCode[];

/** Headers that are a deviation if their values differ: that may be a sign of response splitting. */
export const SINGLE_HEADERS = [
  ['location', 'location_differs'],
  ['content-disposition', 'content_disposition_differs'],
] as const;

/** Those that browsers refuse come first: of many, a result has the first ones. */
export function inOrder(found: ReadonlySet<DeviationCode>): readonly DeviationCode[] {
  const refused = SINGLE_HEADERS.map(([, code]) => code).filter((code) => found.has(code));
  return [...new Set([...refused, ...found])];
}

/** One deviation as reported in a result. */
export interface Deviation {
  readonly code: DeviationCode;
  readonly clause: string;
  readonly text: string;
}

export function describeDeviation(code: DeviationCode): Deviation {
  return { code, ...deviationRules[code] };
}
