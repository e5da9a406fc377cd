import { distances } from './probes.ts';
import { check, eachProbe, failure, final, round, started, wobble } from './results.ts';

/** The time so many days after the start of the check, as text. */
const day = (offset: number): string => new Date(Date.parse(started) + offset * 86_400_000).toISOString();

function certificate(subject: string, issuer: string, from: number, until: number, mark: string) {
  return {
    subject: `CN=${subject}`,
    issuer: `CN=${issuer}`,
    validFrom: day(from),
    validUntil: day(until),
    serialNumber: `04${mark}9F3A`,
    fingerprint256: Array.from({ length: 32 }, () => mark).join(':'),
    subjectAltNames:
      mark === 'A1' || mark === 'B2' ? [`DNS:${subject}`, 'DNS:example.com', 'DNS:static.example.com'] : [],
    subjectAltNameCount: mark === 'A1' || mark === 'B2' ? 3 : 0,
    keyType: 'ec',
    keyBits: 256,
    signatureAlgorithm: 'ecdsa-with-SHA256',
  };
}

export const httpCheck = check('http_AAAAAAAAAAAAAAAAA', 'http', 'https://www.example.com/', eachProbe(httpOf));

function httpOf(id: string, index: number): Record<string, unknown> {
  const timings = timingsOf(index);
  const total = round(Object.values(timings).reduce((sum, ms) => sum + ms, 0));
  const isOld = id === 'syd-1';
  const isBroken = id === 'sjc-1';
  const chain = chainOf(isOld);
  return final(index, round(total - timings.download), {
    ...(isBroken
      ? {
          result: 'failure',
          error: failure('http_status', 'response', 'target', 'The target answered with status 503.'),
        }
      : {}),
    statusCode: isBroken ? 503 : 200,
    statusText: null,
    httpVersion: '2',
    url: 'https://www.example.com/',
    location: null,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['cache-control', 'max-age=300'],
      ['server', 'example'],
    ],
    timings: { ...timings, total },
    redirects: [],
    bodyBytes: 18_422,
    bodySha256: 'ab'.repeat(32),
    truncated: false,
    altSvc: null,
    sslSubject: 'www.example.com',
    sslIssuer: 'Example Trust',
    sslVersion: 'TLSv1.3',
    sslValidFrom: chain[0]!.validFrom,
    sslValidUntil: chain[0]!.validUntil,
    tls: {
      protocol: 'TLSv1.3',
      cipher: 'TLS_AES_128_GCM_SHA256',
      alpn: 'h2',
      authorized: true,
      authorizationError: null,
      daysLeft: isOld ? 9 : 58,
      ocsp: null,
      chain,
      faults: [],
      keyExchange: { group: 'X25519', bits: 253 },
      clientCertificateRequested: false,
      mustStaple: false,
      chainLength: 3,
      sentCertificates: 2,
    },
    ...(id === 'fra-1' ? { screenshotUrl: '/check/http_AAAAAAAAAAAAAAAAA/screenshot' } : {}),
  });
}

function timingsOf(index: number) {
  const rtt = distances[index]!;
  return {
    dns: round(2 + wobble(index) * 18),
    connect: round(rtt + 0.4),
    tls: round(rtt * 1.1 + 3),
    firstByte: round(rtt + 22 + wobble(index + 7) * 40),
    download: round(1.5 + rtt * 0.4),
  };
}

/** The certificate of the server, its issuer and the root. */
function chainOf(isOld: boolean) {
  return [
    isOld
      ? certificate('www.example.com', 'Example Issuing CA 3', -355, 9, 'B2')
      : certificate('www.example.com', 'Example Issuing CA 3', -30, 58, 'A1'),
    certificate('Example Issuing CA 3', 'Example Root', -900, 1600, 'C3'),
    certificate('Example Root', 'Example Root', -2000, 5000, 'D4'),
  ];
}
