import { describe, expect, it } from '@jest/globals';

import { isFromNameServer } from './current.ts';
import type { DnsFlag } from './message.ts';
import type { DnsRecord } from './record.ts';

const soa = record('com.', 'SOA', 300, 'a.ns.com. host.com. 1 2 3 4 900');
const soaSignature = record('com.', 'RRSIG', 300, 'SOA 13 1 300 20300101000000 20200101000000 1 com. AA==');
const nsec = (ttl: number): DnsRecord => record('b.com.', 'NSEC', ttl, 'z.com. NS RRSIG NSEC');
const nsec3 = (ttl: number, flags: number): DnsRecord => record('ABC.com.', 'NSEC3', ttl, `1 ${flags} 0 - DEF NS`);
const signature = (name: string, type: string): DnsRecord =>
  record(name, 'RRSIG', 5, `${type} 13 2 900 20300101000000 20200101000000 1 com. AA==`);
const wildcard = (ttl: number): readonly DnsRecord[] => [
  record('made-up.com.', 'A', ttl, '192.0.2.1'),
  signature('made-up.com.', 'A'),
];

describe('an answer about a name that no cache has', () => {
  it.each<[string, boolean, { authority?: readonly DnsRecord[]; answers?: readonly DnsRecord[]; flags?: DnsFlag[] }]>([
    ['of a domain without signatures', true, { authority: [soa] }],
    ['of a zone that the resolver has itself', false, { authority: [soa], flags: ['qr', 'aa', 'ra'] }],
    ['with NSEC just fetched', true, { authority: [soa, nsec(900), signature('B.com.', 'NSEC')] }],
    ['with NSEC of a cache', false, { authority: [soa, soaSignature, nsec(899), signature('b.com.', 'NSEC')] }],
    ['with NSEC3 of a cache', false, { authority: [soa, nsec3(1, 0), signature('abc.com.', 'NSEC3')] }],
    ['with opt-out, which RFC 8198 excludes', true, { authority: [soa, nsec3(1, 1), signature('abc.com.', 'NSEC3')] }],
    [
      'with one record fetched and another of a cache',
      true,
      { authority: [nsec(900), signature('b.com.', 'NSEC'), nsec3(1, 0), signature('abc.com.', 'NSEC3')] },
    ],
    ['with a TTL like that of another signature', false, { authority: [nsec(900), signature('c.com.', 'NSEC')] }],
    ['of a wildcard just fetched', true, { answers: wildcard(900) }],
    ['of a wildcard of a cache', false, { answers: wildcard(30) }],
  ])('%s: the resolver reached a name server for it: %s', (_what, expected, { flags = ['qr', 'ra'], ...sections }) => {
    expect(isFromNameServer({ ...message, flags, ...sections })).toBe(expected);
  });
});

const message = {
  id: 1,
  opcode: 0,
  rcode: 3,
  flags: [],
  questions: [],
  answers: [],
  authority: [],
  additional: [],
  edns: null,
  omitted: 0,
  formatError: null,
  trailingBytes: 0,
} as const;

function record(name: string, type: string, ttl: number, data: string): DnsRecord {
  return { name, type, ttl, data };
}
