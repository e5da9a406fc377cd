import { describe, expect, it } from '@jest/globals';

import { describeResult, resultDetails } from './describe-result.ts';

describe('a result in one line', () => {
  it('tells of a ping how many answered, and how fast', () => {
    const line = describeResult('ping', {
      resolvedIp: '192.0.2.1',
      pingCount: 4,
      pingCompleted: 3,
      rttMin: 1.234,
      rttAvg: 12.34,
      rttMax: 123.4,
      jitter: 0.5,
    });

    expect(line).toBe('192.0.2.1, 3 of 4 answered, 1.23 ms / 12.3 ms / 123 ms, jitter 0.50 ms');
  });

  it.each([
    ['udp', false, { sent: 3, received: 1 }, '0 hops, the target answers echo requests, no later hop answered'],
    ['tcp', false, { sent: 3, received: 0 }, '0 hops, no later hop answered'],
    ['udp', true, { sent: 3, received: 3 }, '0 hops, 9.00 ms, no later hop answered'],
    ['icmp', false, { sent: 3, received: 1 }, '0 hops, the target answers other echo requests, no later hop answered'],
    ['udp', false, null, '0 hops, no later hop answered'],
  ] as const)('tells of a trace by %s, reached: %s, whether the target answers echo requests', (...given) => {
    const [protocol, reached, echo, text] = given;
    const stopReason = 'gap_limit' as const;

    expect(describeResult('traceroute', { hops: [], protocol, reached, echo, rt: 9, stopReason })).toBe(text);
  });

  it.each([
    [true, 65_536, '200 OK, HTTP/2, body cut off after 65536 bytes'],
    [true, 1, '200 OK, HTTP/2, body cut off after 1 byte'],
    [false, 65_536, '200 OK, HTTP/2'],
  ])('tells of a body whether it was cut off: %s', (truncated, bodyBytes, text) => {
    const answer = { statusCode: 200, statusText: 'OK', httpVersion: '2' as const };

    expect(describeResult('http', { ...answer, bodyBytes, truncated })).toBe(text);
  });

  it.each([
    [{ pathMtu: 1_400 }, 'MTU 1400'],
    [{ pathMtu: 1_500 }, 'MTU 1500 or more'],
    [{ state: 'closed' }, 'its port is closed (RST)'],
    [{ state: 'closed', port: 80 }, 'port 80 is closed (RST)'],
    [{ loop: { start: 3, length: 1 } }, 'one router answers for every hop from 3 on'],
    [{ loop: { start: 3, length: 2 } }, 'goes in a circle from hop 3'],
  ] as const)('tells no more of a path than was seen: %j', (result, line) => {
    expect(describeResult('traceroute', result)).toBe(line);
  });

  it('tells how long redirects took, with the last request', () => {
    const timings = { dns: 0, connect: 1, firstByte: 2, download: 1, total: 4 };
    const redirect = { url: 'http://example.com/', statusCode: 302, httpVersion: '1.1' as const, location: '/b' };
    const redirects = [{ ...redirect, resolvedIp: '192.0.2.1', rt: 800, timings: { dns: 0, total: 800 } }];

    expect(describeResult('http', { statusCode: 200, timings, redirects, elapsed: 804 })).toBe(
      '200, 4.00 ms, 804 ms with 1 redirect',
    );
    expect(describeResult('http', { statusCode: 200, timings, redirects: [], elapsed: 4 })).toBe('200, 4.00 ms');
  });

  it('tells for how long the probe stood still', () => {
    expect(describeResult('tcp', { state: 'open', rt: 4_004, stalled: 4_001.5 })).toContain(
      ', the probe stood still for 4.00 s',
    );
  });

  it.each([
    [
      'traceroute',
      { rounds: 57, stalled: 3_200, roundsLeftOut: 3 },
      '57 rounds, the probe stood still for 3.20 s (3 rounds left out)',
    ],
    [
      'ping',
      { pingCount: 3, pingCompleted: 3, stalled: 2_100, packetsLeftOut: 1 },
      '3 of 3 answered, the probe stood still for 2.10 s (1 packet left out)',
    ],
    [
      'ping',
      { resolvedIp: null, pingCount: 3, pingCompleted: 3, packetsLeftOut: 1 },
      '3 of 3 answered, 1 packet left out, which the probe did not send',
    ],
  ] as const)('tells of a %s what was left out because the probe stood still or did not send', (type, result, line) => {
    expect(describeResult(type, result)).toBe(line);
  });

  it('tells why there is no answer', () => {
    const error = { code: 'connection_refused', phase: 'connect', source: 'target', message: 'Refused.' } as const;

    expect(describeResult('tcp', { state: 'closed', rt: null, error })).toBe('closed, Refused. (connection_refused)');
  });

  it('says nothing of what is not known', () => {
    expect(describeResult('http', {})).toBe('');
    expect(describeResult('info', { city: null, country: null })).toBe('');
  });
});

