import type { Check, Probe, Probes } from '@vantage/contract';

/** Made-up probes at real places: names and numbers are those that documentation may use (RFC 5398, RFC 5737). */
const places: readonly (readonly [id: string, city: string, country: string, latitude: number, longitude: number])[] = [
  ['fra-1', 'Frankfurt', 'DE', 50.11, 8.68],
  ['ams-1', 'Amsterdam', 'NL', 52.37, 4.9],
  ['lhr-1', 'London', 'GB', 51.51, -0.13],
  ['mad-1', 'Madrid', 'ES', 40.42, -3.7],
  ['waw-1', 'Warsaw', 'PL', 52.23, 21.01],
  ['nyc-1', 'New York', 'US', 40.71, -74.01],
  ['sjc-1', 'San José', 'US', 37.34, -121.89],
  ['gru-1', 'São Paulo', 'BR', -23.55, -46.63],
  ['jnb-1', 'Johannesburg', 'ZA', -26.2, 28.05],
  ['bom-1', 'Mumbai', 'IN', 19.08, 72.88],
  ['sgp-1', 'Singapore', 'SG', 1.35, 103.82],
  ['nrt-1', 'Tokyo', 'JP', 35.68, 139.69],
  ['syd-1', 'Sydney', 'AU', -33.87, 151.21],
];

/** Round-trip times from these places to Frankfurt, milliseconds, about. */
const distances = [0.8, 7.9, 12.4, 28.6, 19.2, 84.3, 148.7, 201.4, 158.9, 121.3, 163.8, 232.6, 287.1];

export const world: Probes = Object.fromEntries(
  places.map(([id, city, countryCode, latitude, longitude], index): [string, Probe] => [
    id,
    {
      ...{ name: `${city} 1`, datacenter: `${city} One`, countryCode, city, latitude, longitude },
      isp: `Example Network ${index + 1}`,
      asNumber: `AS${64_496 + index}`,
      tags: index < 5 ? ['europe'] : ['overseas'],
      status: id === 'bom-1' ? 'degraded' : id === 'gru-1' ? 'offline' : 'healthy',
      reason: id === 'bom-1' ? 'No IPv6: the probe has no route to it.' : null,
      version: '0.1.0',
      capabilities: {
        types: ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'],
        ...{ ipv4: true, ipv6: id !== 'bom-1', screenshot: index % 2 === 0 },
      },
      lastSeen: new Date(Date.now() - (id === 'gru-1' ? 5_000_000 : 1200)).toISOString(),
      load: { running: index % 4, capacity: 20 },
    },
  ]),
);

const started = '2026-11-20T21:00:00.000Z';

type Results = Record<string, Record<string, unknown>>;

function final(index: number, rt: number | null, more: Record<string, unknown>): Record<string, unknown> {
  return {
    ...{ result: 'success', rt, resolvedIp: '192.0.2.80', error: null, startedAt: started },
    finishedAt: `2026-11-20T21:00:0${1 + (index % 4)}.120Z`,
    ...more,
  };
}

function failure(code: string, phase: string, source: string, message: string): Record<string, unknown> {
  return { code, phase, source, message };
}

function check(id: string, type: string, host: string, results: Results): Check {
  return {
    ...{ testId: id, type, host, status: 'completed', createdAt: started },
    completedAt: '2026-11-20T21:00:04.310Z',
    results,
  };
}

const ids = places.map(([id]) => id);
const eachProbe = (make: (id: string, index: number) => Record<string, unknown>): Results =>
  Object.fromEntries(ids.map((id, index) => [id, make(id, index)]));

