import type { DeviationCode } from '../src/http-client/deviations.ts';
import type { Verdict } from './http-corpus-readers.ts';

/** Verdicts of three programs on a response. curl and Chromium are listed only if they differ from the check. */
export interface Verdicts {
  readonly check: Verdict;
  readonly curl?: Verdict;
  readonly chromium?: Verdict;
  readonly deviations?: readonly DeviationCode[];
  /** Reason why the check differs from one of the other readers. */
  readonly why?: string;
}

const read = (...deviations: DeviationCode[]): Verdicts => ({ check: '200 2', deviations });

const notOurs = 'curl insists on the grammar here; every browser reads it';
const split = 'Chromium refuses what could be split off another answer; the check reads it, and says so';
const noFraming = 'each refuses it in different words';
const invented = 'Chromium makes up a status; one that was not sent cannot be reported';

export const verdicts: Readonly<Record<string, Verdicts>> = {
  plain: read(),
  'until close': read(),
  'no header': read(),
  'shorter than its length': {
    ...{ check: 'connection_closed 200', curl: 'exit 18', chromium: 'ERR_CONTENT_LENGTH_MISMATCH', why: noFraming },
  },
  'bytes after Content-Length': read('bytes_after_body'),
  'bytes after Content-Length, open': read('bytes_after_body'),
  'second answer': read('bytes_after_body'),
  '204 with body': { check: '204 0', deviations: ['length_unexpected', 'body_unexpected'] },
  '304 with body': {
    ...{ check: '304 0', chromium: 'ERR_ABORTED', deviations: ['body_unexpected'] },
    why: 'Chromium shows no page for a status without content',
  },
  'HEAD with body': { check: '200 0', deviations: ['body_unexpected'] },
  'obs-fold': read('line_folding'),
  'obs-fold with tab': read('line_folding'),
  'obs-fold in first line': { ...read('space_before_header'), curl: 'exit 43', why: notOurs },
  'LF only': read('bare_lf'),
  'LF mixed': read('bare_lf'),
  'LF, then CR LF': read('bare_lf'),
  chunked: read(),
  'chunk size with space': read('chunk_size_spacing'),
  'chunk size after space': {
    ...{ check: 'http_malformed 200', curl: 'exit 56', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunk with LF': read('bare_lf'),
  'chunk extension': read(),
  'chunk size 0x2': {
    ...{ check: 'http_malformed 200', curl: 'exit 43', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunk size -2': {
    ...{ check: 'http_malformed 200', curl: 'exit 56', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunk size empty': {
    ...{ check: 'http_malformed 200', curl: 'exit 56', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunk size of 17 digits': {
    ...{ check: 'http_malformed 200', curl: 'exit 56', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunk longer than its size': {
    ...{ check: 'http_malformed 200', curl: 'exit 56', chromium: 'ERR_INVALID_CHUNKED_ENCODING', why: noFraming },
  },
  'chunks without an end': {
    ...{ check: 'connection_closed 200', curl: 'exit 18', chromium: 'ERR_INCOMPLETE_CHUNKED_ENCODING', why: noFraming },
  },
  'last chunk without empty line': {
    ...{ check: 'connection_closed 200', curl: 'exit 18', chromium: 'ERR_INCOMPLETE_CHUNKED_ENCODING', why: noFraming },
  },
  'bytes after last chunk': read('bytes_after_body'),
  trailers: read(),
  'trailer without colon': { ...read('header_without_colon'), curl: 'exit 43', why: notOurs },
  'Content-Length twice': read('content_length_repeated'),
  'Content-Length twice, other': {
    ...{ check: 'http_malformed 200', curl: '200 2', chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH' },
    why: 'curl takes the first length; RFC 9112 section 6.3 and Chromium refuse the answer',
  },
  'Content-Length list': read('content_length_repeated'),
  'Content-Length list, other': {
    ...{ check: 'http_malformed 200', curl: '200 2', chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH' },
    why: 'curl takes the first length; RFC 9112 section 6.3 and Chromium refuse the answer',
  },
  'Content-Length -1': { ...read('content_length_invalid'), curl: 'exit 8', why: notOurs },
  'Content-Length list, one no number': {
    ...{ check: 'http_malformed 200', curl: '200 2', chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_LENGTH' },
    why: 'curl takes the first length; RFC 9112 section 6.3 and Chromium refuse the answer',
  },
  'Content-Length +2': read('content_length_invalid'),
  'Content-Length word': { ...read('content_length_invalid'), curl: 'exit 8', why: notOurs },
  'Content-Length empty': { ...read('content_length_invalid'), curl: 'exit 8', why: notOurs },
  'Content-Length 2 bytes': read('content_length_invalid'),
  'Content-Length of 25 digits': {
    ...{ check: 'connection_closed 200', curl: '200 2', chromium: '200 2' },
    why: 'curl and Chromium cannot hold the number and read until the end; it is a length, and the body is shorter',
  },
  'Content-Length and chunked': read('content_length_and_chunked'),
  'Transfer-Encoding identity': read('transfer_encoding_unasked'),
  'Transfer-Encoding unknown': { ...read('transfer_encoding_unasked'), curl: 'exit 61', why: notOurs },
  'Transfer-Encoding xchunked': {
    ...{ check: '200 12', curl: 'exit 61', deviations: ['transfer_encoding_unasked'], why: notOurs },
  },
  'chunked twice': read('transfer_encoding_repeated'),
  'chunked, identity': read('transfer_encoding_unasked'),
  'chunked by HTTP/1.0': {
    ...{ ...read('transfer_encoding_version'), chromium: '200 12' },
    why: 'Chromium shows the chunks as the text of the page; RFC 9112 section 6.1 has the chunks read',
  },
  'space before colon': read('space_before_colon'),
  'space in name': read('header_name_invalid'),
  'bad name': read('header_name_invalid'),
  'control character': read('header_control_character'),
  NUL: {
    ...{ check: 'http_malformed 200', curl: 'exit 8', chromium: 'ERR_INVALID_HTTP_RESPONSE', why: noFraming },
  },
  'bare CR': read('bare_cr'),
  'CR CR LF': read('bare_cr'),
  'no name': read('header_name_empty'),
  'no colon': { ...read('header_without_colon'), curl: 'exit 8', why: notOurs },
  'bytes above ASCII': read(),
  'name above ASCII': read('header_name_invalid'),
  'lower-case http': read('status_name_case'),
  'no reason': read('status_spacing'),
  'no reason, space': read(),
  'two spaces': read('status_spacing'),
  tab: { ...read('status_spacing'), curl: 'exit 1', why: notOurs },
  'space first': { ...read('status_prefix'), curl: 'exit 1', why: notOurs },
  'HTTP/1.2': {
    ...read(),
    curl: 'exit 1',
    why: 'RFC 9110 section 2.5 has a higher minor version read as the highest known',
  },
  'HTTP/2': read('status_version'),
  'HTTP/2.0': read('status_version'),
  'HTTP/1': { ...read('status_version'), curl: 'exit 1', why: notOurs },
  'HTTP/1.10': { ...read('status_version'), curl: 'exit 1', why: notOurs },
  'HTTP without version': { ...read('status_version'), curl: 'exit 1', why: notOurs },
  ICY: {
    ...{ check: 'http_malformed -', curl: 'exit 1', chromium: '200 61' },
    why: 'Chromium shows it all as the body of an answer of HTTP/0.9; it is another protocol',
  },
  'another protocol': {
    ...{ check: 'http_malformed -', curl: 'exit 1', chromium: 'ERR_INVALID_HTTP_RESPONSE', why: noFraming },
  },
  'no status': { check: 'http_malformed -', curl: 'exit 1', chromium: '200 2', why: invented },
  'status of two digits': { check: 'http_malformed -', curl: 'exit 1', chromium: '20 2', why: invented },
  'status of four digits': { check: 'http_malformed -', curl: 'exit 1', chromium: '2000 2', why: invented },
  'status 099': { check: 'http_malformed -', curl: 'exit 1', chromium: '99 2', why: invented },
  'status 600': { check: '600 2' },
  'status 999': { check: '999 2' },
  'control character in reason': read('reason_control_character'),
  'empty lines first': { ...read('status_prefix'), curl: 'exit 1', why: notOurs },
  'garbage first': { ...read('status_prefix'), curl: 'exit 1', why: notOurs },
  'no head': {
    ...{ check: 'http_malformed -', curl: 'exit 1', chromium: 'ERR_INVALID_HTTP_RESPONSE', why: noFraming },
  },
  'head without an end': {
    ...{ check: 'connection_closed 200', curl: '200 0', chromium: '200 0' },
    why: 'headers may be missing without a sign of it; what came of the head is in the result (RFC 9112 section 8)',
  },
  'line without an end': {
    ...{ check: 'connection_closed 200', curl: '200 0', chromium: '200 0' },
    why: 'headers may be missing without a sign of it; what came of the head is in the result (RFC 9112 section 8)',
  },
  'head of 17 KiB': read(),
  'head of 120 KiB': {
    ...{ check: 'http_headers_too_large 200', curl: 'exit 27', chromium: '200 2' },
    why: 'what comes before a body is bounded to 48 KiB, as runs are counted; curl has a bound of 100 KiB for a line',
  },
  'head of 120 KiB in lines': {
    ...{ check: 'http_headers_too_large 200', curl: '200 2', chromium: '200 2' },
    why: 'what comes before a body is bounded to 48 KiB, as runs are counted',
  },
  'head of 240 KiB in lines': {
    ...{ check: 'http_headers_too_large 200', curl: '200 2', chromium: '200 2' },
    why: 'what comes before a body is bounded to 48 KiB, as runs are counted',
  },
  'head of 300 KiB in lines': {
    ...{ check: 'http_headers_too_large 200', curl: '200 2', chromium: 'ERR_RESPONSE_HEADERS_TOO_BIG' },
    why: 'what comes before a body is bounded to 48 KiB, as runs are counted; Chromium has a bound of 256 KiB',
  },
  '3,000 headers': read(),
  '100, then 200': read(),
  '100 with body length': read('length_unexpected'),
  '199, then 200': read(),
  '101 without Upgrade': {
    ...{ check: 'http_malformed 101', curl: '101 66', chromium: '200 2' },
    why: 'a switch of protocols that was not requested (RFC 9110 section 15.2.2): curl takes the rest for the body, Chromium for the answer',
  },
  '101 with Upgrade': {
    ...{ check: 'http_malformed 101', curl: 'exit 52', chromium: 'ERR_EMPTY_RESPONSE', why: noFraming },
  },
  '205 with body': {
    ...{ check: '205 2', chromium: '205 0', deviations: ['body_unexpected'] },
    why: 'Chromium shows no page for a status without content',
  },
  'HTTP/1.0': read(),
  'Location twice': { check: '200 2' },
  'Location twice, other': {
    ...{ ...read('location_differs'), chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION' },
    why: split,
  },
  'Content-Disposition twice': { check: '200 2' },
  'Content-Disposition twice, other': {
    ...{ ...read('content_disposition_differs'), chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_DISPOSITION' },
    why: split,
  },
};
