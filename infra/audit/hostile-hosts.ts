import { specialData } from '../../packages/target-policy/src/addresses/special-data.ts';
import type { HostileInput } from './hostile-input.ts';

/** Other notations of an IPv4 address, and IPv6 addresses that contain it. */
export function spellings(address: string): readonly HostileInput[] {
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

export function names(): readonly string[] {
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

export const texts: readonly string[] = [
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

export const urls: readonly string[] = [
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
