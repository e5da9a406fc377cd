import { isIPv4 } from 'node:net';

import { amplificationPorts } from '@vantage/contract';

import { specialData } from '../../packages/target-policy/src/addresses/special-data.ts';
import { addressesToRefuse } from './addresses-to-refuse.ts';

/** A body of `POST /check` that must be refused, and the reason. */
export interface HostileInput {
  readonly why: string;
  readonly body: unknown;
}

interface TargetInput extends HostileInput {
  readonly body: { readonly type: string; readonly host: string; readonly port?: number; readonly options?: object };
}

/**
 * Inputs that the coordinator can refuse without resolving a name: targets in every field that names one, ports,
 * options, DNS questions and bodies that are none.
 */
export function hostileInputs(): readonly HostileInput[] {
  const addresses = addressesToRefuse();
  return [
    ...addresses.flatMap((address) => asTarget(`the address ${address}`, address)),
    ...addresses.filter(isIPv4).flatMap((address) => spellings(address)),
    ...names().flatMap((name) => asTarget(`the name ${name}`, name)),
    // With a path appended, some of these texts would be valid URLs.
    ...texts.flatMap((text) => asTarget('a text that is no host', text).filter(({ body }) => body.type !== 'http')),
    ...urls.map((host) => ({ why: 'a URL that is none', body: { type: 'http', host } })),
    ...ports(),
    ...options(),
  ];
}

function asTarget(why: string, host: string): readonly TargetInput[] {
  const inUrl = host.includes(':') ? `[${host}]` : host;
  return [
    { why: `${why} by ping`, body: { type: 'ping', host } },
    { why: `${why} by tcp`, body: { type: 'tcp', host, port: 443 } },
    { why: `${why} by udp`, body: { type: 'udp', host, port: 33_434 } },
    { why: `${why} by traceroute`, body: { type: 'traceroute', host } },
    { why: `${why} by info`, body: { type: 'info', host } },
    { why: `${why} by http`, body: { type: 'http', host: `http://${inUrl}/` } },
    { why: `${why} by https`, body: { type: 'http', host: `https://${inUrl}:8443/a?b` } },
    { why: `${why} as resolver`, body: { type: 'dns', host: 'example.com', options: { resolver: host } } },
  ];
}

/** Other notations of an IPv4 address, and IPv6 addresses that contain it. */
function spellings(address: string): readonly HostileInput[] {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const written = [
    String(number),
    `0x${hex}`,
    `0${number.toString(8)}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    bytes.map((byte) => `0x${byte.toString(16)}`).join('.'),
    bytes.map((byte) => `0${byte.toString(8)}`).join('.'),

    `${address}.`,
    ` ${address}`,
    `${address}\t`,
    `${address}%00`,
    `[${address}]`,
    `${address}/32`,
    `${address}:80`,

    address.replaceAll('.', '。'),
    address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    `::ffff:${address}`,
    `::${address}`,
    `64:ff9b::${address}`,
    `::ffff:0:${address}`,
    `[::ffff:${address}]`,
    `2002:${hex.slice(0, 4)}:${hex.slice(4)}::1`,
    `64:ff9b:1::${address}`,
    `fe80::5efe:${address}`,
  ];
  return written.flatMap((host) => [
    { why: `${address} written as ${host}`, body: { type: 'ping', host } },
    { why: `${address} in a URL, written as ${host}`, body: { type: 'http', host: `http://${host}/` } },
  ]);
}

function names(): readonly string[] {
  const refused = specialData.hosts
    .filter(({ refuse, name }) => refuse && !name.endsWith('arpa'))
    .map(({ name }) => name);
  return [
    ...refused,
    ...specialData.hosts.filter(({ refuse, match }) => refuse && match === 'suffix').map(({ name }) => `a.b.${name}`),
    ...refused.map((name) => `${name.toUpperCase()}.`),

    'router',
    'nas.lan',
    'db.corp',
    'x.home',
    'printer.local',
    'ip6-localhost',
    'com',
    'co.uk.invalid',
    'a.b.c.zzzz',
  ];
}

