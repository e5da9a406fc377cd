import { amplificationPorts } from '@vantage/contract';

import { specialData } from '../../packages/target-policy/src/addresses/special-data.ts';
import type { HostileInput } from './hostile-input.ts';

export function ports(): readonly HostileInput[] {
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

export function options(): readonly HostileInput[] {
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
