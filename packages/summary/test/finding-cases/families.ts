import { isIPv6 } from 'node:net';

import type { CommonResult } from '@vantage/contract';

import { bad, broken, each, pending, summaryOf } from '../cases.ts';
import { redirectOf } from '../redirect.ts';
import { dns, http, lost, ping, tcp, trace } from '../results.ts';
import type { FindingCases } from './case.ts';

/** The first measurement with the second one as that over the other address family. */
function both<A extends object, B extends Partial<CommonResult>>(first: A, second: B) {
  const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = second;
  const isSix = isIPv6((first as { readonly resolvedIp?: string | null }).resolvedIp ?? '');
  return { ...first, otherFamily: { family: isSix ? (4 as const) : (6 as const), ...other } };
}

const six = { resolvedIp: '2001:db8::1' };
const [good, slow] = [ping([20, 21, 22, 20]), { ...ping([60, 61, 62, 60]), ...six }];
const goodOverSix = { ...ping([20, 22, 21, 21]), ...six };
const nameless = bad('dns_no_address', { resolvedIp: null }, { phase: 'resolve' });
const unconnected = bad('family_unavailable', { resolvedIp: null }, { source: 'probe', result: 'error' });
const refused = { ...tcp('closed'), ...six };
const noResolver = bad('family_unavailable', { resolvedIp: null, recordType: 'A' }, { source: 'resolver' });
const noServer = { ...noResolver, trace: [] };
const records = (...addresses: readonly string[]) => dns(addresses.map((address) => `A ${address}`));
const redirectedToFour = bad(
  'dns_no_address',
  { ...six, url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] },
  { phase: 'resolve' },
);
const slowlyResolved = http(200, {
  timings: { dns: 900, connect: 20, tls: 25, firstByte: 30, download: 5, total: 980 },
});
const [viaTransit, direct] = [
  trace(['198.51.100.1 9 9 9', '192.0.2.1 9 9 9', '203.0.113.1 9 9 9']),
  trace(['198.51.100.1 9 9 9', '203.0.113.1 9 9 9']),
];

const viaLink = trace(['198.51.100.1 9 9 9', '198.51.100.9 9 9 9', '203.0.113.1 9 9 9']);

const [silent, cut] = [
  trace(['198.51.100.1 9 9 9', '* * *', '203.0.113.1 9 9 9']),
  trace(['198.51.100.1 9 9 9', '* * *', '* * *']),
];

const tooBig = bad('packet_too_big', { pingCount: 4, pingCompleted: 0, size: 1400 }, { source: 'network' });
const late = ping([null, null, null, null], { anomalies: { late: 4, duplicates: 0, reordered: 0, corrupted: 0 } });
const echoAlone = { ...trace(['198.51.100.1 9 9 9', '* * *'], { echo: { sent: 3, received: 3 } }), ...six };

