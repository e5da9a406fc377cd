import { check, eachProbe, failure, final, round, wobble } from './results.ts';

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
          result: 'failure',
          resolvedIp: null,
          error: failure('dns_nxdomain', 'response', 'target', 'The name does not exist.'),
        }
      : { resolvedIp: addresses[0] }),
    recordType: 'A',
    queryName: 'www.example.com.',
    rcode: isMissing ? 'NXDOMAIN' : 'NOERROR',
    flags: ['qr', 'rd', 'ra'],
    answers,
    authority: [],
    additional: [],
    truncated: false,
    resolver: '203.0.113.53',
    transport: 'udp',
    size: 118,
    edns: null,
    timings: { connect: null, tls: null, query: 4.2 },
    dnssec: { ad: false, verdict: 'not_validated' },
  });
}
