import {
  addressSchema,
  durationSchema,
  failureCodes,
  MAX_BODY_EXPRESSIONS,
  nullable,
  Type,
  type FailureCode,
} from '@vantage/contract';

import { MAX_BODY_BYTES, MAX_KEPT_HEADERS } from '../../http-client/bounds.ts';
import { deviationCodes } from '../../http-client/deviations.ts';
import { MAX_LISTED_ADDRESSES } from '../../shared/address-fields.ts';
import { certificateFields, tlsSchema } from '../../tls/schema.ts';
import { timings } from './timings-schema.ts';

/** Limit of the stored addresses that accepted no connection. */
const MAX_DEAD_ADDRESSES = 4;

/** Limit of the stored deviations of the last response. */
export const MAX_DEVIATIONS = 12;
/** Limit of the stored deviations of each redirect. */
export const MAX_REDIRECT_DEVIATIONS = 3;

/** Limit of the stored services of an Alt-Svc header. */
export const MAX_ALTERNATIVES = 8;

const statusCode = Type.Integer({ minimum: 100, maximum: 999, description: 'HTTP status code of the answer.' });
const httpVersion = Type.String({ maxLength: 8, description: 'HTTP version of the response.' });
const url = Type.String({ maxLength: 2048, description: 'URL of the response, after redirects.' });
const location = nullable(
  Type.String({ maxLength: 2048, description: 'The Location header of the response as sent.' }),
);

const hsts = Type.Optional(
  Type.Enum(['loop', 'upgraded'], {
    description:
      'Of a redirect to http, if this or an earlier answer of the check demands https for its host (Strict-Transport-Security, RFC 6797): browsers ask https instead. loop: that is a request ' +
      'that the check was redirected from, with the same cookies; upgraded: it is another one. The check itself follows `location`. Absent in checks with `headers` or another method than GET.',
  }),
);

const alternative = Type.Object(
  {
    protocol: Type.String({ maxLength: 32, description: 'Protocol by its ALPN name: h3 is HTTP/3.' }),
    host: nullable(Type.String({ maxLength: 256, description: 'Host; null if it is that of the URL.' })),
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    maxAge: Type.Integer({ minimum: 0, description: 'Seconds for which this holds.' }),
  },
  { additionalProperties: false },
);

const deadAddress = Type.Object(
  {
    address: addressSchema,
    error: Type.Enum(Object.keys(failureCodes) as FailureCode[], { description: 'Why there is no connection.' }),
    time: { ...durationSchema, description: 'Milliseconds until it was given up.' },
  },
  { additionalProperties: false },
);

const http2Error = Type.Object(
  {
    frame: Type.Enum(['RST_STREAM', 'GOAWAY'], {
      description: 'Frame that it came in: of the stream or of the connection.',
    }),
    code: Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Error code as sent.' }),
    name: Type.String({ maxLength: 24, description: 'Its name in RFC 9113 section 7; hexadecimal for one without.' }),
    debug: nullable(Type.String({ maxLength: 256, description: 'Debug data of the frame.' })),
  },
  {
    additionalProperties: false,
    description:
      'The error by which the target ended the answer over HTTP/2. With HTTP_1_1_REQUIRED and `httpVersion: auto` ' +
      'the request was sent again by HTTP/1.1; if the target did not process it (REFUSED_STREAM, or GOAWAY with ' +
      'NO_ERROR and a last stream before that of the request, and no answer yet) it was sent once more over a ' +
      'new connection. The other fields are then of that answer.',
  },
);

const deviation = Type.Object(
  {
    code: Type.Enum(deviationCodes, { description: 'What is out of order, from a closed list.' }),
    clause: Type.String({ maxLength: 32, description: 'The clause that it departs from.' }),
    text: Type.String({ maxLength: 128, description: 'The same in a sentence.' }),
  },
  { additionalProperties: false },
);
const deviations = (maxItems: number) =>
  Type.Array(deviation, {
    maxItems,
    description:
      'Deviations of the response from HTTP that browsers accept (except `location_differs` and `content_disposition_differs`, which are first); it was read as browsers read it. Absent: none. Strict programs, such as proxies and firewalls, may refuse such a response.',
  });

