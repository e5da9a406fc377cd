import type { CommonResult } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import type { SparseResultOf } from '../src/probe-result.ts';
import { bad, ok } from './cases.ts';

type Final<T extends CheckTypeName> = SparseResultOf<T> & CommonResult;

/** A ping result with these round-trip times; null for a lost packet. */
export function ping(rtts: readonly (number | null)[], fields: SparseResultOf<'ping'> = {}): Final<'ping'> {
  const known = rtts.filter((rtt) => rtt !== null);
  const counts = { pingCount: rtts.length, pingCompleted: known.length, loss: 1 - known.length / rtts.length };
  const from = fields.resolvedIp ?? '203.0.113.1';
  const packets = rtts.map((rtt, index) => ({ seq: index + 1, rtt, ttl: 60, from, duplicate: false }));
  const all = { packets, ...counts, ...fields };
  if (known.length === 0) return bad('timed_out', all, { result: 'timeout', source: 'network' });
  const rttAvg = known.reduce((sum, rtt) => sum + rtt, 0) / known.length;
  const steps = known.slice(1).map((rtt, index) => Math.abs(rtt - known[index]!));
  const jitter = steps.length === 0 ? null : steps.reduce((sum, step) => sum + step, 0) / steps.length;
  return ok({ rt: rttAvg, rttMin: Math.min(...known), rttAvg, rttMax: Math.max(...known), jitter, ...all });
}

export const lost = ping([null, null, null, null]);

export function http(statusCode: number, fields: SparseResultOf<'http'> = {}): Final<'http'> {
  const timings = { dns: 5, connect: 20, tls: 25, firstByte: 30, download: 5, total: 85 };
  const all = { statusCode, url: 'https://example.com/', location: null, timings, tls: tls('01'), ...fields };
  return statusCode >= 400 ? bad('http_status', all, { phase: 'response' }) : ok(all);
}

type Tls = NonNullable<SparseResultOf<'http'>['tls']>;

export function tls(fingerprint256: string, fields: Partial<Tls> = {}, issuer = 'O=Example CA'): Tls {
  const leaf = {
    subject: 'CN=example.com',
    issuer,
    validFrom: null,
    validUntil: null,
    serialNumber: '01',
    fingerprint256,
    subjectAltNames: [],
    subjectAltNameCount: 0,
    keyType: 'ec',
    keyBits: 256,
  };
  return {
    protocol: 'TLSv1.3',
    cipher: 'TLS_AES_128_GCM_SHA256',
    alpn: null,
    authorized: true,
    authorizationError: null,
    daysLeft: 60,
    chain: [leaf],
    ...fields,
  };
}

/** A result with a refused certificate and its fields. */
export function refused(
  code: 'tls_expired' | 'tls_hostname_mismatch' | 'tls_self_signed' | 'tls_revoked' | 'tls_not_yet_valid',
): Final<'http'> {
  const fields = { url: 'https://example.com/', sslSubject: 'example.com', sslIssuer: 'Example CA' };
  const refusedTls = tls('02', { authorized: false, authorizationError: code, daysLeft: 30 });
  return bad(code, { ...fields, tls: refusedTls }, { phase: 'tls' });
}

export function tcp(state: 'open' | 'closed' | 'filtered', rts: readonly (number | null)[] = [20]): Final<'tcp'> {
  const failure = bad('timed_out', {}).error;
  const attempts = rts.map((rt) => ({ rt, error: rt === null ? failure : null }));
  const fields = { state, port: 443, attempts };
  if (state === 'open') return ok({ rt: rts.find((rt) => rt !== null) ?? null, ...fields });
  if (state === 'closed') return bad('connection_refused', fields);
  return bad('timed_out', fields, { result: 'timeout', source: 'network' });
}

export function udp(
  state: 'open' | 'closed' | 'open|filtered' | 'unreachable',
  fields: SparseResultOf<'udp'> = {},
): Final<'udp'> {
  const all = { state, port: 53, icmp: null, ...fields };
  if (state === 'open') return ok(all);
  if (state === 'open|filtered') return bad('timed_out', all, { result: 'timeout', source: 'network' });
  return bad(state === 'closed' ? 'port_unreachable' : 'host_unreachable', all);
}

/** An answer with these records, such as `A 192.0.2.1`, or an rcode without records. */
export function dns(records: readonly string[] | string, fields: SparseResultOf<'dns'> = {}): Final<'dns'> {
  const recordType = fields.recordType ?? 'A';
  const list = typeof records === 'string' ? [] : records;
  const answers = list.map((record, index) => {
    const [type = '', ...data] = record.split(' ');
    return { name: 'example.com.', type, ttl: 60 + index, data: data.join(' ') };
  });
  const rcode = typeof records === 'string' ? records : 'NOERROR';
  const verdict = 'not_validated' as const;
  const flags: SparseResultOf<'dns'>['flags'] = ['qr', 'rd', 'ra'];
  const asked = { recordType, queryName: 'example.com.', flags };
  const all = { ...asked, rcode, answers, dnssec: { ad: false, verdict }, resolvedIp: null, ...fields };
  if (rcode === 'NOERROR') return ok(all);
  const code = rcode === 'NXDOMAIN' ? 'dns_nxdomain' : rcode === 'SERVFAIL' ? 'dns_servfail' : 'dns_error';
  return bad(code, all, { source: 'resolver', phase: 'resolve' });
}

