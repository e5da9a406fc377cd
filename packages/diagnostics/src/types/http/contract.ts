import {
  defineCheckType,
  familiesSchema,
  familyErrors,
  jobOverFamilies,
  trafficOverFamilies,
  Type,
  withOtherFamily,
} from '@vantage/contract';

import { MAX_BODY_BYTES, MAX_REDIRECT_BODY_BYTES } from '../../http-client/bounds.ts';
import { headerErrors, MAX_REQUEST_HEADERS } from './request-headers.ts';
import { httpRules, requestOf, MAX_TOKEN_BYTES, MAX_TOKEN_REQUESTS } from './request-rules.ts';
import { resultFields } from './result-fields.ts';

/** Default limit of bytes read from a body. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

/** Packets of the handshakes of TCP and TLS, a request and the end of the connection. */
const PACKETS_PER_REQUEST = 12;
/** Packets of the handshakes that find out whether Chromium can connect; the last request alone may need them. */
const PACKETS_AS_CHROMIUM = 36;
/** Assumed minimum payload of a TCP segment of a request body, bytes. */
const SEGMENT_BYTES = 1_200;
/** Bytes of handshakes, heads, and data in flight when the connection is closed. */
const BYTES_PER_REQUEST = 128 * 1024;
/**
 * Upper bound of the network bytes for a body of this size, including data in flight when its last byte is read; always
 * above `mostReceived`.
 */
const bytesToRead = (bodyBytes: number): number => BYTES_PER_REQUEST + 2 * bodyBytes;

export const http = defineCheckType({
  type: 'http',
  title: 'HTTP',
  summary:
    'HTTP or HTTPS request: status, headers and timings of each phase, and for HTTPS the certificate and ' +
    'whether it is ' +
    'trusted.',
  hostKind: 'url',
  purpose: 'http',
  fields: {
    insecureSSL: Type.Boolean({
      default: false,
      description: 'Send the request even if the certificate is not trusted. The result reports the fault either way.',
    }),
  },
  options: {
    method: Type.Enum(['GET', 'HEAD', 'OPTIONS'], { default: 'GET', description: 'Request method.' }),
    headers: Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      maxProperties: MAX_REQUEST_HEADERS,
      propertyNames: { maxLength: 256 },
      additionalProperties: { type: 'string', maxLength: 4096 },
      default: {},
      description:
        'Request headers by name, 4 KiB in all. Not Host, User-Agent, and none that governs the connection or the ' +
        'length of a body.',
      examples: [{ 'Accept-Language': 'de' }],
    }),
    followRedirects: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 0,
      description: 'Redirects to follow. 0: the status code is the target’s own.',
    }),
    httpVersion: Type.Enum(['auto', '1.1', '2'], {
      default: 'auto',
      description: 'auto: HTTP/2 if the server selects it by ALPN, else HTTP/1.1.',
    }),
    family: Type.Optional(familiesSchema),
    maxBodyBytes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_BODY_BYTES,
        description:
          'Bytes of the body to read, 65,536 (64 KiB) if absent. A longer body is cut there (`truncated`), and the connection closed. Larger values increase the cost of the check in the rate limits.',
      }),
    ),
    screenshot: Type.Boolean({
      default: true,
      description:
        'Take a screenshot of the page with a headless browser, from one of the probes. The browser opens ' +
        'the URL without the check’s method, headers, family and HTTP version.',
    }),
  },
  privateOptions: ['headers'],
  rules: httpRules,
  added: {
    screenshot: Type.String({
      contentEncoding: 'base64',
      contentMediaType: 'image/png',
      description:
        'A screenshot of the page, 1280×800 pixels: PNG, base64, 4 MiB before that at most. In the result of ' +
        'exactly one ' +
        'probe.',
    }),
  },
  result: withOtherFamily(resultFields),
  requiredOnSuccess: [
    'statusCode',
    'statusText',
    'httpVersion',
    'url',
    'location',
    'headers',
    'timings',
    'redirects',
    'bodyBytes',
    'bodySha256',
    'truncated',
  ],
  needsRawSockets: false,
  budgetMs: (params) => requestOf(params)?.timeoutMs ?? 15_000,
  traffic: (params) => {
    const { followRedirects, maxBodyBytes = DEFAULT_BODY_BYTES } = params.options;
    const requests = followRedirects + 1;
    const { body, oauth2 } = requestOf(params) ?? {};
    const sent = new TextEncoder().encode(body).length;
    const tokenRequests = oauth2 === undefined ? 0 : MAX_TOKEN_REQUESTS;
    return trafficOverFamilies(params.options, {
      packets:
        requests * (PACKETS_PER_REQUEST + Math.ceil(sent / SEGMENT_BYTES)) +
        PACKETS_AS_CHROMIUM +
        tokenRequests * PACKETS_PER_REQUEST,
      bytes:
        requests * sent +
        tokenRequests * bytesToRead(MAX_TOKEN_BYTES) +
        bytesToRead(maxBodyBytes) +
        followRedirects * bytesToRead(Math.min(maxBodyBytes, MAX_REDIRECT_BODY_BYTES)),
    });
  },
  inputRules: [
    ({ options }) => headerErrors(options.headers),
    ({ host, options }) => familyErrors(options, URL.parse(host)?.hostname ?? ''),
  ],
  jobParams: jobOverFamilies,
  screenshot: ({ host, insecureSSL, options }) => (options.screenshot ? { url: host, insecureSSL } : undefined),
});