const redirect = Type.Object(
  {
    url: { ...url, description: 'URL that was asked.' },
    statusCode,
    httpVersion,
    location,
    hsts,
    resolvedIp: addressSchema,
    rt: durationSchema,
    timings,
    deviations: Type.Optional(deviations(MAX_REDIRECT_DEVIATIONS)),
  },
  { additionalProperties: false },
);

/** The fields of a result of the check type. */
export const resultFields = {
  statusCode,
  statusText: nullable(
    Type.String({ maxLength: 256, description: 'Reason of the status line; null for HTTP/2, which has none.' }),
  ),
  httpVersion,
  url,
  location,
  hsts,
  headers: Type.Array(Type.Array(Type.String({ maxLength: 8192 }), { minItems: 2, maxItems: 2 }), {
    maxItems: MAX_KEPT_HEADERS,
    description: 'Headers as pairs of name and value, in the order received; 8 KiB at most.',
  }),
  headerCount: Type.Integer({ minimum: 0, description: 'Number of headers, including omitted ones.' }),
  altSvc: nullable(
    Type.Array(alternative, {
      maxItems: MAX_ALTERNATIVES,
      description:
        'Other services that the answer advertises in its Alt-Svc header, such as HTTP/3; they are not tried. ' +
        'null: it has no such header.',
    }),
  ),
  timings,
  elapsed: {
    ...durationSchema,
    description: 'All requests of the check together, redirects included, in milliseconds: the sum of their totals.',
  },
  addresses: Type.Array(addressSchema, {
    maxItems: MAX_LISTED_ADDRESSES,
    description: `The first ${MAX_LISTED_ADDRESSES} addresses that the name resolved to, in the order of the answers; \`resolvedIp\` is the measured one.`,
  }),
  deadAddresses: Type.Array(deadAddress, {
    maxItems: MAX_DEAD_ADDRESSES,
    description:
      'Addresses of a name with several that took no connection, in the order they were tried. Absent: there were ' +
      'none.',
  }),
  http2Error,
  redirects: Type.Array(redirect, {
    maxItems: 10,
    description: 'The followed redirects, in order. The other fields describe the last response.',
  }),
  bodyBytes: Type.Integer({
    minimum: 0,
    maximum: MAX_BODY_BYTES,
    description:
      'Bytes of the body as sent (its content coding left as it is) that were read, `maxBodyBytes` (64 KiB if ' +
      'absent) at most.',
  }),
  bodySha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    maxLength: 64,
    description:
      'SHA-256 of these bytes, hexadecimal. With `truncated` of the beginning of the body alone: compare it with ' +
      'that of as many bytes.',
  }),
  truncated: Type.Boolean({
    description:
      'True if the body was not read, or not decoded, to its end: it is longer than `maxBodyBytes`, decodes to ' +
      'more than 1 MiB, was broken off, or only the end of the connection was to end it and TLS ended without ' +
      'close_notify, so that more may have been to come.',
  }),
  bodyMatches: Type.Array(Type.Boolean(), {
    maxItems: MAX_BODY_EXPRESSIONS,
    description: 'Only in scrapes: whether the bytes of the body that were read match each expression of the module.',
  }),
  decoded: Type.Object(
    {
      bytes: Type.Integer({ minimum: 0, maximum: MAX_BODY_BYTES, description: 'Bytes of the content.' }),
      whole: Type.Boolean({ description: 'False if the body could not be decoded to its end, or is larger.' }),
    },
    { additionalProperties: false, description: 'Only in scrapes with `compression`: the decoded body.' },
  ),
  deviations: deviations(MAX_DEVIATIONS),
  ...certificateFields,
  tls: tlsSchema,
};