const texts: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '-',
  '*',
  '*.example.com',
  'a..example.com',
  '-a.example.com',
  'example.com..',
  '.example.com',

  'exam ple.com',
  'example.com\n',
  'example.com\0',
  'example.com\u0000.net',
  '\u200bexample.com',
  'example\u202e.com',
  'user@example.com',
  'example.com:80',
  'example.com/path',
  'example.com?x',
  'example.com#x',
  'http://example.com',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(127)}com`,
  'a'.repeat(2_000),
  '[::1',
  '::1]',
  '::1%lo',
  'fe80::1%25eth0',
  '1:2:3:4:5:6:7',
  '1::2::3',
  ':::',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '1.1.1.1e1',
  '１.1.1.1',
  'ⓔxample.0x1',
];

const urls: readonly string[] = [
  'example.com',
  '//example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/html,x',

  'javascript:alert(1)',
  'view-source:https://example.com',
  'blob:https://example.com/x',
  'ws://example.com',
  'http:',
  'http://',
  'http:///',
  'http://user@example.com/',
  'http://u:p@example.com/',
  'http://example.com@127.0.0.1/',

  'http://127.0.0.1@example.com/',
  'http://example.com\\@127.0.0.1/',
  'http://127.0.0.1\\@example.com/',
  'http:\\\\127.0.0.1',

  'http://example.com:0/',
  'http://example.com:65536/',
  'http://example.com:99999/',
  'http://example.com:x/',
  'http://[::1',

  'http://exa\tmple.com/',
  'ht\ntp://example.com/',
  'http://example.com/\r\nHost: x',
  ' http://example.com/',
  'http://%31%32%37.0.0.1/',

  'http://0/',
  'http://127.1/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://①②⑦.0.0.1/',
  `http://example.com/${'a'.repeat(2_048)}`,
];

function ports(): readonly HostileInput[] {
  const { http, tcp, udp } = specialData.ports;
  const notPorts: readonly unknown[] = [-1, 0, 65_536, 1e9, 80.5, '80', null, [80], { port: 80 }, true];
  return [
    ...notPorts.flatMap((port) =>
      ['tcp', 'udp'].map((type) => ({ why: 'a port that is none', body: { type, host: 'example.com', port } })),
    ),
    ...tcp.refuse.map((port) => ({ why: `tcp port ${port}`, body: { type: 'tcp', host: 'example.com', port } })),
    ...udp.refuse.map((port) => ({ why: `udp port ${port}`, body: { type: 'udp', host: 'example.com', port } })),
    ...[...http.refuse, ...http.alsoRefuse].map((port) => ({
      why: `http port ${port}`,
      body: { type: 'http', host: `http://example.com:${port}/` },
    })),
    ...amplificationPorts.map((port) => ({
      why: `an own payload to udp port ${port}`,
      body: { type: 'udp', host: 'example.com', port, options: { payload: '00ff' } },
    })),
  ];
}

function options(): readonly HostileInput[] {
  const of = (
    type: string,
    list: readonly unknown[],
    host = 'example.com',
    more: object = {},
  ): readonly HostileInput[] =>
    list.map((one) => ({ why: `an option of ${type}`, body: { type, host, options: one, ...more } }));
  const headers = [
    'Host',
    'User-Agent',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Upgrade',
    'TE',
    'Trailer',
    'X\r\nY',
    'a b',
    '',
  ].map((name) => ({ headers: { [name]: 'x' } }));
  const values = ['a\r\nX: y', 'a\0', 'a\nb', 'x'.repeat(5_000)].map((value) => ({ headers: { 'X-A': value } }));
  return [
    ...of('http', [...headers, ...values], 'https://example.com/'),
    ...of('http', [{ method: 'POST' }, { method: 'CONNECT' }, { followRedirects: 11 }], 'https://example.com/'),
    ...of('ping', [{ count: 17 }, { interval: 10 }, { size: 65_500 }, { count: -1 }, { ttl: 256 }, { flood: true }]),
    ...of('tcp', [{ attempts: 4 }, { attempts: 0 }, { payload: '00' }], 'example.com', { port: 443 }),
    ...of('udp', [{ attempts: 100 }, { payload: 'zz' }, { payload: '00'.repeat(513) }], 'example.com', { port: 9_999 }),
    ...of('traceroute', [{ maxHops: 65 }, { queries: 11 }, { flows: 17 }, { maxHops: 64, queries: 10, flows: 16 }]),
    ...of('traceroute', [{ protocol: 'tcp', port: 25 }, { protocol: 'udp', port: 0 }, { protocol: 'sctp' }]),
    ...of('dns', [
      { resolver: '192.0.2.53:8080' },
      { resolver: '8.8.8.8:22' },
      { resolver: 'localhost' },
      { transport: 'x' },
    ]),
    ...['ANY', 'AXFR', 'IXFR', 'TYPE255', 'TYPE252', 'TYPE251', '*', 'A,AAAA'].map((recordType) => ({
      why: `the record type ${recordType}`,
      body: { type: 'dns', host: 'example.com', recordType },
    })),
    ...['1.0.0.127.in-addr.arpa', '1.1.168.192.in-addr.arpa', 'a.localhost', 'x.internal'].map((host) => ({
      why: `a question about ${host}`,
      body: { type: 'dns', host, recordType: 'PTR' },
    })),
    ...['{', '[]', '"x"', '{"type":"ping","host":"example.com","__proto__":{"limit":1}}', '[['.repeat(6_000)].map(
      (body) => ({
        why: 'a body that is none',
        body,
      }),
    ),
  ];
}
