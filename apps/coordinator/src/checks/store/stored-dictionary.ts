/*
 * Content that long results share. Coordinators of different releases read each other's results, so a change needs a
 * new prefix, and the old dictionary must stay available.
 */

const certificate = {
  subject: 'CN=www.example.com',
  issuer: "C=US, O=Let's Encrypt, CN=R11",
  validFrom: '2026-11-22T09:30:56.000Z',
  validUntil: '2027-02-20T23:59:59.000Z',
  serialNumber: '',
  fingerprint256: '',
  subjectAltNames: ['DNS:www.example.com', 'DNS:example.com'],
  subjectAltNameCount: 1,
  keyType: 'rsa',
  keyBits: 2_048,
  signatureAlgorithm: 'sha256WithRSAEncryption',
};

const http = {
  url: 'https://www.example.com/',
  addresses: [],
  sslSubject: 'www.example.com',
  sslIssuer: "Let's Encrypt",
  sslValidFrom: '2026-11-22T09:30:56.000Z',
  sslValidUntil: '2027-02-20T09:30:56.000Z',
  sslVersion: 'TLSv1.3',
  tls: {
    protocol: 'TLSv1.3',
    cipher: 'TLS_AES_256_GCM_SHA384',
    alpn: 'h2',
    authorized: true,
    authorizationError: null,
    faults: [],
    keyExchange: { group: 'X25519', bits: 253 },
    clientCertificateRequested: false,
    mustStaple: false,
    daysLeft: 60,
    ocsp: null,
    chain: [certificate, { ...certificate, keyType: 'ec', keyBits: 256, signatureAlgorithm: 'ecdsa-with-SHA256' }],
    chainLength: 2,
    sentCertificates: 2,
  },
  statusCode: 200,
  statusText: 'OK',
  httpVersion: '2',
  location: null,
  headers: [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Content-Length', ''],
    ['Cache-Control', 'max-age=0, private, must-revalidate'],
    ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains; preload'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Connection', 'close'],
    ['Vary', 'Accept-Encoding'],
    ['Server', 'nginx'],
    ['Date', 'Sun, 22 Nov 2026 09:31:51 GMT'],
  ],
  headerCount: 9,
  altSvc: null,
  bodyBytes: 57,
  bodySha256: '',
  truncated: false,
  timings: { dns: 11.372, connect: 0.332, tls: 5.644, firstByte: 2.176, download: 0.874, total: 20.398 },
  elapsed: 20.398,
  redirects: [],
};

const silent = { ip: null, private: false, hostname: null, hostnameVerified: null, asn: null, asName: null };
const named = { ip: '10.', private: false, hostname: 'ae-1.fra1.net', hostnameVerified: true, asn: 'AS', asName: '' };
const unnamed = { ...named, hostname: null, hostnameVerified: null };
const times = [1.234, 12.345, 23.456];

const traceroute = {
  resolvedIp: '192.0.2.1',
  protocol: 'icmp',
  hops: [
    { hop: 1, ...silent, latency: null, rtts: [null, null, null], responders: [], mpls: [], icmp: null },
    { hop: 2, ...unnamed, latency: 1.2, rtts: times, responders: [{ ...unnamed, rtts: times }], mpls: [], icmp: null },
    {
      hop: 12,
      ...named,
      latency: 12.3,
      rtts: times,
      responders: [{ ...named, rtts: times }],
      mpls: [{ label: 24_000, trafficClass: 0, bottomOfStack: true, ttl: 1 }],
      icmp: null,
    },
  ],
  flows: [
    {
      reached: true,
      stopReason: 'completed',
      hops: [
        [0, 0, 0],
        [null, null, null],
        [0, 0, 1],
      ],
    },
  ],
  stopReason: 'completed',
  fullTtl: null,
  pathMtu: 1_500,
  mtuBlackHole: null,
  clock: 'kernel',
  reached: true,
  loop: null,
  echo: { sent: 5, received: 5 },
};

const common = {
  result: 'success',
  rt: 12.345,
  resolvedIp: '192.0.2.1',
  error: null,
  startedAt: '2026-11-22T09:31:51.866Z',
  finishedAt: '2026-11-22T09:31:51.890Z',
};

/** A raw-content dictionary for zstd. */
export const DICTIONARY = Buffer.from([http, common, traceroute].map((result) => JSON.stringify(result)).join('\n'));
