import type { Check, Failure, Screenshot } from '@vantage/contract';

import { bad, each, summaryOf } from '../cases.ts';
import { redirectOf } from '../redirect.ts';
import { misdated } from '../misdated.ts';
import { http, refused, tls } from '../results.ts';
import { cutCoding, unfinished } from '../unfinished.ts';
import type { FindingCases } from './case.ts';
import { ledCases } from './led.ts';

const timed = (timings: Readonly<Record<string, number>>) =>
  http(200, { timings: { dns: 5, connect: 20, tls: 25, firstByte: 30, download: 5, total: 85, ...timings } });
const FINISHED_AT = '2026-05-01T00:00:01.000Z';
const moved = (location: string, url = 'https://example.com/a') => http(301, { location, url });
/** An answer at the URL to which a redirect was followed. */
const ledTo = (url: string) => http(200, { url, redirects: [redirectOf('https://example.com/', { location: url })] });
const expiring = (daysLeft: number) => http(200, { tls: tls('01', { daysLeft }) });
/** A certificate with this validity period and remaining time, in days. */
const ofLife = ({ days, left }: { readonly days: number; readonly left: number }) => {
  const at = (fromNow: number): string => new Date(Date.parse(FINISHED_AT) + fromNow * 86_400_000).toISOString();
  const life = { sslValidFrom: at(left - days), sslValidUntil: at(left) };
  return http(200, { ...life, finishedAt: FINISHED_AT, tls: tls('01', { daysLeft: Math.floor(left) }) });
};
const over = (fields: Parameters<typeof tls>[1]) => http(200, { tls: tls('01', fields) });
const issuerEnd = (daysLeft: number) => {
  const validUntil = new Date(Date.parse(FINISHED_AT) + (daysLeft + 0.5) * 86_400_000).toISOString();
  return { name: 'R1', validUntil, daysLeft };
};
const staple: NonNullable<ReturnType<typeof tls>['ocsp']> = {
  status: 'good' as const,
  thisUpdate: null,
  nextUpdate: null,
  current: true,
  revokedAt: null,
  revocationReason: null,
  signature: 'issuer' as const,
};
/** A stapled response with these dates in days from the end of the check; a probe with a right clock made it. */
const dated = (from: number, until: number | null) => {
  const at = (days: number): string => new Date(Date.parse(FINISHED_AT) + days * 86_400_000).toISOString();
  const isCurrent = from <= 0 && (until ?? 0) >= 0;
  const dates = { thisUpdate: at(from), nextUpdate: until === null ? null : at(until), current: isCurrent };
  return http(200, { finishedAt: FINISHED_AT, tls: tls('01', { ocsp: { ...staple, ...dates } }) });
};
const dead = { address: '192.0.2.66', error: 'connection_refused' as const, time: 1 };
const inTls = { phase: 'tls' } as const;
const untrusted = refused('tls_self_signed');
const deviation = [{ code: 'bare_lf', clause: 'RFC 9112 section 2.2', browsers: 'accept' }];
const differing = (code: 'location_differs' | 'content_disposition_differs' | 'bare_lf') => ({
  code,
  clause: 'RFC 9110 section 5.3',
  text: 'They differ.',
});
const reason = { code: 'screenshot_failed', phase: 'exec', source: 'probe', message: 'No browser.' } as const;
const picture = (state: Screenshot['state']): Screenshot => ({
  state,
  probe: 'fra-1',
  reason: state === 'given_up' ? reason : null,
});

/** A check whose screenshot was given up for this reason. */
const notOpened = (
  why: Pick<Failure, 'code' | 'phase'> & Partial<Failure>,
  result: Parameters<typeof summaryOf<'http'>>[1][string] = http(200),
  request?: Check['request'],
) => {
  const screenshot = { ...picture('given_up'), reason: { source: 'target', message: 'Said why.', ...why } as const };
  return summaryOf('http', { 'fra-1': result }, { screenshot, ...(request === undefined ? {} : { request }) });
};