/** Noise that is the same each time. */
function wobble(seed: number): number {
  return Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1;
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000;

export const pingCheck = check('ping_AAAAAAAAAAAAAAAAA', 'ping', 'www.example.com', eachProbe(pingOf));

function pingOf(id: string, index: number): Record<string, unknown> {
  if (id === 'gru-1') {
    return {
      ...final(index, null, { result: 'error', resolvedIp: null, startedAt: null }),
      error: failure('probe_offline', 'dispatch', 'probe', 'The probe was offline when the check was created.'),
    };
  }
  const isDark = id === 'jnb-1';
  const packets = Array.from({ length: 8 }, (_, seq) => {
    const isLost = isDark || (id === 'bom-1' && [2, 5, 6].includes(seq));
    const spread = id === 'syd-1' ? 40 : 3;
    const rtt = isLost ? null : round(distances[index]! + wobble(index * 31 + seq) * spread);
    return { seq: seq + 1, rtt, ttl: isLost ? null : 54, from: isLost ? null : '192.0.2.80', duplicate: false };
  });
  const rtts = packets.flatMap(({ rtt }) => (rtt === null ? [] : [rtt]));
  const average = rtts.length === 0 ? null : round(rtts.reduce((sum, rtt) => sum + rtt, 0) / rtts.length);
  return final(index, average, {
    ...(isDark
      ? { result: 'timeout', error: failure('timed_out', 'response', 'network', 'No reply came in time.') }
      : {}),
    ...{ rttAvg: average, rttMin: isDark ? null : Math.min(...rtts), rttMax: isDark ? null : Math.max(...rtts) },
    ...{ rttStdDev: isDark ? null : 1.2, jitter: isDark ? null : round(1 + wobble(index) * 2) },
    ...{ pingCount: 8, pingCompleted: rtts.length, loss: round(1 - rtts.length / 8), packets, clock: 'kernel' },
    anomalies: { duplicates: 0, late: 0, reordered: 0, corrupted: 0 },
  });
}

const year = (offset: number): string => new Date(Date.parse(started) + offset * 86_400_000).toISOString();

function certificate(subject: string, issuer: string, from: number, until: number, mark: string) {
  return {
    ...{ subject: `CN=${subject}`, issuer: `CN=${issuer}`, validFrom: year(from), validUntil: year(until) },
    ...{ serialNumber: `04${mark}9F3A`, fingerprint256: Array.from({ length: 32 }, () => mark).join(':') },
    subjectAltNames:
      mark === 'A1' || mark === 'B2' ? [`DNS:${subject}`, 'DNS:example.com', 'DNS:static.example.com'] : [],
    subjectAltNameCount: mark === 'A1' || mark === 'B2' ? 3 : 0,
    ...{ keyType: 'ec', keyBits: 256 },
  };
}

export const httpCheck = check('http_AAAAAAAAAAAAAAAAA', 'http', 'https://www.example.com/', eachProbe(httpOf));

function httpOf(id: string, index: number): Record<string, unknown> {
  const rtt = distances[index]!;
  const timings = {
    ...{ dns: round(2 + wobble(index) * 18), connect: round(rtt + 0.4), tls: round(rtt * 1.1 + 3) },
    ...{ firstByte: round(rtt + 22 + wobble(index + 7) * 40), download: round(1.5 + rtt * 0.4) },
  };
  const total = round(Object.values(timings).reduce((sum, ms) => sum + ms, 0));
  const isOld = id === 'syd-1';
  const isBroken = id === 'sjc-1';
  const chain = [
    isOld
      ? certificate('www.example.com', 'Example Issuing CA 3', -355, 9, 'B2')
      : certificate('www.example.com', 'Example Issuing CA 3', -30, 58, 'A1'),
    certificate('Example Issuing CA 3', 'Example Root', -900, 1600, 'C3'),
    certificate('Example Root', 'Example Root', -2000, 5000, 'D4'),
  ];
  return final(index, round(total - timings.download), {
    ...(isBroken
      ? {
          result: 'failure',
          error: failure('http_status', 'response', 'target', 'The target answered with status 503.'),
        }
      : {}),
    ...{ statusCode: isBroken ? 503 : 200, statusText: null, httpVersion: '2', url: 'https://www.example.com/' },
    location: null,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['cache-control', 'max-age=300'],
      ['server', 'example'],
    ],
    timings: { ...timings, total },
    ...{ redirects: [], bodyBytes: 18_422, bodySha256: 'ab'.repeat(32), truncated: false, altSvc: null },
    ...{ sslSubject: 'www.example.com', sslIssuer: 'Example Trust', sslVersion: 'TLSv1.3' },
    ...{ sslValidFrom: chain[0]!.validFrom, sslValidUntil: chain[0]!.validUntil },
    tls: {
      ...{ protocol: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256', alpn: 'h2', authorized: true },
      ...{ authorizationError: null, daysLeft: isOld ? 9 : 58, ocsp: null, chain },
    },
    ...(id === 'fra-1' ? { screenshotUrl: '/check/http_AAAAAAAAAAAAAAAAA/screenshot' } : {}),
  });
}

export const dnsCheck = check('dns_AAAAAAAAAAAAAAAAAA', 'dns', 'www.example.com', eachProbe(dnsOf));

function dnsOf(id: string, index: number): Record<string, unknown> {
  const isAsia = ['bom-1', 'sgp-1', 'nrt-1', 'syd-1'].includes(id);
  const isMissing = id === 'jnb-1';
  const addresses = isAsia ? ['198.51.100.20', '198.51.100.21'] : ['192.0.2.80'];
  const answers = isMissing
    ? []
    : [
        { name: 'www.example.com.', type: 'CNAME', ttl: 300 - index, data: 'edge.example.net.' },
        ...addresses.map((data) => ({ name: 'edge.example.net.', type: 'A', ttl: 60 - index, data })),
      ];
  return final(index, round(1 + wobble(index) * 30), {
    ...(isMissing
      ? {
          ...{ result: 'failure', resolvedIp: null },
          error: failure('dns_nxdomain', 'response', 'target', 'The name does not exist.'),
        }
      : { resolvedIp: addresses[0] }),
    ...{ recordType: 'A', queryName: 'www.example.com.', rcode: isMissing ? 'NXDOMAIN' : 'NOERROR' },
    ...{ flags: ['qr', 'rd', 'ra'], answers, authority: [], additional: [], truncated: false },
    ...{ resolver: '203.0.113.53', transport: 'udp', size: 118, edns: null },
    timings: { connect: null, tls: null, query: 4.2 },
    dnssec: { ad: false, verdict: 'not_validated' },
  });
}

export const tcpCheck = check('tcp_AAAAAAAAAAAAAAAAAA', 'tcp', 'db.example.com', eachProbe(tcpOf));

function tcpOf(id: string, index: number): Record<string, unknown> {
  const isFiltered = ['nyc-1', 'sjc-1', 'gru-1'].includes(id);
  const refused = failure('connection_refused', 'connect', 'target', 'The target refused the connection.');
  const silent = failure('timed_out', 'connect', 'network', 'No handshake came about in time.');
  const state = isFiltered ? 'filtered' : id === 'waw-1' ? 'closed' : 'open';
  const error = state === 'open' ? null : state === 'closed' ? refused : silent;
  const rt = state === 'open' ? distances[index]! : null;
  return final(index, rt, {
    result: state === 'open' ? 'success' : state === 'closed' ? 'failure' : 'timeout',
    ...{ error, state, port: 5432 },
    attempts: [0, 1, 2].map((n) => ({ rt: rt === null ? null : round(rt + wobble(n + index)), error })),
  });
}

export const udpCheck = check('udp_AAAAAAAAAAAAAAAAAA', 'udp', 'ntp.example.com', eachProbe(udpOf));

function udpOf(id: string, index: number): Record<string, unknown> {
  const isSilent = id === 'bom-1';
  const rt = isSilent ? null : distances[index]!;
  const error = isSilent ? failure('timed_out', 'response', 'network', 'Nothing came back.') : null;
  return final(index, rt, {
    ...{ result: isSilent ? 'timeout' : 'success', error, state: isSilent ? 'open|filtered' : 'open', port: 123 },
    ...{ payload: `e30006ec${'00'.repeat(44)}`, responseBytes: isSilent ? 0 : 48, icmp: null },
    response: isSilent ? '' : Buffer.from('240306ec0000001f0000004ac0000201', 'hex').toString('base64'),
    attempts: (isSilent ? [0, 1, 2] : [0]).map(() => ({ rt, error })),
  });
}

export const infoCheck = check(
  'info_AAAAAAAAAAAAAAAAA',
  'info',
  'www.example.com',
  eachProbe((id, index) => {
    const isAsia = ['bom-1', 'sgp-1', 'nrt-1', 'syd-1'].includes(id);
    const ip = isAsia ? '198.51.100.20' : '192.0.2.80';
    return final(index, round(1 + wobble(index) * 9), {
      ...{ resolvedIp: ip, ip, addresses: [ip], hostname: isAsia ? 'edge-sin.example.net' : 'edge-fra.example.net' },
      ...{ hostnameVerified: true, asn: isAsia ? 'AS64511' : 'AS64510', asName: 'Example Delivery' },
      ...{ isp: 'Example Delivery', org: 'Example Delivery Ltd', prefix: isAsia ? '198.51.100.0/24' : '192.0.2.0/24' },
      ...(isAsia
        ? { city: 'Singapore', region: null, country: 'Singapore', countryCode: 'SG', timezone: 'Asia/Singapore' }
        : { city: 'Frankfurt', region: 'Hesse', country: 'Germany', countryCode: 'DE', timezone: 'Europe/Berlin' }),
      ...{ latitude: isAsia ? 1.35 : 50.11, longitude: isAsia ? 103.82 : 8.68 },
      ...{ provider: 'IP Geolocation by DB-IP (https://db-ip.com)', dataDate: '2026-06-05' },
    });
  }),
);

export const tracerouteCheck = check('trace_AAAAAAAAAAAAAAAA', 'traceroute', 'www.example.com', eachProbe(traceOf));

/** Paths that come together: own network, one of three carriers, the exchange, the target; one breaks on the way. */
function traceOf(id: string, index: number): Record<string, unknown> {
  const rtt = distances[index]!;
  const carrier = index < 5 ? 0 : index < 8 ? 1 : 2;
  const own = `203.0.113.${10 + index * 4}`;
  const isBroken = id === 'gru-1' || id === 'nyc-1';
  const routers: readonly (readonly [string | null, string | null, string | null])[] = [
    [own, `AS${64_496 + index}`, `Example Network ${index + 1}`],
    ...(id === 'bom-1'
      ? [[null, null, null] as const]
      : [[`203.0.113.${11 + index * 4}`, `AS${64_496 + index}`, `Example Network ${index + 1}`] as const]),
    [`198.51.100.${20 + carrier * 40}`, `AS${65_536 + carrier}`, `Example Carrier ${['One', 'Two', 'Three'][carrier]}`],
    [
      `198.51.100.${21 + carrier * 40 + (index % 2)}`,
      `AS${65_536 + carrier}`,
      `Example Carrier ${['One', 'Two', 'Three'][carrier]}`,
    ],
    ...(isBroken
      ? []
      : [
          ['198.51.100.200', 'AS65540', 'Example Exchange'] as const,
          ['192.0.2.1', 'AS64510', 'Example Delivery'] as const,
          ['192.0.2.80', 'AS64510', 'Example Delivery'] as const,
        ]),
    ...(isBroken ? [[null, null, null] as const, [null, null, null] as const, [null, null, null] as const] : []),
  ];
  const hops = routers.map(([ip, asn, asName], hop) => {
    const latency = ip === null ? null : round(0.4 + (rtt * (hop + 1)) / routers.length);
    const rtts = [0, 1, 2].map((n) => (latency === null ? null : round(latency + wobble(n + hop + index))));
    const who = { ip, private: false, hostname: ip === '192.0.2.80' ? 'www.example.com' : null };
    const full = { ...who, hostnameVerified: null, asn, asName };
    return {
      ...{ hop: hop + 1, ...full, latency, rtts, mpls: [], icmp: null },
      responders: ip === null ? [] : [{ ...full, rtts }],
    };
  });
  return final(index, isBroken ? null : rtt, {
    ...(isBroken
      ? { result: 'timeout', error: failure('timed_out', 'response', 'network', 'The target did not answer.') }
      : {}),
    ...{ hops, reached: !isBroken, protocol: 'icmp', pathMtu: 1500, clock: 'kernel', loop: null },
  });
}

export const worldChecks: readonly Check[] = [
  ...[pingCheck, httpCheck, dnsCheck, tcpCheck, udpCheck, infoCheck, tracerouteCheck],
];