type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];

/**
 * A trace, one string per hop: addresses separated by `/`, then round-trip times, `*` for none; `private` for a
 * withheld address; `!X` for the error that ends it. `10.1.0.1 5 6 *` · `* * *` · `192.0.2.1/192.0.2.2 5 6 7`
 */
export function trace(
  path: readonly string[],
  fields: SparseResultOf<'traceroute'> & { readonly target?: string } = {},
): Final<'traceroute'> {
  const { target = '203.0.113.1', ...others } = fields;
  const hops = path.map((text, index) => hopOf(text, index + 1));
  const reached = hops.at(-1)?.responders.some(({ ip }) => ip === target) ?? false;
  const all = { hops, reached, protocol: 'icmp' as const, pathMtu: null, loop: null, resolvedIp: target, ...others };
  const rt = reached ? (hops.at(-1)!.latency ?? null) : null;
  return reached ? ok({ ...all, rt }) : bad('timed_out', all, { result: 'timeout', source: 'network' });
}

function hopOf(text: string, hop: number): Hop {
  const words = text.split(' ');
  const mark = words.find((word) => word.startsWith('!'));
  const rtts = words
    .filter((word) => /^[*\d]/.test(word) && !/[.:]/.test(word))
    .map((word) => (word === '*' ? null : Number(word)));
  const who = words[0]!;
  const isPrivate = who === 'private';
  const ips = isPrivate || who === '*' ? [] : who.split('/');
  const responders = ips.map((ip) => ({ ...routerOf(ip), rtts: rtts.filter((rtt) => rtt !== null) }));
  return {
    hop,
    ...(ips.length === 0 ? { ...routerOf(null), private: isPrivate } : routerOf(ips[0]!)),
    latency: rtts.find((rtt) => rtt !== null) ?? null,
    rtts,
    responders,
    mpls: [],
    icmp: mark === undefined ? null : { type: 3, code: mark === '!X' ? 13 : 1, mark },
  };
}

/** A router in its network: `198.51.100.x` is in AS64510, `192.0.2.x` in AS64511, `203.0.113.x` in AS64512. */
function routerOf(ip: string | null) {
  const network = ip === null ? undefined : networks.find(([prefix]) => ip.startsWith(prefix));
  const [, asn = null, asName = null] = network ?? [];
  return { ip, private: false, hostname: null, hostnameVerified: null, asn, asName };
}

const networks: readonly (readonly [string, string, string])[] = [
  ['198.51.100.', 'AS64510', 'Access Net'],
  ['192.0.2.', 'AS64511', 'Transit Net'],
  ['203.0.113.', 'AS64512', 'Target Net'],
];

export function info(fields: SparseResultOf<'info'> = {}): Final<'info'> {
  return ok({ ip: '203.0.113.1', addresses: ['203.0.113.1'], hostname: null, hostnameVerified: null, ...fields });
}

type Multipath = NonNullable<SparseResultOf<'traceroute'>['multipath']>;

/**
 * Result of a search for all paths, one string per link in the order of hops: `probe > 198.51.100.1 6/6`, with the
 * numbers of answered and sent packets; `*1` for a silent node, `!192.0.2.1` for one that refuses. `marks` by node: how
 * it balances, whether it is `broken`.
 */
export function multipath(
  links: readonly string[],
  marks: Readonly<Record<string, 'flow' | 'packet' | 'unknown' | 'broken'>> = {},
  target = '203.0.113.1',
): Multipath {
  const names = [...new Set(links.map((link) => link.split(' ')[2]!))];
  const read = links.map((link) => {
    const [from = '', , to = '', counts = ''] = link.split(' ');
    const [received = 0, sent = 0] = counts.split('/').map(Number);
    const rtt = received === 0 ? null : 5;
    const [tail, head] = [names.indexOf(from), names.indexOf(to)];
    return { from: tail === -1 ? null : tail, to: head, flows: sent, sent, received, rttMin: rtt, rttAvg: rtt };
  });
  const hopOf = (index: number): number => {
    const { from } = read.find(({ to }) => to === index)!;
    return from === null ? 1 : hopOf(from) + 1;
  };
  const reaches = (index: number): boolean =>
    names[index] === target || read.some(({ from, to }) => from === index && reaches(to));
  const nodes = names.map((name, index) => {
    const [mark, isSilent, isRefused] = [marks[name], name.startsWith('*'), name.startsWith('!')];
    const kind = name === target ? ('target' as const) : isRefused ? ('refused' as const) : ('router' as const);
    return {
      hop: hopOf(index),
      kind: isSilent ? ('silent' as const) : kind,
      ip: isSilent ? null : name.replace('!', ''),
      private: false,
      balances: mark === undefined || mark === 'broken' ? null : mark,
      reaches: reaches(index),
      ...(mark === 'broken' ? { broken: true as const } : {}),
    };
  });
  return { complete: true, packets: 60, nodes, links: read, paths: [] };
}