/** In TLS 1.3 a server rejects the client after the handshake is complete on the client side. */
const unadmitted = bad(
  'tls_handshake_failed',
  { tls: tls('01', { clientCertificateRequested: true }) },
  {
    phase: 'request',
  },
);

/** Cases of findings about HTTP, TLS, certificates and the screenshot. */
export const webCases: FindingCases = {
  tls_failed: {
    present: [['the handshake fails', summaryOf('http', { 'fra-1': bad('tls_handshake_failed', {}, inTls) })]],
    absent: [
      ['the connection is refused before it', summaryOf('http', { 'fra-1': bad('connection_refused', {}) })],
      ['the handshake is made and the certificate refused', summaryOf('http', { 'fra-1': untrusted })],
    ],
  },
  tls_outdated: {
    present: [['TLS 1.1', summaryOf('http', { 'fra-1': over({ protocol: 'TLSv1.1' }) })]],
    absent: [['TLS 1.2', summaryOf('http', { 'fra-1': over({ protocol: 'TLSv1.2' }) })]],
  },
  tls_browser_refused: {
    present: [
      [
        'the server takes nothing that Chromium offers',
        summaryOf('http', { 'fra-1': over({ chromiumRefusal: 'The server chose the group X448, which …' }) }),
      ],
    ],
    absent: [
      ['it takes something', summaryOf('http', { 'fra-1': over({ cipher: 'TLS_DHE_RSA_WITH_AES_128_GCM_SHA256' }) })],
      ['TLS 1.1, which is another finding', summaryOf('http', { 'fra-1': over({ protocol: 'TLSv1.1' }) })],
    ],
  },
  tls_key_exchange_weak: {
    present: [
      ['DH of 1,024 bits', summaryOf('http', { 'fra-1': over({ keyExchange: { group: 'DH', bits: 1_024 } }) })],
    ],
    absent: [
      ['DH of 2,048 bits', summaryOf('http', { 'fra-1': over({ keyExchange: { group: 'DH', bits: 2_048 } }) })],
      [
        'a curve, whose bits are fewer',
        summaryOf('http', { 'fra-1': over({ keyExchange: { group: 'X25519', bits: 253 } }) }),
      ],
      ['none is known', summaryOf('http', { 'fra-1': over({ keyExchange: null }) })],
    ],
  },
  tls_client_certificate: {
    present: [['it asks', summaryOf('http', { 'fra-1': over({ clientCertificateRequested: true }) })]],
    absent: [
      ['it does not', summaryOf('http', { 'fra-1': over({ clientCertificateRequested: false }) })],
      ['the agent does not tell', summaryOf('http', { 'fra-1': http(200) })],
    ],
  },
  certificate_browser_refused: {
    present: [
      [
        'a key that Chromium has no handshake for',
        summaryOf('http', { 'fra-1': over({ chromiumFaults: [{ certificate: 0, reason: 'The certificate has …' }] }) }),
      ],
    ],
    absent: [
      ['Chromium takes it', summaryOf('http', { 'fra-1': over({}) })],
      ['no probe accepts it', summaryOf('http', { 'fra-1': untrusted })],
    ],
  },
  certificate_staple_bad: {
    present: [
      ['none where one is demanded', summaryOf('http', { 'fra-1': over({ mustStaple: true, ocsp: null }) })],
      ['an old one', summaryOf('http', { 'fra-1': over({ ocsp: { ...staple, current: false } }) })],
      ['one that does not know it', summaryOf('http', { 'fra-1': over({ ocsp: { ...staple, status: 'unknown' } }) })],
      ['an error', summaryOf('http', { 'fra-1': over({ ocsp: { ...staple, status: 'error', current: false } }) })],
      ['one that ended over a day ago', summaryOf('http', { 'fra-1': dated(-5, -1.1) })],
      ['one that begins in over a day', summaryOf('http', { 'fra-1': dated(1.1, 5) })],
      ['one of over eleven days', summaryOf('http', { 'fra-1': dated(-11.1, 1) })],
      ['an old one without an end', summaryOf('http', { 'fra-1': dated(-2.1, null) })],
    ],
    absent: [
      ['none where none is demanded', summaryOf('http', { 'fra-1': over({ mustStaple: false, ocsp: null }) })],
      ['a good one', summaryOf('http', { 'fra-1': over({ mustStaple: true, ocsp: staple }) })],
      ['one that ended less than a day ago, which Firefox accepts', summaryOf('http', { 'fra-1': dated(-5, -0.9) })],
      ['one that begins in less than a day', summaryOf('http', { 'fra-1': dated(0.9, 5) })],
      ['a recent one without an end', summaryOf('http', { 'fra-1': dated(-1.9, null) })],
      [
        'one that could not be checked',
        summaryOf('http', { 'fra-1': over({ ocsp: { ...staple, signature: 'unchecked' } }) }),
      ],
    ],
  },
  tls_slow: {
    present: [['longer than the distance explains', summaryOf('http', { 'fra-1': timed({ connect: 20, tls: 381 }) })]],
    absent: [
      [
        'as long as four round trips and the work of a server',
        summaryOf('http', { 'fra-1': timed({ connect: 20, tls: 380 }) }),
      ],
      ['long over a long way', summaryOf('http', { 'fra-1': timed({ connect: 200, tls: 900 }) })],
    ],
  },
  certificate_expired: {
    present: [['it has expired', summaryOf('http', { 'fra-1': refused('tls_expired') })]],
    absent: [
      ['it expires today', summaryOf('http', { 'fra-1': expiring(0) })],
      ['it has by a wrong clock of the probe', summaryOf('http', { 'fra-1': misdated('tls_expired') })],
      ['it is not valid yet', summaryOf('http', { 'fra-1': refused('tls_not_yet_valid') })],
    ],
  },
  certificate_not_yet_valid: {
    present: [['it is not valid yet', summaryOf('http', { 'fra-1': refused('tls_not_yet_valid') })]],
    absent: [['it has expired', summaryOf('http', { 'fra-1': refused('tls_expired') })]],
  },
  certificate_expires_soon: {
    present: [
      ['in 14 days', summaryOf('http', { 'fra-1': expiring(14) })],
      ['in 14 of 90 days', summaryOf('http', { 'fra-1': ofLife({ days: 90, left: 14.5 }) })],
      [
        'one above it in 14 days',
        summaryOf('http', { 'fra-1': { ...over({ issuerEnds: issuerEnd(14) }), finishedAt: FINISHED_AT } }),
      ],
      ['in less than a third of six days', summaryOf('http', { 'fra-1': ofLife({ days: 6, left: 1.9 }) })],
      ['it is made for six days, and not due', summaryOf('http', { 'fra-1': ofLife({ days: 6, left: 2.1 }) })],
      ['it is made for 30 days, and not due', summaryOf('http', { 'fra-1': ofLife({ days: 30, left: 12 }) })],
    ],
    absent: [
      ['in 15 days', summaryOf('http', { 'fra-1': expiring(15) })],
      [
        'one above it in 15 days',
        summaryOf('http', { 'fra-1': { ...over({ issuerEnds: issuerEnd(15) }), finishedAt: FINISHED_AT } }),
      ],
      ['it has expired', summaryOf('http', { 'fra-1': refused('tls_expired') })],
      [
        'by a wrong clock of the probe',
        summaryOf('http', { 'fra-1': { ...ofLife({ days: 90, left: 60 }), tls: tls('01', { daysLeft: 9 }) } }),
      ],
    ],
  },
  certificate_hostname_mismatch: {
    present: [['it is for another name', summaryOf('http', { 'fra-1': refused('tls_hostname_mismatch') })]],
    absent: [['an unknown issuer', summaryOf('http', { 'fra-1': untrusted })]],
  },
  certificate_revoked: {
    present: [['its issuer says so', summaryOf('http', { 'fra-1': refused('tls_revoked') })]],
    absent: [['it has expired', summaryOf('http', { 'fra-1': refused('tls_expired') })]],
  },
  certificate_untrusted: {
    present: [
      ['it signed itself', summaryOf('http', { 'fra-1': untrusted })],
      ['the one above it is missing', summaryOf('http', { 'fra-1': bad('tls_missing_intermediate', {}, inTls) })],
    ],
    absent: [
      ['it is for another name', summaryOf('http', { 'fra-1': refused('tls_hostname_mismatch') })],
      ['it is trusted and the status is an error', summaryOf('http', { 'fra-1': http(500) })],
    ],
  },
  certificate_fails_on_some: {
    present: [['another probe accepts it', summaryOf('http', { 'fra-1': untrusted, 'ber-1': http(200) })]],
    absent: [
      ['all refuse it', summaryOf('http', each('fra-1 ber-1', untrusted))],
      ['the other was shown none', summaryOf('http', { 'fra-1': untrusted, 'ber-1': bad('connection_refused', {}) })],
      ['a certificate of the client is required of all', summaryOf('http', each('fra-1 ber-1', unadmitted))],
      ['… and one of them is served', summaryOf('http', { 'fra-1': unadmitted, 'ber-1': http(200) })],
      [
        'redirects lead to two hosts',
        summaryOf('http', {
          'fra-1': { ...untrusted, url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] },
          'ber-1': http(200),
        }),
      ],
    ],
  },
  certificate_differs: {
    present: [['two certificates', summaryOf('http', { 'fra-1': http(200), 'ber-1': http(200, { tls: tls('02') }) })]],
    absent: [
      [
        'one certificate over two versions of TLS',
        summaryOf('http', { 'fra-1': http(200), 'ber-1': http(200, { tls: tls('01', { protocol: 'TLSv1.2' }) }) }),
      ],
      ['one was shown none', summaryOf('http', { 'fra-1': http(200), 'ber-1': bad('connection_refused', {}) })],
      [
        'redirects lead to two hosts',
        summaryOf('http', {
          'fra-1': http(200),
          'ber-1': http(200, {
            url: 'https://b.example/',
            redirects: [redirectOf('https://example.com/')],
            tls: tls('02'),
          }),
        }),
      ],
    ],
  },
  http_server_error: {
    present: [['500', summaryOf('http', { 'fra-1': http(500) })]],
    absent: [['499', summaryOf('http', { 'fra-1': http(499) })]],
  },
  http_client_error: {
    present: [['400', summaryOf('http', { 'fra-1': http(400) })]],
    absent: [
      ['399', summaryOf('http', { 'fra-1': http(399) })],
      ['500', summaryOf('http', { 'fra-1': http(500) })],
    ],
  },
  http_status_differs: {
    present: [['200 and 404', summaryOf('http', { 'fra-1': http(200), 'ber-1': http(404) })]],
    absent: [
      ['one has no answer', summaryOf('http', { 'fra-1': http(200), 'ber-1': bad('connection_refused', {}) })],
      ['404 for all', summaryOf('http', each('fra-1 ber-1', http(404)))],
    ],
  },
  http_redirect_failed: {
    present: [['they lead in a circle', summaryOf('http', { 'fra-1': bad('redirect_loop', {}) })]],
    absent: [
      ['they were not to be followed', summaryOf('http', { 'fra-1': moved('/b') })],
      ['they lead to an error', summaryOf('http', { 'fra-1': http(404) })],
    ],
  },
  http_hsts_loop: {
    present: [
      [
        'to http on the same host, which demands https',
        summaryOf('http', { 'fra-1': { ...moved('http://example.com/a'), hsts: 'loop' } }),
      ],
      [
        'the check followed it, and got a page',
        summaryOf('http', {
          'fra-1': http(200, {
            url: 'http://example.com/',
            redirects: [redirectOf('https://example.com/', { location: 'http://example.com/', hsts: 'loop' })],
          }),
        }),
      ],
      [
        'another probe got a page there, so that servers differ',
        summaryOf('http', {
          'fra-1': { ...moved('http://example.com/a'), hsts: 'loop' },
          'nyc-1': http(200, { url: 'https://example.com/a' }),
        }),
      ],
    ],
    absent: [
      ['https is not demanded', summaryOf('http', { 'fra-1': moved('http://example.com/a') })],
      [
        'browsers ask another URL of https',
        summaryOf('http', { 'fra-1': { ...moved('http://example.com/b'), hsts: 'upgraded' } }),
      ],
      [
        'the answer of http has it, which is ignored',
        summaryOf('http', { 'fra-1': { ...moved('http://example.com/b', 'http://example.com/a'), hsts: 'loop' } }),
      ],
      [
        'the check itself got a page there, as browsers do that ask again',
        summaryOf('http', {
          'fra-1': http(200, {
            url: 'https://example.com/',
            redirects: [
              redirectOf('https://example.com/', { location: 'http://example.com/', hsts: 'loop' }),
              redirectOf('http://example.com/', { location: 'https://example.com/' }),
            ],
          }),
        }),
      ],
    ],
  },
  http_redirects_elsewhere: {
    present: [
      ['to another host', summaryOf('http', { 'fra-1': moved('https://other.example/') })],
      ['some followed them', summaryOf('http', { 'fra-1': ledTo('https://other.example/'), 'par-1': http(200) })],
    ],
    absent: [
      ['all followed them, as the headline says', summaryOf('http', { 'fra-1': ledTo('https://other.example/') })],
      [
        'some followed them to www of the same',
        summaryOf('http', { 'fra-1': ledTo('https://www.example.com/'), 'par-1': http(200) }),
      ],
      [
        'some followed them to where nothing answers',
        summaryOf('http', {
          'fra-1': bad('connection_refused', {
            url: 'https://other.example/',
            redirects: [redirectOf('https://example.com/')],
          }),
          'par-1': http(200),
        }),
      ],
      ['to https of the same', summaryOf('http', { 'fra-1': moved('https://example.com/', 'http://example.com/') })],
      ['to www of the same', summaryOf('http', { 'fra-1': moved('https://www.example.com/') })],
      ['to a URL without a host', summaryOf('http', { 'fra-1': moved('file:///etc/motd') })],
      ['to a mail address', summaryOf('http', { 'fra-1': moved('mailto:host@example.com') })],
      ['from www of the same', summaryOf('http', { 'fra-1': moved('//example.com/', 'https://www.example.com/') })],
      [
        'a Location with 200 is no redirect',
        summaryOf('http', { 'fra-1': http(200, { location: 'https://other.example/' }) }),
      ],
      ...[300, 304, 305].map(
        (status) =>
          [
            `nor one with ${status}, which browsers do not follow`,
            summaryOf('http', { 'fra-1': http(status, { location: 'https://other.example/' }) }),
          ] as const,
      ),
    ],
  },
  http_redirects_unencrypted: {
    present: [
      ['the redirect is not followed', summaryOf('http', { 'fra-1': moved('http://example.com/b') })],
      [
        'it is followed',
        summaryOf('http', {
          'fra-1': http(200, {
            url: 'http://example.com/b',
            redirects: [redirectOf('https://example.com/', { location: 'http://example.com/b' })],
          }),
        }),
      ],
      [
        'it is followed by another one back',
        summaryOf('http', {
          'fra-1': http(200, {
            redirects: [
              redirectOf('https://example.com/a', { location: 'http://example.com/' }),
              redirectOf('http://example.com/', { location: 'https://example.com/' }),
            ],
          }),
        }),
      ],
    ],
    absent: [
      ['from http to https', summaryOf('http', { 'fra-1': moved('https://example.com/', 'http://example.com/') })],
      ['from http to http', summaryOf('http', { 'fra-1': moved('http://example.com/b', 'http://example.com/') })],
      ['to a path', summaryOf('http', { 'fra-1': moved('/b') })],
      [
        'a Location without a redirect',
        summaryOf('http', { 'fra-1': http(201, { location: 'http://example.com/b' }) }),
      ],
    ],
  },
  http_redirects_differ: {
    present: [
      ['two places', summaryOf('http', { 'fra-1': moved('/de'), 'par-1': moved('/fr') })],
      [
        'two places to which they were followed',
        summaryOf('http', { 'fra-1': ledTo('https://de.example/'), 'par-1': ledTo('https://fr.example/') }),
      ],
    ],
    absent: [
      [
        'one place to which they were followed, with two queries',
        summaryOf('http', { 'fra-1': ledTo('https://b.example/?a'), 'par-1': ledTo('https://b.example/?b') }),
      ],
      ['some followed them', summaryOf('http', { 'fra-1': ledTo('https://b.example/'), 'par-1': http(200) })],
      [
        'one place, written in two ways',
        summaryOf('http', { 'fra-1': moved('/b'), 'par-1': moved('https://example.com/b') }),
      ],
      ['only one is redirected', summaryOf('http', { 'fra-1': moved('/b'), 'par-1': http(200) })],
      ['one place with two queries', summaryOf('http', { 'fra-1': moved('/b?state=1'), 'par-1': moved('/b?state=2') })],
    ],
  },
  address_dead: {
    present: [
      [
        'one takes no connection, the next one does',
        summaryOf('http', { 'fra-1': http(200, { deadAddresses: [dead] }) }),
      ],
      ...ledCases.ofDeadAddress.present,
    ],
    absent: [
      ['the first one takes a connection', summaryOf('http', { 'fra-1': http(200, { deadAddresses: [] }) })],
      ['none takes one', summaryOf('http', { 'fra-1': bad('connection_refused', { deadAddresses: [dead] }) })],
    ],
  },
  http_browser_refused: {
    present: [
      ['two places', summaryOf('http', { 'fra-1': http(301, { deviations: [differing('location_differs')] }) })],
      [
        'two names',
        summaryOf('http', { 'fra-1': http(200, { deviations: [differing('content_disposition_differs')] }) }),
      ],
      [
        'of a redirect',
        summaryOf('http', {
          'fra-1': http(200, {
            redirects: [redirectOf('https://example.com/', { deviations: [differing('location_differs')] })],
          }),
        }),
      ],
    ],
    absent: [
      ['what browsers overlook', summaryOf('http', { 'fra-1': http(200, { deviations: [differing('bare_lf')] }) })],
    ],
  },
  http_deviates: {
    present: [['a line without CR', summaryOf('http', { 'fra-1': http(200, { deviations: deviation } as never) })]],
    absent: [
      [
        'what browsers refuse',
        summaryOf('http', { 'fra-1': http(301, { deviations: [differing('location_differs')] }) }),
      ],
      ['none', summaryOf('http', { 'fra-1': http(200, { deviations: [] }) })],
      ['an agent that looks for none', summaryOf('http', { 'fra-1': http(200) })],
    ],
  },
  http_body_unfinished: {
    present: [
      ['the body does not end', summaryOf('http', { 'fra-1': unfinished(200) })],
      ['nor does that of an error', summaryOf('http', { 'fra-1': unfinished(503) })],
      ['the body ends before its coding', summaryOf('http', { 'fra-1': cutCoding(200) })],
    ],
    absent: [
      ['the body is not in its coding', summaryOf('http', { 'fra-1': { ...cutCoding(200), truncated: false } })],
      ['the body is longer than is read', summaryOf('http', { 'fra-1': http(200, { truncated: true }) })],
      [
        'the connection ends before the body does',
        summaryOf('http', {
          'fra-1': bad('connection_closed', { statusCode: 200, truncated: true }, { phase: 'response' }),
        }),
      ],
      [
        'the head does not end',
        summaryOf('http', { 'fra-1': bad('timed_out', { statusCode: 200 }, { phase: 'response', source: 'network' }) }),
      ],
    ],
  },
  http_server_slow: {
    present: [
      ['longer than the distance explains', summaryOf('http', { 'fra-1': timed({ connect: 20, firstByte: 1_041 }) })],
      [
        'the server that redirects is slow',
        summaryOf('http', {
          'fra-1': http(200, {
            redirects: [redirectOf('https://a.example/', { timings: { connect: 20, firstByte: 1_041, total: 1_061 } })],
          }),
        }),
      ],
    ],
    absent: [
      ['a second and two round trips', summaryOf('http', { 'fra-1': timed({ connect: 20, firstByte: 1_040 }) })],
      [
        'the redirects are many and each is quick',
        summaryOf('http', {
          'fra-1': http(200, { redirects: Array.from({ length: 9 }, () => redirectOf('https://example.com/a')) }),
        }),
      ],
      ['the body is slow', summaryOf('http', { 'fra-1': timed({ download: 9_000, total: 9_100 }) })],
      [
        'the probe stood still meanwhile',
        summaryOf('http', { 'fra-1': { ...timed({ connect: 20, firstByte: 4_904 }), stalled: 4_010 } }),
      ],
    ],
  },
  browser_page_failed: {
    present: [
      [
        'no common TLS, as the check finds too',
        notOpened({ code: 'tls_protocol_unsupported', phase: 'tls' }, over({ chromiumRefusal: 'The server chose …' })),
      ],
      [
        'a version of TLS that the browser does not speak',
        notOpened({ code: 'tls_protocol_unsupported', phase: 'tls' }, over({ protocol: 'TLSv1.1' })),
      ],
      ['a coding that is none', notOpened({ code: 'http_decode_failed', phase: 'response' })],
      ['redirects without an end', notOpened({ code: 'redirect_limit', phase: 'response' }, http(302))],
      [
        'only the limit of redirects was changed',
        notOpened({ code: 'redirect_limit', phase: 'response' }, http(200), { options: { followRedirects: 5 } }),
      ],
    ],
    absent: [
      ['it took too long', notOpened({ code: 'timed_out', phase: 'response' })],
      ['the connection was reset', notOpened({ code: 'connection_reset', phase: 'response' })],
      ['an issuer that the probe trusts by its file', notOpened({ code: 'tls_unknown_issuer', phase: 'tls' })],
      ['a certificate that has expired by the clock of the probe', notOpened({ code: 'tls_expired', phase: 'tls' })],
      ['a handshake that may work the next time', notOpened({ code: 'tls_handshake_failed', phase: 'tls' })],
      ['the target ended the HTTP/2 stream', notOpened({ code: 'http2_ended', phase: 'response' })],
      ['a download, which is no page', notOpened({ code: 'screenshot_failed', phase: 'response' })],
      [
        'one handshake that the server refused, as one of several without a certificate does',
        notOpened({ code: 'tls_protocol_unsupported', phase: 'tls' }, over({})),
      ],
      ['the target is down for its probe', notOpened({ code: 'tls_protocol_unsupported', phase: 'tls' }, untrusted)],
      [
        'the check has headers, which the browser did not send',
        notOpened({ code: 'redirect_limit', phase: 'response' }, http(200), { withheld: ['headers'] }),
      ],
      [
        'the check asked over HTTP/1.1 alone',
        notOpened({ code: 'http_malformed', phase: 'response' }, http(200), { options: { httpVersion: '1.1' } }),
      ],
      ['the probe failed', notOpened({ code: 'tls_protocol_unsupported', phase: 'tls', source: 'probe' })],
    ],
  },
  screenshot_incomplete: {
    present: [
      [
        'the page asked for too many hosts',
        summaryOf('http', { 'fra-1': http(200) }, { screenshot: { ...picture('taken'), cutAt: ['hosts'] } }),
      ],
    ],
    absent: [
      ['it is whole', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('taken') })],
      ['there is none', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('given_up') })],
    ],
  },
  screenshot_missing: {
    present: [
      ['it was given up', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('given_up') })],
      ['the browser met a fault that has a code', notOpened({ code: 'connection_reset', phase: 'response' })],
      [
        'the fault has no message',
        summaryOf(
          'http',
          { 'fra-1': http(200) },
          { screenshot: { ...picture('given_up'), reason: { ...reason, message: '' } } },
        ),
      ],
    ],
    absent: [
      ['it is not taken yet', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('pending') })],
      ['none was requested', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('not_asked') })],
      ['it was taken', summaryOf('http', { 'fra-1': http(200) }, { screenshot: picture('taken') })],
    ],
  },
};
