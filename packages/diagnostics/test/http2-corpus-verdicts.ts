import type { Verdicts } from './http-corpus-verdicts.ts';

const PROTOCOL_ERROR = 'ERR_HTTP2_PROTOCOL_ERROR';
const refusedByAll = 'each refuses it in different words';
const curlInsists = 'curl insists on RFC 9113 here; browsers read it';

const refused = (check: string, curl = 'exit 92', chromium = PROTOCOL_ERROR): Verdicts => {
  return { check, curl, chromium, why: refusedByAll };
};

export const frameVerdicts: Readonly<Record<string, Verdicts>> = {
  plain: { check: '200 2' },
  'no body': { check: '200 0' },
  padding: { check: '200 2' },
  trailers: { check: '200 2' },
  'trailers with a pseudo-header': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['pseudo_header_unexpected'], why: curlInsists },
  },
  'an early hint': { check: '200 2' },
  'status 101': refused('http_malformed -'),
  'an unknown frame': { check: '200 2' },
  'ALTSVC with an empty origin': { check: '200 2' },
  PING: { check: '200 2' },
  'GOAWAY without an error, then the answer': { check: '200 2' },
  'RST_STREAM NO_ERROR after the answer': { check: '200 2' },
  'RST_STREAM NO_ERROR in the body': {
    ...{ check: 'http2_ended 200', curl: 'exit 52', chromium: '200 2' },
    why: 'without END_STREAM nothing says that the body is whole (RFC 9113 section 8.1); Chromium takes it for whole',
  },
  'RST_STREAM CANCEL in the body': refused('http2_ended 200'),
  'RST_STREAM NO_ERROR': refused('http2_ended -'),
  'RST_STREAM PROTOCOL_ERROR': refused('http2_ended -'),
  'RST_STREAM INTERNAL_ERROR': refused('http2_ended -'),
  'RST_STREAM CANCEL': refused('http2_ended -'),
  'RST_STREAM ENHANCE_YOUR_CALM': refused('http2_ended -'),
  'GOAWAY ENHANCE_YOUR_CALM': refused('http2_ended -', 'exit 16'),
  'GOAWAY INTERNAL_ERROR in the body': refused('http2_ended 200', 'exit 18', 'ERR_CONNECTION_CLOSED'),
  'an end in the body': refused('connection_closed 200', 'exit 18', 'ERR_CONNECTION_CLOSED'),
  'an end before the head': refused('connection_closed -', 'exit 18', 'ERR_CONNECTION_CLOSED'),
  'CR LF in a value': refused('http_malformed 200'),
  'NUL in a value': refused('http_malformed 200'),
  'control character in a value': refused('http_malformed 200'),
  'space before a value': { check: '200 2', deviations: ['header_value_space'] },
  'space in a name': refused('http_malformed 200'),
  'no name': refused('http_malformed 200'),
  'upper-case name': refused('http_malformed 200'),
  'name above ASCII': refused('http_malformed 200'),
  connection: { check: '200 2', curl: 'exit 92', deviations: ['connection_header'], why: curlInsists },
  'keep-alive': { check: '200 2', curl: 'exit 92', deviations: ['connection_header'], why: curlInsists },
  'transfer-encoding': refused('http_malformed 200'),
  'two statuses': refused('http_malformed 200'),
  'no status': refused('http_malformed -'),
  'status of two digits': {
    ...{ check: 'http_malformed -', curl: 'exit 92', chromium: '20 2' },
    why: 'there is no such status (RFC 9110 section 15), and a result could not say what it means',
  },
  'status after a header': refused('http_malformed 200'),
  'a pseudo-header of requests': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['pseudo_header_unexpected'], why: curlInsists },
  },
  'content-length': { check: '200 2' },
  'content-length too small': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['content_length_differs'], why: curlInsists },
  },
  'content-length too large': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['content_length_differs'], why: curlInsists },
  },
  'content-length twice': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['content_length_repeated'], why: curlInsists },
  },
  'content-length word': {
    ...{ check: '200 2', curl: 'exit 92', deviations: ['content_length_differs'], why: curlInsists },
  },
  '204 with a body': { check: '204 0', curl: 'exit 92', deviations: ['body_unexpected'], why: curlInsists },
  'DATA before the head': refused('http_malformed -', 'exit 52'),
  'WINDOW_UPDATE of nothing': refused('http_malformed -', 'exit 52'),
  PUSH_PROMISE: {
    ...{ check: 'http_malformed -', curl: '200 2', chromium: PROTOCOL_ERROR },
    why: 'the check and Chromium switch pushes off, and what comes all the same is an error (RFC 9113 section 8.4)',
  },
  'no HPACK': refused('http_malformed -', 'exit 52', 'ERR_HTTP2_COMPRESSION_ERROR'),
  'head of 17 KiB': { check: '200 2' },
  'head of 200 KiB': {
    ...{ check: 'http_headers_too_large -', curl: 'exit 56', chromium: '200 2' },
    why: 'what comes before a body is bounded to 48 KiB, as runs are counted; curl has a bound of 64 KiB',
  },
  'head of 300 KiB': refused('http_headers_too_large -', 'exit 56'),
  'no SETTINGS': {
    ...{ check: 'http_malformed -', curl: 'exit 52', chromium: '200 2' },
    why: 'without SETTINGS nothing says that the server speaks HTTP/2 (RFC 9113 section 3.4); Chromium does not ask',
  },
  'HTTP/1.1': refused('http_malformed -', 'exit 52'),
  'location twice, other': {
    ...{ check: '200 2', chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION', deviations: ['location_differs'] },
    why: 'Chromium refuses what could be split off another answer; the check reads it, and says so',
  },
  'content-disposition twice, other': {
    ...{
      check: '200 2',
      chromium: 'ERR_RESPONSE_HEADERS_MULTIPLE_CONTENT_DISPOSITION',
      deviations: ['content_disposition_differs'],
    },
    why: 'Chromium refuses what could be split off another answer; the check reads it, and says so',
  },
};