const hop = { hostname: null, asn: null, asName: null, rtts: [], responders: [], mpls: [], icmp: null };
const silent = { ...hop, ip: null, latency: null };

describe('the details of a result', () => {
  it('list every fault of a certificate, and what the server asked for', () => {
    const tls = {
      authorizationError: 'tls_self_signed',
      daysLeft: -3,
      clientCertificateRequested: true,
      keyExchange: { group: 'X25519', bits: 253 },
      faults: [
        { code: 'tls_self_signed', certificate: 0, reason: 'The certificate is self-signed and not trusted.' },
        { code: 'tls_expired', certificate: 0, reason: 'The certificate was valid until 2026-01-01.' },
      ],
    } as never;

    expect(describeResult('http', { tls })).toBe('certificate expired 3 days ago');
    expect(describeResult('http', { tls: { daysLeft: -1 } as never })).toBe(
      'certificate expired less than two days ago',
    );
    expect(resultDetails('http', { tls })).toEqual([
      'not trusted: tls_self_signed',
      'fault: The certificate is self-signed and not trusted. (tls_self_signed)',
      'fault: The certificate was valid until 2026-01-01. (tls_expired)',
      'key exchange: X25519, 253 bits',
      'the server asks for a certificate of the client',
    ]);
  });

  it('are the hops of a path, silent and private ones in their place', () => {
    const lines = resultDetails('traceroute', {
      hops: [
        { ...silent, hop: 1, private: true, latency: 0.5 },
        { ...silent, hop: 2, private: false },
        { ...hop, hop: 3, ip: '192.0.2.1', private: false, latency: 12, asn: 'AS64496', asName: 'Example' },
      ] as never,
    });

    expect(lines).toEqual([
      ' 1  0.50 ms     (private)',
      ' 2              *',
      ' 3  12.0 ms     192.0.2.1  AS64496 Example',
    ]);
  });

  it('names the sender of an error that another router than the one of the hop sent', () => {
    const icmp = { type: 3, code: 1, mark: '!H' };
    const at = { ...silent, hop: 1, ip: '192.0.2.9', private: false };
    const lines = resultDetails('traceroute', {
      hops: [
        { ...at, icmp: { ...icmp, from: '192.0.2.1' } },
        { ...at, icmp: { ...icmp, from: '192.0.2.9' } },
      ] as never,
    });

    expect(lines.map((line) => line.slice(16))).toEqual(['192.0.2.9  !H by 192.0.2.1', '192.0.2.9  !H']);
  });

  it('are the links of all paths with their packets, and how routers balance', () => {
    const node = { kind: 'router', private: false, balances: null, reaches: true };
    const nodes = [
      { ...node, hop: 1, ip: '192.0.2.1', balances: 'flow' },
      { ...node, hop: 2, ip: '192.0.2.2' },
      { ...node, hop: 2, ip: '192.0.2.3', reaches: false, broken: true },
    ];
    const links = [
      { from: null, to: 0, sent: 2, received: 2, rttMin: 1 },
      { from: 0, to: 1, sent: 6, received: 5, rttMin: 2 },
      { from: 0, to: 2, sent: 7, received: 7, rttMin: 2 },
    ];
    const multipath = { complete: true, packets: 15, nodes, links, paths: [] };
    const lines = resultDetails('traceroute', { hops: [], multipath } as never);

    expect(lines).toEqual([
      'links of all paths (15 packets)',
      ' 1  probe     → 192.0.2.1  2 of 2 answered  1.00 ms',
      ' 2  192.0.2.1 → 192.0.2.2  5 of 6 answered  2.00 ms',
      ' 2  192.0.2.1 → 192.0.2.3  7 of 7 answered  2.00 ms  broken beyond',
      '192.0.2.1 (hop 1) balances by flow over 2 ways',
    ]);
  });

  it.each([
    ['completed', '1 hop'],
    ['hop_limit', '1 hop, stopped at the hop limit'],
    ['gap_limit', '1 hop, no later hop answered'],
    ['loop', '1 hop'],
  ] as const)('says why a trace stopped: %s', (stopReason, text) => {
    expect(describeResult('traceroute', { hops: [{ ...silent, hop: 1 }] as never, stopReason })).toBe(text);
  });

  it('are the ICMP errors that came, and that none could be read', () => {
    const icmp = { type: 3, code: 1, from: '192.0.2.9' };
    const row = {
      seq: 1,
      rtt: null,
      ttl: null,
      from: null,
      duplicate: false,
      icmp: { ...icmp, from: null, private: true },
    };

    expect(resultDetails('tcp', { icmp })).toEqual(['ICMP type 3 code 1 from 192.0.2.9']);
    expect(resultDetails('udp', { icmp: null, icmpUnread: true })).toEqual(['this probe cannot read ICMP errors']);
    expect(resultDetails('ping', { packets: [row] })).toEqual(['packet 1: ICMP type 3 code 1 from a private address']);
  });

  it('are the dead addresses of a name, the error of an HTTP/2 server and the rules that an answer breaks', () => {
    const lines = resultDetails('http', {
      deadAddresses: [{ address: '192.0.2.66', error: 'connection_refused', time: 1 }],
      http2Error: { frame: 'GOAWAY', code: 11, name: 'ENHANCE_YOUR_CALM', debug: 'too_many_pings' },
      deviations: [{ code: 'bare_lf', clause: 'RFC 9112 section 2.2', text: 'A line ends with LF.' }],
    });

    expect(lines).toEqual([
      'no connection with 192.0.2.66: connection_refused',
      'HTTP/2 ended by GOAWAY ENHANCE_YOUR_CALM: too_many_pings',
      'not as HTTP has it: A line ends with LF. (RFC 9112 section 2.2)',
    ]);
  });

  it('are the records of an answer', () => {
    const answers = [{ name: 'example.com.', type: 'A', ttl: 60, data: '192.0.2.1' }];

    expect(resultDetails('dns', { answers })).toEqual(['example.com.  60  A  192.0.2.1']);
  });

  it('count records of other names apart from the answers', () => {
    const answers = [
      { name: 'WWW.example.com.', type: 'CNAME', ttl: 60, data: 'edge.example.net.' },
      { name: 'edge.example.net.', type: 'A', ttl: 60, data: '192.0.2.1' },
      { name: 'other.example.', type: 'A', ttl: 60, data: '192.0.2.2' },
      { name: 'more.example.', type: 'A', ttl: 60, data: '192.0.2.3' },
    ];
    const result = { rcode: 'NOERROR', answerKind: 'answer', queryName: 'www.example.com.', answers } as const;

    expect(describeResult('dns', result)).toBe('NOERROR, 2 answers, 2 records of other names');
    expect(describeResult('dns', { ...result, truncated: true })).toContain(', at least 2 answers,');
    expect(describeResult('dns', { ...result, answerKind: 'foreign', answers: answers.slice(2, 3) })).toBe(
      'NOERROR, foreign, 0 answers, one record of another name',
    );
  });

  it('are the name servers that a DNS server referred to', () => {
    const authority = [{ name: 'com.', type: 'NS', ttl: 60, data: 'a.gtld-servers.net.' }];
    const referred = { rcode: 'NOERROR', answerKind: 'referral', referral: 'com.', answers: [], authority } as const;

    expect(resultDetails('dns', { ...referred, answers: [], authority })).toEqual([
      'com.  60  NS  a.gtld-servers.net.',
    ]);
    expect(describeResult('dns', { ...referred, answers: [], authority })).toBe('NOERROR, referred to com., 0 answers');
  });
});