/** Cases of findings about checks over both address families. */
export const familyCases: FindingCases = {
  family_broken: {
    present: [
      [
        'IPv6 does not answer',
        summaryOf('ping', { 'fra-1': both(good, { ...lost, ...six }), 'ber-1': both(good, goodOverSix) }),
      ],
      [
        'the name server does not answer over IPv6',
        summaryOf('dns', { 'fra-1': both(records('192.0.2.1'), bad('timed_out', { recordType: 'A' })) }),
      ],
      [
        'IPv6 does not answer, and the server answers over IPv4 with a client error',
        summaryOf('http', { 'fra-1': both(http(404), bad('timed_out', {}, { result: 'timeout', source: 'network' })) }),
      ],
      ['IPv4 alone is refused', summaryOf('tcp', { 'fra-1': both({ ...tcp('open'), ...six }, tcp('closed')) })],
    ],
    absent: [
      ['both work', summaryOf('ping', { 'fra-1': both(good, goodOverSix) })],
      [
        'the requested size is too big for the path over IPv6',
        summaryOf('ping', { 'fra-1': both(good, { ...tooBig, ...six }) }),
      ],
      ['all replies over IPv6 came late', summaryOf('ping', { 'fra-1': both(good, { ...late, ...six }) })],
      ['the target answers echo requests over IPv6', summaryOf('traceroute', { 'fra-1': both(direct, echoAlone) })],
      [
        'the server answers over IPv6 with a client error',
        summaryOf('http', each('fra-1 ber-1', both(http(200), { ...http(404), ...six }))),
      ],
      [
        'the resolver answers over IPv6 that the name does not exist',
        summaryOf('dns', { 'fra-1': both(records('192.0.2.1'), dns('NXDOMAIN')) }),
      ],
      ['both fail', summaryOf('tcp', { 'fra-1': both(tcp('closed'), refused) })],
      ['the name has no IPv6', summaryOf('ping', { 'fra-1': both(good, nameless) })],
      ['the probe could not measure over IPv6', summaryOf('ping', { 'fra-1': both(good, broken('internal_error')) })],
      ['the second measurement runs', summaryOf('ping', { 'fra-1': { ...pending, otherFamily: { family: 6 } } })],
    ],
  },
  family_absent: {
    present: [
      ['the name has no IPv6', summaryOf('ping', { 'fra-1': both(good, nameless) })],
      ['the probe has no IPv6', summaryOf('ping', { 'fra-1': both(good, unconnected) })],
      ['the resolver has no IPv6', summaryOf('dns', { 'fra-1': both(records('192.0.2.1'), noResolver) })],
      ['no name server has IPv6', summaryOf('dns', { 'fra-1': both(records('192.0.2.1'), noServer) })],
      ['the name that it redirects to has no IPv6', summaryOf('http', { 'fra-1': both(http(200), redirectedToFour) })],
    ],
    absent: [['IPv6 does not answer', summaryOf('ping', { 'fra-1': both(good, { ...lost, ...six }) })]],
  },
  family_slower: {
    present: [['three times as slow', summaryOf('ping', { 'fra-1': both(good, slow) })]],
    absent: [
      ['as fast', summaryOf('ping', { 'fra-1': both(good, goodOverSix) })],
      [
        'its addresses were resolved slowly',
        summaryOf('http', { 'fra-1': both(http(200), { ...slowlyResolved, ...six }) }),
      ],
      [
        'slower than the IPv4 of another probe',
        summaryOf('ping', { 'fra-1': both(slow, ping([60, 61, 60, 62])), 'ber-1': both(good, goodOverSix) }),
      ],
    ],
  },
  family_answers_differ: {
    present: [
      ['a client error over IPv6', summaryOf('http', { 'fra-1': both(http(200), { ...http(403), ...six }) })],
      ['another status', summaryOf('http', each('fra-1 ber-1', both(http(200), { ...http(204), ...six })))],
      [
        'other name servers of a zone',
        summaryOf('dns', { 'fra-1': both(records('192.0.2.1'), records('192.0.2.2', '192.0.2.3')) }),
      ],
    ],
    absent: [
      ['the same status', summaryOf('http', { 'fra-1': both(http(200), { ...http(200), ...six }) })],
      [
        'the same records in another order',
        summaryOf('dns', { 'fra-1': both(records('192.0.2.1', '192.0.2.2'), records('192.0.2.2', '192.0.2.1')) }),
      ],
      ['IPv6 is broken', summaryOf('http', each('fra-1 ber-1', both(http(200), { ...http(503), ...six })))],
    ],
  },
  family_paths_differ: {
    present: [
      ['another network on the way', summaryOf('traceroute', { 'fra-1': both(viaTransit, { ...direct, ...six }) })],
    ],
    absent: [
      ['the same networks', summaryOf('traceroute', { 'fra-1': both(viaTransit, { ...viaTransit, ...six }) })],
      [
        'a router of it that answers with an address of the network before',
        summaryOf('traceroute', { 'fra-1': both(viaTransit, { ...viaLink, ...six }) }),
      ],
      ['a silent hop that may be of it', summaryOf('traceroute', { 'fra-1': both(viaTransit, { ...silent, ...six }) })],
      [
        'a path that is not known to its end',
        summaryOf('traceroute', { 'fra-1': both(viaTransit, { ...cut, ...six }) }),
      ],
    ],
  },
};
