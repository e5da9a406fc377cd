import { describe, expect, it } from '@jest/globals';
import type { FailureCode, Summary } from '@vantage/contract';

import { bad, each, lines, summaryOf, textOf } from '../../test/cases.ts';
import { redirectOf } from '../../test/redirect.ts';
import { dns, http, info, ping, refused, tcp, tls, trace, udp } from '../../test/results.ts';
import type { SparseResultOf } from '../probe-result.ts';

/** Findings except those of scope, which have their own tests. */
function own(summary: Summary): readonly string[] {
  return lines(summary).filter((line) => !line.startsWith('down_'));
}

describe('a ping check', () => {
  const calm = ping([100, 101, 100, 101]);
  const restless = ping([100, 160, 100, 160]);
  const odd = { duplicates: 0, late: 0, reordered: 0, corrupted: 0 };

  it.each([
    ['one packet of one probe is lost', { 'fra-1': ping([9, null, 9, 9]), 'ber-1': calm }, ['packet_loss info: fra-1']],
    [
      'two packets of one probe are lost',
      { 'fra-1': ping([9, null, 9, null]), 'ber-1': calm },
      ['packet_loss warning: fra-1'],
    ],
    ['one packet of two probes is lost', each('fra-1 ber-1', ping([9, null])), ['packet_loss warning: ber-1 fra-1']],
    ['packets are under way', { 'fra-1': { ...ping([9, null, null, null]), result: 'pending' as const } }, []],
    ['one probe has jitter', { 'fra-1': restless, 'ber-1': calm }, ['jitter_high info: fra-1']],
    ['many probes have jitter', each('fra-1 ber-1', restless), ['jitter_high warning: ber-1 fra-1']],
    ['jitter is small compared with the round trip', { 'fra-1': ping([300, 350, 300, 350]) }, []],
    ['jitter alone is small', { 'fra-1': ping([1, 15, 1, 15]) }, []],
    ['the first reply alone is slow', { 'fra-1': ping([180, 10, 11, 10]) }, []],
    ['one reply in the middle is slow', { 'fra-1': ping([10, 11, 180, 10]) }, []],
    ['one reply of three is slow', { 'fra-1': ping([180, 10, 11]) }, []],
    [
      'the first reply is slow and the others vary',
      { 'fra-1': ping([180, 10, 70, 9, 66]) },
      ['jitter_high info: fra-1'],
    ],
    ['two replies are too few for jitter', { 'fra-1': ping([100, 200]) }, []],
    [
      'replies come twice',
      { 'fra-1': ping([9, 9], { anomalies: { ...odd, duplicates: 2 } }) },
      ['replies_odd info: fra-1'],
    ],
    [
      'replies are damaged',
      { 'fra-1': ping([9, 9], { anomalies: { ...odd, corrupted: 1 } }) },
      ['replies_odd warning: fra-1'],
    ],
    ['nothing is odd', { 'fra-1': ping([9, 9], { anomalies: odd }) }, []],
  ])('%s', (_reason, results, expected) => {
    expect(own(summaryOf('ping', results))).toEqual(expected);
  });

  const notice = { type: 3, code: 13, from: '192.0.2.1', private: false };
  const refusing = ping([9, null, 9, null, 9, null]);
  const loss =
    'lost, or the target limits its answers to pings, which all that ask it may share: a traceroute over icmp tells.';
  it.each([
    ['lost packets', ping([9, null, 9, null]), `no answer: fra-1 50 % (2 of 4). They are ${loss}`],
    [
      'a late reply',
      ping([9, 9, 9, null], { anomalies: { ...odd, late: 1 } }),
      'no answer in time: fra-1 25 % (1 of 4). One late reply may explain that.',
    ],
    [
      'damaged replies and lost packets',
      ping([9, null, 9, null], { anomalies: { ...odd, corrupted: 1 } }),
      `no valid answer: fra-1 50 % (2 of 4). One damaged reply may explain 1 of them. The others are ${loss}`,
    ],
    [
      'ICMP errors',
      { ...refusing, packets: refusing.packets!.map((row) => (row.rtt === null ? { ...row, icmp: notice } : row)) },
      'no answer: fra-1 50 % (3 of 6). 3 ICMP errors may explain that.',
    ],
  ])('says how many packets got no answer, and why: %s', (_situation, result, text) => {
    expect(textOf(summaryOf('ping', { 'fra-1': result }), 'packet_loss')).toBe(`Packets got ${text}`);
  });

  it('does not say that answers are missing if all came damaged', () => {
    const damaged = ping([9, 9, null, null], { anomalies: { ...odd, corrupted: 2 } });

    expect(summaryOf('ping', { 'fra-1': damaged }).headline).toMatch(/, but fra-1 gets late or damaged replies\.$/);
  });
});

describe('ports of probes that met an ICMP error', () => {
  it('name who refused a SYN, and that it was a filter', () => {
    const refusedPort = bad('port_unreachable', {
      state: 'filtered' as const,
      port: 443,
      attempts: [],
      icmp: { type: 3, code: 3, from: '203.0.113.1' },
    });
    const summary = summaryOf('tcp', { 'fra-1': refusedPort });

    expect(summary.headline).toContain('a packet filter refuses the port');
    expect(textOf(summary, 'icmp_refused')).toBe(
      'fra-1 got “port unreachable” (ICMP 3/3) from the target itself (203.0.113.1).',
    );
  });

  it('say of a probe that cannot read them that its silence may be a refusal', () => {
    const results = { 'fra-1': udp('open|filtered', { icmpUnread: true }), 'ber-1': udp('open|filtered') };

    expect(textOf(summaryOf('udp', results), 'udp_no_answer')).toContain(
      'fra-1 cannot read ICMP errors, so that a refusal looks like silence too.',
    );
  });
});

describe('pings whose replies are all late', () => {
  it('have a target that is there, and not as it should', () => {
    const anomalies = { duplicates: 0, late: 2, reordered: 0, corrupted: 0 };
    const summary = summaryOf('ping', { 'fra-1': ping([null, null, null, null], { anomalies }) });

    expect([summary.verdict, ...own(summary)]).toEqual(['degraded', 'replies_odd warning: fra-1']);
    expect(textOf(summary, 'replies_odd')).toBe(
      'Replies came, and all of them after more than four seconds, too late to count: fra-1 2 of 4.',
    );
  });
});

describe('pings whose replies are all damaged, or shorter than what was sent', () => {
  it('have a target that is there, and not as it should', () => {
    const anomalies = { duplicates: 0, late: 0, reordered: 0, corrupted: 3 };
    const damaged = ping([null, null, null, null], { anomalies });
    const summary = summaryOf('ping', { 'fra-1': damaged, 'ber-1': ping([9, 9, 9, 9]) });

    expect([summary.verdict, ...own(summary)]).toEqual(['degraded', 'replies_odd warning: fra-1']);
    expect(textOf(summary, 'replies_odd')).toBe(
      'Replies came, and all of them damaged or of another length than was sent, so that they do not count: fra-1 3 of 4.',
    );
    expect(summary.headline).toBe(
      'example.com answers pings from both probes, but its replies are damaged or of another length for fra-1.',
    );
  });

  it('or late are named with both faults', () => {
    const anomalies = { duplicates: 0, late: 1, reordered: 0, corrupted: 3 };
    const summary = summaryOf('ping', { 'fra-1': ping([null, null, null, null], { anomalies }) });

    expect(textOf(summary, 'replies_odd')).toBe(
      'Replies came, and all of them late, damaged or of another length than was sent, so that they do not count: fra-1 4 of 4.',
    );
  });
});

describe('a UDP port without an answer', () => {
  it('may answer from another port or address, which the probe does not hear', () => {
    expect(textOf(summaryOf('udp', { 'fra-1': udp('open|filtered') }), 'udp_no_answer')).toBe(
      'Nothing came back from the port to fra-1: it is filtered, it is closed and the ICMP error did not come, what listens there does not answer this question or answers ' +
        'from another port or address, as TFTP and hosts with several addresses do, or after the end of the check, or packets were lost. With UDP these look the same.',
    );
  });
});

describe('pings to which nothing came back, while others missed answers', () => {
  const none = ping([null, null, null, null]);

  it.each([
    [
      'half of the packets of others',
      { 'fra-1': ping([9, null, 9, null]), 'ber-1': ping([null, 9, null, 9]) },
      'silent',
    ],
    [
      'so few that chance does not explain it',
      { 'fra-1': ping([9, 9, 9, 9]), 'ber-1': ping([null, null, 9, 9]), 'par-1': ping([9, 9, 9, 9]) },
      'down',
    ],
    ['one', { 'fra-1': ping([9, null]), 'ber-1': ping([9, 9]) }, 'down'],
    ['half of those to another address', { 'fra-1': ping([9, null, null, 9], { resolvedIp: '203.0.113.9' }) }, 'down'],
  ])('are no outage if a limit or chance explains it: %s', (_what, others, count) => {
    const summary = summaryOf('ping', { ...others, 'nyc-1': { ...none, resolvedIp: '203.0.113.1' } });

    expect(summary.counts).toMatchObject({ [count]: 1, up: Object.keys(others).length });
    expect(summary.verdict).toBe(count === 'down' ? 'partial' : 'degraded');
  });

  it('are lost packets of a target that may limit its answers', () => {
    const summary = summaryOf('ping', {
      'fra-1': ping([9, null, null, null]),
      'nyc-1': ping([null, null, null, null]),
    });

    expect(summary.headline).toMatch(
      /, but fra-1 misses answers; one probe heard nothing from it, which proves nothing\.$/,
    );
    expect(textOf(summary, 'packet_loss')).toMatch(
      /^Packets got no answer: fra-1 75 % \(3 of 4, the last ones\) and nyc-1 100 % \(4 of 4\)\./,
    );
  });
});

describe('pings of a size to which nothing came back', () => {
  it('are no outage of a target that answers ordinary ones', () => {
    const fields = { size: 1_400, dscp: 46, ordinary: { sent: 3, received: 2 } };
    const summary = summaryOf('ping', {
      'fra-1': ping([null, null], fields),
      'ber-1': ping([9, 9], { size: 1_400, dscp: 46 }),
    });

    expect(summary).toMatchObject({
      verdict: 'degraded',
      headline:
        'example.com answers pings from both probes, but not those with 1400 bytes of payload and DSCP 46 for fra-1.',
    });
    expect(textOf(summary, 'packet_loss')).toMatch(
      /^Pings with 1400 bytes of payload and DSCP 46 got no answer, and ordinary ones, sent after them, did: fra-1 \(0 of 2; ordinary 2 of 3\)\./,
    );
  });
});

describe('pings with a DSCP that a filter refuses', () => {
  const refused = (received: number) =>
    bad(
      'administratively_prohibited',
      { dscp: 46, size: 56, pingCount: 2, pingCompleted: 0, loss: 1, ordinary: { sent: 3, received } },
      { source: 'network', phase: 'response' },
    );

  it('are no outage of a target that answers ordinary ones', () => {
    const summary = summaryOf('ping', { 'fra-1': refused(3) });

    expect(summary).toMatchObject({
      verdict: 'degraded',
      headline: 'example.com answers pings from the one probe asked, but not those with DSCP 46.',
    });
    expect(textOf(summary, 'packet_loss')).toBe(
      'Pings with DSCP 46 were refused (a filter forbids the traffic), and ordinary ones, sent after them, were answered: fra-1 (0 of 2; ordinary 3 of 3).',
    );
    expect(summaryOf('ping', { 'fra-1': refused(0) }).verdict).toBe('down');
  });
});

describe('pings that met an ICMP error', () => {
  const hostUnreachable = { type: 3, code: 1, from: '192.0.2.9' };
  const refusedRow = { seq: 1, rtt: null, ttl: null, from: '192.0.2.9', duplicate: false, icmp: hostUnreachable };
  const onTheWay = (code: FailureCode, fields: SparseResultOf<'ping'>) =>
    bad(code, { pingCount: 1, pingCompleted: 0, loss: 1, ...fields }, { source: 'network', phase: 'response' });

  it('are named with the sender, once for all packets that met it', () => {
    const summary = summaryOf('ping', {
      'fra-1': ping([null, null, 9, 9], { packets: [refusedRow, { ...refusedRow, seq: 2 }] }),
    });

    expect(own(summary)).toEqual(['packet_loss warning: fra-1', 'icmp_refused info: fra-1']);
    expect(textOf(summary, 'icmp_refused')).toBe(
      'fra-1 got “host unreachable” (ICMP 3/1) from 192.0.2.9, which is not the measured address.',
    );
  });

  it.each([
    [1, '“host unreachable” (ICMP 3/1)'],
    [7, 'ICMP type 3 code 7'],
  ])('name what may say in the name of the target that it is unreachable: code %i', (code, what) => {
    const packets = [{ ...refusedRow, icmp: { ...hostUnreachable, code, from: '203.0.113.1' } }];

    expect(textOf(summaryOf('ping', { 'fra-1': ping([null, 9, 9], { packets }) }), 'icmp_refused')).toBe(
      `fra-1 got ${what} from the target’s own address (203.0.113.1), as from a load balancer or NAT in front of a server that is away, or a firewall that refuses.`,
    );
  });

  it.each([
    ['between others', [9, null, null, null, 9], '60 % (3 of 5, in a row)'],
    ['at the end', [9, 9, null, null, null], '60 % (3 of 5, the last ones)'],
    ['at the start', [null, null, null, 9], '75 % (3 of 4, the first ones)'],
    ['apart', [null, null, 9, null, 9], '60 % (3 of 5)'],
    ['too few', [9, null, null, 9], '50 % (2 of 4)'],
  ])('differ from packets without an answer that follow each other: %s', (_where, rtts, values) => {
    expect(textOf(summaryOf('ping', { 'fra-1': ping(rtts) }), 'packet_loss')).toContain(`no answer: fra-1 ${values}. `);
  });

  it('name the probe itself where its own kernel sent them', () => {
    const packets = [{ ...refusedRow, icmp: { ...hostUnreachable, own: true } }];

    expect(textOf(summaryOf('ping', { 'fra-1': ping([null, 9, 9], { packets }) }), 'icmp_refused')).toBe(
      'fra-1 got “host unreachable” (ICMP 3/1) from the probe itself.',
    );
  });

  it('name the link of the probe if it does not carry the packets of a trace', () => {
    const tooBig = bad('packet_too_big', {}, { source: 'probe', result: 'error', phase: 'request' });

    expect(textOf(summaryOf('traceroute', { 'fra-1': tooBig }), 'packets_unfit')).toContain(
      'the packets are too big for the probe’s own link (fra-1)',
    );
  });

  it('say nothing of the target if the next hop of the probe does not answer on its link', () => {
    const icmp = { ...hostUnreachable, own: true };
    const dead = { result: 'error' as const, source: 'probe' as const };
    const lost = { pingCount: 1, pingCompleted: 0, loss: 1, packets: [{ ...refusedRow, icmp }] };
    const pinged = summaryOf('ping', {
      'fra-1': bad('host_unreachable', lost, { ...dead, phase: 'response' }),
      'ber-1': ping([9, 9]),
    });
    const rejected = [
      summaryOf('ping', { 'fra-1': bad('port_unreachable', lost, { ...dead, phase: 'response' }) }),
      summaryOf('tcp', { 'fra-1': bad('port_unreachable', { port: 443, icmp, state: 'filtered' }, dead) }),
    ];
    const connected = summaryOf('tcp', { 'fra-1': bad('host_unreachable', { port: 443, icmp }, dead) });
    const { error: _silence, ...path } = trace(['192.0.2.9 3000 3000 !H'], { stopReason: 'unreachable' });
    const traced = summaryOf('traceroute', { 'fra-1': bad('host_unreachable', path, { ...dead, phase: 'response' }) });

    expect(pinged).toMatchObject({ verdict: 'up', agree: { n: 1, of: 1 } });
    expect(textOf(pinged, 'probes_faulty')).toContain('the probe has no route, or no next hop that answers (fra-1)');
    for (const one of rejected)
      expect(textOf(one, 'probes_faulty')).toContain('the probe has rules that refuse the packets (fra-1)');
    expect(connected.verdict).toBe('unknown');
    expect(lines(connected)).toEqual(['probes_faulty warning: fra-1']);
    expect(lines(traced)).toEqual(['probes_faulty warning: fra-1']);
  });

  it.each([
    ['a TTL that was asked for and is used up', onTheWay('time_exceeded', { ttl: 2 })],
    ['a TTL that a silent router may use up', ping([null, null], { ttl: 2, ordinary: { sent: 3, received: 1 } })],
    ['a size that the path does not carry', onTheWay('packet_too_big', { size: 1472 })],
    [
      'a size that the probe’s own link does not carry',
      bad('packet_too_big', { size: 1472 }, { result: 'error' as const, source: 'probe', phase: 'request' }),
    ],
  ])('say nothing of the target with %s', (_reason, result) => {
    const summary = summaryOf('ping', { 'fra-1': result });
    const withOther = summaryOf('ping', { 'fra-1': result, 'ber-1': ping([9, 9]) });

    expect(summary).toMatchObject({ verdict: 'unknown', counts: { down: 0, notMeasured: 1 } });
    expect(lines(summary)).toEqual(['packets_unfit warning: fra-1']);
    expect(withOther).toMatchObject({ verdict: 'up', agree: { n: 1, of: 1 } });
    expect(lines(withOther)).toEqual(['packets_unfit info: fra-1']);
  });

  it.each([
    ['no TTL was requested', {}],
    ['the TTL asked for is what any packet has', { ttl: 64 }],
  ])('are an outage where packets run out of hops and %s', (_reason, fields) => {
    expect(summaryOf('ping', { 'fra-1': onTheWay('time_exceeded', fields) }).verdict).toBe('down');
  });

  const exceededRow = (ttl: number | null) => ({
    ...refusedRow,
    ttl,
    icmp: { type: 11, code: 0, from: '192.0.2.9' },
  });

  it.each([
    ['three hops away', 253],
    ['three hops away, with another initial TTL', 62],
    ['twenty hops away', 236],
  ])('are an outage where packets with a TTL of 63 ran out of hops at a router %s', (_where, ttl) => {
    const result = onTheWay('time_exceeded', { ttl: 63, packets: [exceededRow(ttl)] });

    expect(summaryOf('ping', { 'fra-1': result }).verdict).toBe('down');
  });

  it.each([
    ['as far away as their TTL', 40, 216],
    ['somewhat nearer on the way back', 40, 230],
    ['next to the probe, as they asked', 3, 255],
    ['of unknown distance', 63, null],
  ])('say nothing of the target where the router is %s', (_where, ttl, errorTtl) => {
    const result = onTheWay('time_exceeded', { ttl, packets: [exceededRow(errorTtl)] });

    expect(summaryOf('ping', { 'fra-1': result }).verdict).toBe('unknown');
  });

  it('say of large packets that nothing came back to that these were large', () => {
    expect(summaryOf('ping', { 'fra-1': ping([null, null], { size: 1472 }) }).headline).toContain(
      'does not answer pings of 1472 bytes of payload from',
    );
  });
});

describe('an http check', () => {
  it('names the probes that got another answer than the loop of browsers', () => {
    const loop = { ...http(301, { url: 'https://a.example/', location: 'http://a.example/' }), hsts: 'loop' as const };
    const page = http(200, { url: 'https://a.example/' });

    expect(textOf(summaryOf('http', { 'fra-1': loop, 'nyc-1': page }), 'http_hsts_loop')).toContain(
      'redirected again, unless they get another answer there, as nyc-1 did.',
    );
    expect(textOf(summaryOf('http', each('fra-1 nyc-1', loop)), 'http_hsts_loop')).toContain('redirected again. ');
  });

  const timings = { dns: 5, connect: 20, tls: 25, firstByte: 30, download: 5, total: 85 };
  const moved = (location: string) => http(301, { location });
  const leaf = (print: string, issuer?: string) => http(200, { tls: tls(print, {}, issuer) });
  const dead = { address: '192.0.2.66', error: 'connection_refused' as const, time: 1 };
  const addresses = ['203.0.113.1', '203.0.113.2'];
  const atFirst = http(200, { addresses });
  const afterFirst = http(200, {
    addresses,
    deadAddresses: [{ ...dead, address: '203.0.113.1' }],
    resolvedIp: '203.0.113.2',
  });
  const hop = {
    url: 'http://example.com/',
    statusCode: 301,
    httpVersion: '1.1',
    location: '/a',
    resolvedIp: '192.0.2.1',
    rt: 1,
    timings,
  };
  const deviation = { code: 'bare_lf' as const, clause: 'RFC 9112 section 2.2', text: 'A line ends with LF.' };
  const selfSigned = http(200, { tls: tls('09', { authorized: false, authorizationError: 'tls_self_signed' }) });

  it.each([
    ['all is well', each('fra-1 ber-1', http(200)), []],
    ['5xx everywhere', each('fra-1 ber-1', http(503)), ['http_server_error critical: ber-1 fra-1']],
    [
      '5xx for some',
      { 'fra-1': http(500), 'ber-1': http(200) },
      ['http_server_error warning: fra-1', 'http_status_differs warning: ber-1 fra-1'],
    ],
    ['4xx', each('fra-1 ber-1', http(404)), ['http_client_error warning: ber-1 fra-1']],
    [
      'statuses that differ and are good',
      { 'fra-1': http(200), 'ber-1': http(301) },
      ['http_status_differs info: ber-1 fra-1'],
    ],
    [
      'a redirect to another host',
      { 'fra-1': moved('https://other.example/') },
      ['http_redirects_elsewhere info: fra-1'],
    ],
    ['a redirect to the same host with www.', { 'fra-1': moved('https://www.example.com/') }, []],
    ['a relative redirect', { 'fra-1': moved('/login') }, []],
    ['a redirect to what is no URL', { 'fra-1': moved('https://[') }, []],
    [
      'different redirects',
      { 'fra-1': moved('/de'), 'par-1': moved('/en') },
      ['http_redirects_differ info: fra-1 par-1'],
    ],
    ['a location of an answer that is no redirect', { 'fra-1': http(200, { location: 'https://other.example/' }) }, []],
    ['redirects in a circle', { 'fra-1': bad('redirect_loop', {}) }, ['http_redirect_failed warning: fra-1']],
    [
      'an address that is dead, and another that answers',
      { 'fra-1': http(200, { deadAddresses: [dead] }), 'ber-1': http(200) },
      ['address_dead warning: fra-1'],
    ],
    [
      'an address that is dead for one probe and takes connections of others',
      { 'fra-1': afterFirst, ...each('ber-1 par-1', atFirst) },
      ['address_dead info: fra-1'],
    ],
    [
      'an address that is dead for as many probes as it takes connections of',
      { ...each('fra-1 muc-1', afterFirst), ...each('ber-1 par-1', atFirst) },
      ['address_dead warning: fra-1 muc-1'],
    ],
    [
      'addresses that are all dead',
      { 'fra-1': bad('connection_refused', { deadAddresses: [dead, dead], timings: { dns: 1, total: 3 } }) },
      [],
    ],
    [
      'an answer that departs from HTTP',
      { 'fra-1': http(200, { deviations: [deviation] }), 'ber-1': http(200) },
      ['http_deviates warning: fra-1'],
    ],
    [
      'a redirect that departs from HTTP',
      {
        'fra-1': http(200, { redirects: [{ ...hop, deviations: [deviation] }] }),
        'ber-1': http(200, { deviations: [] }),
      },
      ['http_deviates warning: fra-1'],
    ],
    [
      'a slow handshake for one',
      { 'fra-1': http(200, { timings: { ...timings, tls: 400 } }), 'ber-1': http(200) },
      ['tls_slow info: fra-1'],
    ],
    [
      'a slow handshake for many',
      each('fra-1 ber-1', http(200, { timings: { ...timings, tls: 400 } })),
      ['tls_slow warning: ber-1 fra-1'],
    ],
    [
      'a handshake that is slow as the network is',
      { 'fra-1': http(200, { timings: { ...timings, connect: 120, tls: 400 } }) },
      [],
    ],
    [
      'a slow server',
      each('fra-1 ber-1', http(200, { timings: { ...timings, firstByte: 1_100 } })),
      ['http_server_slow warning: ber-1 fra-1'],
    ],
    [
      'a slow resolver',
      { 'fra-1': http(200, { timings: { ...timings, dns: 1_500 } }), 'ber-1': http(200) },
      ['name_resolution_slow info: fra-1'],
    ],
  ])('%s', (_reason, results, expected) => {
    expect(own(summaryOf('http', results))).toEqual(expected);
  });

  it.each([
    ['expired', each('fra-1 ber-1', refused('tls_expired')), ['certificate_expired critical: ber-1 fra-1']],
    ['not valid yet', { 'fra-1': refused('tls_not_yet_valid') }, ['certificate_not_yet_valid critical: fra-1']],
    [
      'for another host',
      { 'fra-1': refused('tls_hostname_mismatch') },
      ['certificate_hostname_mismatch critical: fra-1'],
    ],
    ['revoked', { 'fra-1': refused('tls_revoked') }, ['certificate_revoked critical: fra-1']],
    ['not trusted', { 'fra-1': refused('tls_self_signed') }, ['certificate_untrusted critical: fra-1']],
    ['not trusted, and the caller lets it pass', { 'fra-1': selfSigned }, ['certificate_untrusted critical: fra-1']],
    [
      'not seen, for the handshake failed',
      { 'fra-1': bad('tls_handshake_failed', {}, { phase: 'tls' }) },
      ['tls_failed critical: fra-1'],
    ],
    [
      'good for 14 days',
      { 'fra-1': http(200, { tls: tls('1', { daysLeft: 14 }) }) },
      ['certificate_expires_soon warning: fra-1'],
    ],
    [
      'not trusted, and out of date besides',
      {
        'fra-1': http(200, {
          tls: tls('1', { authorized: false, authorizationError: 'tls_self_signed', daysLeft: -3 }),
        }),
      },
      ['certificate_untrusted critical: fra-1'],
    ],
    ['good for 15 days', { 'fra-1': http(200, { tls: tls('1', { daysLeft: 15 }) }) }, []],
    [
      'good for less than a day',
      { 'fra-1': http(200, { tls: tls('1', { daysLeft: 0 }) }) },
      ['certificate_expires_soon warning: fra-1'],
    ],
    [
      'refused by some',
      { 'fra-1': refused('tls_hostname_mismatch'), ...each('ber-1 par-1', leaf('02')) },
      ['certificate_hostname_mismatch critical: fra-1', 'certificate_fails_on_some warning: fra-1'],
    ],
    [
      'one of several of one issuer',
      { 'fra-1': leaf('01'), 'ber-1': leaf('02') },
      ['certificate_differs info: ber-1 fra-1'],
    ],
    [
      'one of several that an authority signs by two intermediates',
      {
        'fra-1': { ...leaf('01', 'O=Authority, CN=R10'), sslIssuer: 'Authority' },
        'ber-1': { ...leaf('02', 'O=Authority, CN=R11'), sslIssuer: 'Authority' },
      },
      ['certificate_differs info: ber-1 fra-1'],
    ],
    [
      'of another issuer for one',
      { 'fra-1': leaf('01'), 'ber-1': leaf('02', 'O=Other') },
      ['certificate_differs warning: ber-1 fra-1'],
    ],
  ])('with a certificate that is %s', (_reason, results, expected) => {
    expect(own(summaryOf('http', results))).toEqual(expected);
  });

  it('does not call certificates usual if one of them is refused', () => {
    const isOther = { authorized: false, authorizationError: 'tls_hostname_mismatch' } as const;
    const summary = summaryOf('http', {
      'fra-1': leaf('01'),
      'ber-1': bad('tls_hostname_mismatch', { url: 'https://example.com/', tls: tls('02', isOther) }, { phase: 'tls' }),
    });

    expect(textOf(summary, 'certificate_differs')).toBe(
      'Probes were shown 2 different certificates of one issuer (O=Example CA).',
    );
    expect(textOf(summaryOf('http', { 'fra-1': leaf('01'), 'ber-1': leaf('02') }), 'certificate_differs')).toBe(
      'Probes were shown 2 different certificates of one issuer (O=Example CA), as servers of one name often have.',
    );
  });

  it('does not lay certificates to one issuer that only some chains prove', () => {
    const forged = { authorized: false, authorizationError: 'tls_unknown_issuer' } as const;
    const summary = summaryOf('http', {
      'fra-1': leaf('01'),
      'ber-1': bad('tls_unknown_issuer', { url: 'https://example.com/', tls: tls('02', forged) }, { phase: 'tls' }),
    });

    expect(summary.findings).toContainEqual({
      code: 'certificate_differs',
      severity: 'warning',
      text: 'Probes were shown 2 different certificates that name one issuer (O=Example CA). It is proved for fra-1, and not for ber-1.',
      probes: ['ber-1', 'fra-1'],
    });
  });

  it.each<[string, Partial<NonNullable<SparseResultOf<'http'>['tls']>>, RegExp]>([
    ['the same certificates', {}, /with the same certificates: the probes trust different authorities/],
    ['one certificate less', { sentCertificates: 1 }, /perhaps a server that was left out of a change/],
    ['another certificate', { chain: tls('02').chain }, /perhaps a server that was left out of a change/],
    [
      'the same, with a revoking OCSP response',
      { authorizationError: 'tls_revoked' },
      /, with the same certificates: an OCSP response that not every probe was sent revokes one\.$/,
    ],
    ['the same, for another reason', { authorizationError: 'tls_expired' }, /, with the same certificates\.$/],
  ])('lays a refusal by some to the right cause after %s', (_reason, fields, expected) => {
    const unknown = { authorized: false, authorizationError: 'tls_unknown_issuer' } as const;
    const refusedTls = { ...tls('01', { ...unknown, sentCertificates: 2 }), ...fields };
    const refusal = bad(
      refusedTls.authorizationError!,
      { url: 'https://example.com/', tls: refusedTls },
      { phase: 'tls' },
    );
    const summary = summaryOf('http', {
      'fra-1': refusal,
      'ber-1': http(200, { tls: tls('01', { sentCertificates: 2 }) }),
    });

    expect(textOf(summary, 'certificate_fails_on_some')).toMatch(expected);
  });

  it('names no host of a certificate that its alternative names do not have', () => {
    const summary = summaryOf('http', { 'fra-1': refused('tls_hostname_mismatch') });

    expect(textOf(summary, 'certificate_hostname_mismatch')).toBe(
      'The certificate is refused: it is not for this host (fra-1). It names example.com, issued by Example CA.',
    );
  });

  it.each([
    ['of an app', 'market://details?id=x', 'a redirect leads to no http(s) URL'],
    ['that is no URL', 'http://exa mple/', 'a redirect leads to no http(s) URL'],
    ['with credentials', 'https://a:b@example.com/', 'a redirect leads to where no probe may go'],
  ])('says why a redirect to a URL %s is not followed', (_kind, location, reason) => {
    const redirecting = { url: 'https://example.com/', statusCode: 302, location };
    const summary = summaryOf('http', { 'fra-1': bad('redirect_refused', redirecting, { phase: 'response' }) });

    expect(textOf(summary, 'http_redirect_failed')).toBe(
      `The redirects were not followed to an answer for fra-1: ${reason}.`,
    );
  });

  it('says that a network, and not the target, answers with status 511', () => {
    const summary = summaryOf('http', { 'fra-1': http(511), ...each('ber-1 par-1', http(200)) });

    expect(textOf(summary, 'http_server_error')).toBe(
      'The server answers with a server error: status 511 (fra-1). Status 511 is meant for networks that ask their clients to sign in: that of fra-1 may have answered in the target’s place.',
    );
  });

  it('says which host a redirect led to', () => {
    const behind = { url: 'https://b.example/', redirects: [redirectOf('http://example.com/')] };
    const at = (result: Parameters<typeof summaryOf<'http'>>[1][string]) => summaryOf('http', { 'fra-1': result });
    const expired = { ...refused('tls_expired'), ...behind };
    const slow = { timings: { connect: 20, firstByte: 2_000, total: 2_020 } };

    expect(textOf(at(expired), 'certificate_expired')).toContain(
      'The certificate at https://b.example, to which it redirects, is refused: it has expired (fra-1).',
    );
    expect(textOf(at(http(503, behind)), 'http_server_error')).toBe(
      'The server answers with a server error: status 503 at https://b.example, to which it redirects (fra-1).',
    );
    expect(textOf(at(http(999)), 'http_server_error')).toBe(
      'The server answers with a server error: status 999 (fra-1). HTTP has no status above 599; clients treat such a one as a server error.',
    );
    expect(textOf(at(http(200, { ...behind, tls: tls('1', { daysLeft: 3 }) })), 'certificate_expires_soon')).toBe(
      'The certificate that fra-1 saw at https://b.example, to which it redirects, expires in 3 days.',
    );
    expect(textOf(at(http(200, { ...behind, deadAddresses: [dead] })), 'address_dead')).toMatch(
      /^Of the addresses of b\.example /,
    );
    expect(textOf(at(http(200, { ...behind, ...slow })), 'http_server_slow')).toBe(
      'The answer took long to begin: fra-1 2 s at b.example. The server was slow, or packets were lost on the way.',
    );
    const first = { ...behind, redirects: [redirectOf('http://example.com/', slow)] };
    expect(textOf(at(http(200, first)), 'http_server_slow')).toBe(
      'The answer took long to begin: fra-1 2 s at example.com. The server was slow, or packets were lost on the way.',
    );
  });

  it('says whose certificate it is and how many days are left', () => {
    const expired = summaryOf('http', {
      'fra-1': { ...refused('tls_expired'), sslValidUntil: '2026-01-01T00:00:00.000Z' },
    });
    const soon = summaryOf('http', { 'fra-1': http(200, { tls: tls('1', { daysLeft: 1 }) }) });

    expect(textOf(expired, 'certificate_expired')).toBe(
      'The certificate is refused: it has expired (fra-1). It names example.com, issued by Example CA, valid until 2026-01-01.',
    );
    expect(textOf(soon, 'certificate_expires_soon')).toBe('The certificate that fra-1 saw expires in one day.');
    const life = { sslValidFrom: '2026-04-27T00:00:00.000Z', sslValidUntil: '2026-05-07T00:00:00.000Z' };
    const early = { ...http(200, { ...life, tls: tls('1', { daysLeft: 5 }) }), finishedAt: '2026-05-01T00:00:01.000Z' };
    const of10 = summaryOf('http', { 'fra-1': early, 'ber-1': http(200, { tls: tls('2', { daysLeft: 1 }) }) });
    expect(of10.verdict).toBe('up');
    expect(
      of10.findings.flatMap(({ code, severity, text }) =>
        code === 'certificate_expires_soon' ? [`${severity}: ${text}`] : [],
      ),
    ).toEqual([
      'warning: The certificate that ber-1 saw expires in one day.',
      'info: The certificate that fra-1 saw expires in 5 days, of a life of 10 days.',
    ]);
    const lifeOf = (hours: number) => ({
      sslValidFrom: '2026-01-01T00:00:00.000Z',
      sslValidUntil: new Date(Date.parse('2026-01-01T00:00:00.000Z') + hours * 3_600_000).toISOString(),
    });
    const [short, longer] = [10, 24].map((hours) => http(200, { ...lifeOf(hours), tls: tls(`${hours}`) }));
    expect(textOf(summaryOf('http', { 'fra-1': short!, 'ber-1': longer! }), 'certificate_expires_soon')).toMatch(
      /, of a life of at most one day\.$/,
    );
    const issuerEnds = { name: 'Intermediate 1', validUntil: '2026-01-04T12:00:00.000Z', daysLeft: 3 };
    const above = summaryOf('http', each('fra-1 ber-1', http(200, { tls: tls('1', { issuerEnds }) })));
    expect(textOf(above, 'certificate_expires_soon')).toBe(
      '“Intermediate 1”, above the certificate that 2 probes (ber-1 and fra-1) saw, expires in 3 days, and the server sends no other one.',
    );
  });

  it('says every fault of a certificate, each under its own finding, by what the probe says of it', () => {
    const faults = [
      { code: 'tls_self_signed' as const, certificate: 0, reason: 'The certificate is self-signed and not trusted.' },
      { code: 'tls_expired' as const, certificate: 0, reason: 'The certificate was valid until 2026-01-01.' },
      {
        code: 'tls_weak_key' as const,
        certificate: 1,
        reason: '“CA” above the certificate has a key that is too weak.',
      },
    ];
    const result = refused('tls_self_signed');
    const summary = summaryOf('http', { 'fra-1': { ...result, tls: { ...result.tls!, faults } } });

    expect(own(summary)).toEqual(['certificate_expired critical: fra-1', 'certificate_untrusted critical: fra-1']);
    expect(textOf(summary, 'certificate_untrusted')).toContain(
      'it is self-signed and not trusted and “CA” above the certificate has a key that is too weak (fra-1)',
    );
    expect(textOf(summary, 'certificate_expired')).toContain('it was valid until 2026-01-01 (fra-1)');
  });

  it('names Chromium for what it overlooks: Firefox shows the head of an answer with another case of HTTP as text', () => {
    const lower = { code: 'status_name_case' as const, clause: 'RFC 9112 section 2.3', text: 'x' };
    const summary = summaryOf('http', { 'fra-1': http(200, { deviations: [lower] }) });

    expect(textOf(summary, 'http_deviates')).toContain('which browsers such as Chromium overlook and strict proxies');
  });

  it('says that browsers refuse Location headers that differ, and does not say it of the rest', () => {
    const twice = { code: 'location_differs' as const, clause: 'RFC 9110 section 5.3', text: 'x' };
    const bare = { code: 'bare_lf' as const, clause: 'RFC 9112 section 2.2', text: 'x' };
    const summary = summaryOf('http', { 'fra-1': http(301, { deviations: [twice, bare] }) });

    expect(textOf(summary, 'http_browser_refused')).toContain(
      'several Location headers that differ: browsers refuse it',
    );
    expect(textOf(summary, 'http_deviates')).toContain('strict proxies may refuse: bare LF (RFC 9112 section 2.2).');
    expect(summary).toMatchObject({
      verdict: 'degraded',
      headline: expect.stringContaining('but browsers refuse the answer'),
    });
  });

  it('has the days of all certificates that expire soon', () => {
    const expiring = (print: string, daysLeft: number) => http(200, { tls: tls(print, { daysLeft }) });
    const of = (...results: readonly ReturnType<typeof http>[]) =>
      textOf(
        summaryOf('http', Object.fromEntries(results.map((result, index) => [`fra-${index + 1}`, result]))),
        'certificate_expires_soon',
      );

    expect(of(expiring('1', 3), expiring('2', 9), expiring('3', 60))).toBe(
      'The certificates that 2 probes (fra-1 and fra-2) saw expire in 3 to 9 days.',
    );
    expect(of(expiring('1', 3), expiring('1', 3))).toBe(
      'The certificate that 2 probes (fra-1 and fra-2) saw expires in 3 days.',
    );
    expect(of(expiring('1', 0), expiring('1', 1))).toMatch(/ expires in less than 2 days\.$/);
  });

  it('does not lay the redirect of another server to the target', () => {
    const redirects = [redirectOf('https://example.com/', { location: 'https://b.example/' })];
    const limited = { url: 'https://b.example/', statusCode: 301, location: 'http://c.example/', redirects };
    const summary = summaryOf('http', { 'fra-1': bad('redirect_limit', limited) });

    expect(textOf(summary, 'http_redirects_elsewhere')).toBe('Redirects lead fra-1 to another host: c.example.');
    expect(textOf(summary, 'http_redirects_unencrypted')).toMatch(
      /^Redirects lead fra-1 from https to http:\/\/c\.example,/,
    );
  });

  it('takes no early hint for the begin of the answer', () => {
    const timings = { dns: 5, connect: 20, tls: 25, firstByte: 3, download: 6_000, total: 6_053 };
    const summary = summaryOf('http', each('fra-1 ber-1', http(200, { timings, rt: 6_053 })));

    expect([summary.verdict, ...lines(summary)]).toEqual(['degraded', 'http_server_slow warning: ber-1 fra-1']);
    expect(textOf(summary, 'http_server_slow')).toBe(
      'The answer took long to begin: ber-1 6 s (its first byte, as of an early hint, after 3 ms) and fra-1 6 s ' +
        '(its first byte, as of an early hint, after 3 ms). The server was slow, or packets were lost on the way.',
    );
  });

  it('does not say of an address that takes connections of other probes that it takes none', () => {
    const summary = summaryOf('http', {
      ...each('fra-1 muc-1', afterFirst),
      ...each('ber-1 par-1', atFirst),
    });

    expect(summary.headline).toContain('an address of its name takes no connections from 2 probes (fra-1 and muc-1)');
    expect(textOf(summary, 'address_dead')).toBe(
      'Of the addresses of the name 203.0.113.1 (the connection was refused) took no connection from 2 probes (fra-1 and muc-1), ' +
        'and did from 2 probes (ber-1 and par-1): the fault may be on the way. Another one took connections.',
    );
  });

  it.each([
    ['of that port', 'https://example.com/', /from fra-1, and did from 2 probes \(ber-1 and nyc-1\)/],
    ['of another port', 'http://example.com/', /from fra-1, and another one did\./],
  ])(
    'counts a connection for a request that was redirected as one with the address, if it is %s',
    (_what, url, text) => {
      const redirects = [redirectOf(url, { resolvedIp: '192.0.2.66', location: 'https://www.example.com/' })];
      const led = http(200, { url: 'https://www.example.com/', resolvedIp: '198.51.100.9', redirects });
      const afterDead = http(200, { deadAddresses: [{ address: '192.0.2.66', error: 'timed_out', time: 4_000 }] });

      expect(textOf(summaryOf('http', { 'fra-1': afterDead, ...each('ber-1 nyc-1', led) }), 'address_dead')).toMatch(
        text,
      );
    },
  );

  it('names no invalid message where the resolver sent records of other names', () => {
    const foreign = bad('dns_bad_response', {}, { phase: 'resolve', source: 'resolver' });

    expect(summaryOf('http', { 'fra-1': foreign }).headline).toBe(
      'No probe could measure https://example.com/: the resolver sent no valid answer to the question.',
    );
  });

  it('says how many addresses of the name were asked, where not all were', () => {
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'];
    const deadAddresses = addresses.slice(0, 4).map((address) => ({ ...dead, address }));
    const some = summaryOf('http', each('fra-1 ber-1', bad('connection_refused', { addresses, deadAddresses })));
    const all = bad('connection_refused', { addresses: addresses.slice(0, 4), deadAddresses });
    const listed = Array.from({ length: 32 }, (_, index) => `192.0.2.${index + 1}`);
    const cut = bad('connection_refused', { url: 'https://example.com/', addresses: listed, deadAddresses });

    const told = 'the connection was refused, with 4 of the 5 addresses of the name asked';
    expect(some.headline).toContain(told);
    expect(textOf(some, 'down_everywhere')).toContain(told);
    expect(summaryOf('http', each('fra-1 ber-1', all)).headline).not.toContain('asked');
    expect(summaryOf('http', each('fra-1 ber-1', cut)).headline).toContain('with 4 of the 32 or more addresses');
  });

  it('says that a handshake failed for want of a certificate of the client', () => {
    const failed = bad('tls_handshake_failed', {}, { phase: 'tls' });
    const message = 'The server requires a certificate of the client.';
    const summary = summaryOf('http', { 'fra-1': { ...failed, error: { ...failed.error!, message } } });

    expect(textOf(summary, 'tls_failed')).toBe(
      'No TLS connection could be made: the server requires a certificate of the client (fra-1).',
    );
  });

  it.each([
    ['over which it answered', http(200)],
    ['that led them on', http(200, { url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] })],
    ['whose certificate they refused', refused('tls_expired')],
  ])('does not deny the TLS connections of other probes, %s', (_what, other) => {
    const failed = bad('tls_handshake_failed', { url: 'https://example.com/' }, { phase: 'tls' });
    const summary = summaryOf('http', { 'fra-1': failed, 'ber-1': other });

    expect(lines(summary)).toContain('tls_failed warning: fra-1');
    expect(textOf(summary, 'tls_failed')).toMatch(/^No TLS connection could be made from one probe: /);
    expect(lines(summaryOf('http', each('fra-1 ber-1', failed)))).toContain('tls_failed critical: ber-1 fra-1');
  });

  it.each([
    ['has expired', { validFrom: '2025-09-01T00:00:00.000Z', validUntil: '2025-12-31T22:59:59.000Z' }, 'unknown'],
    ['is not valid yet', { validFrom: '2026-01-01T01:00:02.000Z', validUntil: '2026-03-01T00:00:00.000Z' }, 'unknown'],
    ['expires meanwhile', { validFrom: '2025-09-01T00:00:00.000Z', validUntil: '2026-01-01T00:00:00.500Z' }, 'up'],
  ])('knows the clock of a probe as wrong that accepts a certificate that %s', (_what, dates, verdict) => {
    const accepted = tls('01');
    const chain = accepted.chain.map((certificate) => ({ ...certificate, ...dates }));
    const behind = http(200, { tls: { ...accepted, chain } });
    const others = summaryOf('http', { 'fra-1': behind, ...each('ber-1 par-1', refused('tls_expired')) });

    expect(summaryOf('http', { 'fra-1': behind }).verdict).toBe(verdict);
    expect(others.verdict).toBe(verdict === 'up' ? 'partial' : 'down');
    expect(lines(others).some((line) => line.startsWith('certificate_fails_on_some'))).toBe(verdict === 'up');
  });

  it.each([
    ['asks to accept any certificate', { insecureSSL: true }, 'degraded'],
    ['asks for trusted ones', {}, 'unknown'],
  ])('counts a success in spite of the wrong clock of the probe if the request %s', (_what, request, verdict) => {
    const outOfDate = { ...tls('01'), chain: dated('2025-09-01T00:00:00.000Z', '2025-12-31T21:00:00.000Z') };
    const summary = summaryOf('http', { 'fra-1': http(200, { tls: outOfDate }) }, { request });

    expect(summary.verdict).toBe(verdict);
    expect(lines(summary)).toContain('certificate_expired warning: fra-1');
  });

  it.each([
    ['a status', 503, undefined, 'down'],
    ['a status', 404, undefined, 'degraded'],
    ['silence after the handshake', 200, 'timed_out', 'down'],
  ] as const)('counts %s (%d) of a probe with a wrong clock', (_what, status, code, verdict) => {
    const outOfDate = { ...tls('01'), chain: dated('2025-09-01T00:00:00.000Z', '2025-12-31T21:00:00.000Z') };
    const measured =
      code === undefined ? http(status, { tls: outOfDate }) : bad(code, { tls: outOfDate }, { phase: 'request' });
    const summary = summaryOf('http', { 'fra-1': measured });

    expect(summary.verdict).toBe(verdict);
    expect(lines(summary)).toContain('certificate_expired warning: fra-1');
  });

  it.each([
    ['certificate_expired', dated('2025-09-01T00:00:00.000Z', '2025-12-31T21:00:00.000Z'), 'ended at 2025-12-31T21'],
    [
      'certificate_not_yet_valid',
      dated('2026-01-01T02:00:00.000Z', '2026-03-01T00:00:00.000Z'),
      'begins at 2026-01-01T02',
    ],
  ] as const)('says %s by the clock of the service, which may be wrong', (code, chain, said) => {
    const summary = summaryOf('http', each('ber-1 fra-1', http(200, { tls: { ...tls('01'), chain } })));

    expect(summary.verdict).toBe('unknown');
    expect(lines(summary)).toEqual([`${code} warning: ber-1 fra-1`, 'probes_faulty warning: ber-1 fra-1']);
    expect(textOf(summary, code)).toContain(
      `By the clock of the service the certificate that 2 probes (ber-1 and fra-1) accepted ${said}:00:00.000Z. No probe`,
    );
    expect(textOf(summary, code)).toMatch(/or the clock of the service is\.$/);
  });

  it('does not say that TLS failed, or a certificate was refused, where the client allowed any', () => {
    const allowed = http(200, { tls: tls('99', { authorized: false, authorizationError: 'tls_unknown_issuer' }) });
    const summary = summaryOf('http', { 'fra-1': allowed, 'ber-1': http(200) });

    expect(textOf(summary, 'certificate_untrusted')).toBe(
      'The certificate would be refused: the issuer of the certificate is not trusted (fra-1).',
    );
    expect(textOf(summary, 'certificate_fails_on_some')).toMatch(
      /^The certificate would be refused for fra-1, and is accepted for ber-1: /,
    );
  });

  it('does not deny a handshake that came to its end, in the finding or in the headline', () => {
    const failed = bad('tls_handshake_failed', { tls: tls('1') }, { phase: 'request' });
    const message = 'The server requires a certificate of the client.';
    const summary = summaryOf('http', each('fra-1 ber-1', { ...failed, error: { ...failed.error!, message } }));

    expect(textOf(summary, 'tls_failed')).toBe(
      'TLS failed after the handshake: the server requires a certificate of the client (2 probes).',
    );
    expect(summary.headline).toContain(': TLS failed after the handshake.');
  });

  const url = 'https://example.com/';
  const rst = { frame: 'RST_STREAM' as const, code: 11, name: 'ENHANCE_YOUR_CALM', debug: null };
  it.each<[string, FailureCode, SparseResultOf<'http'>, string]>([
    ['a stream', 'http2_ended', { http2Error: rst }, 'the server ended the HTTP/2 stream with ENHANCE_YOUR_CALM.'],
    [
      'a stream in the body',
      'http2_ended',
      { http2Error: rst, statusCode: 200 },
      'the server ended the HTTP/2 stream with ENHANCE_YOUR_CALM before the end of the answer.',
    ],
    [
      'the connection',
      'http2_ended',
      { http2Error: { ...rst, frame: 'GOAWAY' } },
      'the server ended the HTTP/2 connection with ENHANCE_YOUR_CALM.',
    ],
    ['a stream, and later the connection', 'connection_reset', { http2Error: rst }, 'the connection was reset.'],
  ])('that HTTP/2 ended by %s is reported in headline and finding', (_reason, code, fields, expected) => {
    const summary = summaryOf('http', each('fra-1 ber-1', bad(code, fields, { phase: 'request' })));

    expect(summary.headline).toContain(expected);
    expect(textOf(summary, 'down_everywhere')).toContain(expected);
  });

  it.each<[string, FailureCode, SparseResultOf<'http'>, 'request' | 'response', string]>([
    [
      'after the head',
      'connection_closed',
      { url, statusCode: 200, bodyBytes: 3 },
      'response',
      'closed before the end',
    ],
    ['within the head', 'connection_closed', { url }, 'response', 'was closed before the end of the answer'],
    ['in silence', 'connection_closed', { url }, 'request', 'was closed without an answer'],
    ['by a reset', 'connection_reset', { url, statusCode: 200 }, 'response', 'was reset before the end of the answer'],
    ['by nothing more', 'timed_out', { url, statusCode: 200 }, 'response', 'answer did not come to its end in time'],
  ])('whose answer ends %s, is reported in headline and finding', (_reason, code, fields, phase, expected) => {
    const summary = summaryOf('http', each('fra-1 ber-1', bad(code, fields, { phase })));

    expect(summary.headline).toContain(expected);
    expect(textOf(summary, 'down_everywhere')).toContain(expected);
  });

  const staple: NonNullable<ReturnType<typeof tls>['ocsp']> = {
    status: 'good' as const,
    thisUpdate: null,
    nextUpdate: null,
    current: true,
    revokedAt: null,
    revocationReason: null,
    signature: 'issuer' as const,
  };
  it.each<[string, Parameters<typeof tls>[1], readonly string[]]>([
    ['over TLS 1.0', { protocol: 'TLSv1' }, ['tls_outdated warning: fra-1']],
    ['over TLS 1.1', { protocol: 'TLSv1.1' }, ['tls_outdated warning: fra-1']],
    ['over TLS 1.2', { protocol: 'TLSv1.2' }, []],
    ['by DH of 1,024 bits', { keyExchange: { group: 'DH', bits: 1024 } }, ['tls_key_exchange_weak warning: fra-1']],
    ['by DH of 2,048 bits', { keyExchange: { group: 'DH', bits: 2048 } }, []],
    ['by X25519', { keyExchange: { group: 'X25519', bits: 253 } }, []],
    ['by RSA', { keyExchange: null }, []],
    [
      'to a server that asks for a certificate',
      { clientCertificateRequested: true },
      ['tls_client_certificate info: fra-1'],
    ],
    [
      'with no staple where one is demanded',
      { mustStaple: true, ocsp: null },
      ['certificate_staple_bad warning: fra-1'],
    ],
    ['with no staple where none is', { mustStaple: false, ocsp: null }, []],
    ['with a good staple', { mustStaple: true, ocsp: staple }, []],
    ['with an old staple', { ocsp: { ...staple, current: false } }, ['certificate_staple_bad warning: fra-1']],
    [
      'with a staple by a stranger',
      { ocsp: { ...staple, signature: 'invalid' } },
      ['certificate_staple_bad warning: fra-1'],
    ],
    ['with a staple of another', { ocsp: { ...staple, status: 'foreign' } }, ['certificate_staple_bad warning: fra-1']],
    ['with a staple that could not be checked', { ocsp: { ...staple, signature: 'unchecked' } }, []],
    [
      'with a responder that has no answer',
      { ocsp: { ...staple, status: 'error', current: false } },
      ['certificate_staple_bad warning: fra-1'],
    ],
  ])('finds what browsers hold against a connection %s', (_reason, fields, expected) => {
    expect(own(summaryOf('http', { 'fra-1': http(200, { tls: tls('01', fields) }) }))).toEqual(expected);
  });

  it('groups statuses, redirects and certificates', () => {
    const { groups } = summaryOf('http', { ...each('fra-1 ber-1', moved('/a')), 'par-1': leaf('02') });

    expect(groups).toEqual([
      { subject: 'addresses', values: ['203.0.113.1'], probes: ['ber-1', 'fra-1', 'par-1'] },
      { subject: 'status', values: ['301'], probes: ['ber-1', 'fra-1'] },
      { subject: 'status', values: ['200'], probes: ['par-1'] },
      { subject: 'redirect', values: ['https://example.com/a'], probes: ['ber-1', 'fra-1'] },
      { subject: 'certificate', values: ['01'], probes: ['ber-1', 'fra-1'] },
      { subject: 'certificate', values: ['02'], probes: ['par-1'] },
    ]);
  });
});

describe('a tcp check', () => {
  it.each([
    ['open', each('fra-1 ber-1', tcp('open')), []],
    ['closed', each('fra-1 ber-1', tcp('closed')), ['port_closed warning: ber-1 fra-1']],
    ['filtered', each('fra-1 ber-1', tcp('filtered')), ['port_filtered warning: ber-1 fra-1']],
    [
      'filtered for some',
      { 'fra-1': tcp('filtered'), 'ber-1': tcp('open') },
      ['port_filtered warning: fra-1', 'port_states_differ warning: ber-1 fra-1'],
    ],
    ['open after a packet sent again', { 'fra-1': tcp('open', [1_021, 20, 20]) }, ['handshakes_lost info: fra-1']],
    [
      'open after a packet sent again and a lost handshake',
      { 'fra-1': tcp('open', [20, 1_021, null]) },
      ['handshakes_lost warning: fra-1'],
    ],
    ['open after a lost handshake', { 'fra-1': tcp('open', [20, null, 20]) }, ['handshakes_lost info: fra-1']],
    ['open after two lost handshakes', { 'fra-1': tcp('open', [20, null, null]) }, ['handshakes_lost warning: fra-1']],
  ])('of a port that is %s', (_reason, results, expected) => {
    expect(own(summaryOf('tcp', results))).toEqual(expected);
  });
});

describe('failed handshakes of an open port', () => {
  const failed = (...failures: readonly ReturnType<typeof bad>[]): ReturnType<typeof tcp> => {
    const attempts = [{ rt: 20, error: null }, ...failures.map(({ error }) => ({ rt: null, error }))];
    return { ...tcp('open'), attempts };
  };
  const silent = bad('timed_out', {}, { source: 'network' });
  const reset = bad('connection_refused', {});
  const unsent = bad('host_unreachable', {}, { source: 'probe' });

  it.each([
    ['silent', [silent], 'fra-1 1 of 2 (unanswered)'],
    ['refused', [reset, reset], 'fra-1 2 of 3 (refused)'],
    ['of two kinds', [reset, silent, silent], 'fra-1 3 of 4 (1 refused and 2 unanswered)'],
    ['reported by ICMP', [bad('host_unreachable', {}, { source: 'network' })], 'fra-1 1 of 2 (host unreachable)'],
    [
      'of a rare kind, in addition to others',
      [silent, bad('connection_reset', {})],
      'fra-1 2 of 3 (1 otherwise failed and 1 unanswered)',
    ],
    ['not sent by the probe', [silent, unsent], 'fra-1 1 of 3 (unanswered)'],
  ])('are named with their kind: %s', (_kind, failures, values) => {
    expect(textOf(summaryOf('tcp', { 'fra-1': failed(...failures) }), 'handshakes_lost')).toBe(
      `Some handshakes failed where others worked: ${values}.`,
    );
  });

  it('are no fault of the target if the probe sent nothing', () => {
    expect(own(summaryOf('tcp', { 'fra-1': failed(unsent, unsent) }))).toEqual([]);
  });
});

describe('a udp check', () => {
  it('counts no silence at an address because another address of the name is open', () => {
    const at = (address: string) => ({ ...udp('open|filtered'), resolvedIp: address });
    const open = { ...udp('open'), resolvedIp: '203.0.113.1' };

    expect(summaryOf('udp', { 'fra-1': open, 'ber-1': at('203.0.113.2') })).toMatchObject({
      verdict: 'up',
      counts: { up: 1, down: 0, silent: 1 },
    });
    expect(summaryOf('udp', { 'fra-1': open, 'ber-1': at('203.0.113.1') }).counts).toMatchObject({ up: 1, down: 1 });
  });

  const icmp = (type: number, code: number, from: string | null) => ({ icmp: { type, code, from } });

  it.each([
    ['open', { 'fra-1': udp('open') }, []],
    ['silent', { 'fra-1': udp('open|filtered') }, ['udp_no_answer info: fra-1']],
    [
      'closed, says the target',
      { 'fra-1': udp('closed', icmp(3, 3, '203.0.113.1')) },
      ['port_closed warning: fra-1', 'icmp_refused info: fra-1'],
    ],
    ['unreachable', { 'fra-1': udp('unreachable', icmp(3, 13, '192.0.2.9')) }, ['icmp_refused info: fra-1']],
    ['silent for some', { 'fra-1': udp('open|filtered'), 'ber-1': udp('open') }, ['udp_no_answer info: fra-1']],
  ])('of a port that is %s', (_reason, results, expected) => {
    expect(own(summaryOf('udp', results))).toEqual(expected);
  });

  it.each([
    [
      'the target',
      icmp(3, 3, '203.0.113.1'),
      '203.0.113.1',
      'fra-1 got “port unreachable” (ICMP 3/3) from the target itself (203.0.113.1).',
    ],
    [
      'a router',
      icmp(3, 13, '192.0.2.9'),
      '203.0.113.1',
      'fra-1 got “administratively prohibited” (ICMP 3/13) from 192.0.2.9, which is not the measured address.',
    ],
    [
      'an IPv6 router',
      icmp(1, 0, '2001:db8::9'),
      '2001:db8::1',
      'fra-1 got “no route” (ICMP 1/0) from 2001:db8::9, which is not the measured address.',
    ],
    [
      'an unknown sender',
      icmp(99, 7, null),
      '203.0.113.1',
      'fra-1 got ICMP type 99 code 7 from a sender that the probe could not see.',
    ],
  ])('names %s as the sender', (_reason, fields, resolvedIp, expected) => {
    const summary = summaryOf('udp', { 'fra-1': { ...udp('unreachable', fields), resolvedIp } });

    expect(textOf(summary, 'icmp_refused')).toBe(expected);
  });
});

describe('a dns check', () => {
  const mx = { recordType: 'MX' };
  const txt = { recordType: 'TXT' };
  const dnssec = (verdict: 'validated' | 'not_validated' | 'validation_failed') => ({ dnssec: { ad: false, verdict } });

  it.each([
    [
      'the same in another order',
      { 'fra-1': dns(['A 192.0.2.1', 'A 192.0.2.2']), 'ber-1': dns(['A 192.0.2.2', 'A 192.0.2.1']) },
      [],
    ],
    [
      'addresses that differ',
      { 'fra-1': dns(['A 192.0.2.1']), 'ber-1': dns(['A 192.0.2.2']) },
      ['dns_answers_differ info: ber-1 fra-1'],
    ],
    [
      'mail servers that differ',
      { 'fra-1': dns(['MX 10 a.example.'], mx), 'ber-1': dns(['MX 10 b.example.'], mx) },
      ['dns_answers_differ warning: ber-1 fra-1'],
    ],
    ['names in other letters', { 'fra-1': dns(['MX 10 A.example.'], mx), 'ber-1': dns(['MX 10 a.example.'], mx) }, []],
    [
      'the same behind an alias',
      { 'fra-1': dns(['CNAME a.example.', 'A 192.0.2.1']), 'ber-1': dns(['A 192.0.2.1']) },
      [],
    ],
    [
      'an answer that was cut',
      { 'fra-1': dns(['A 192.0.2.1']), 'ber-1': dns(['A 192.0.2.2'], { truncated: true }) },
      [],
    ],
    ['signatures', { 'fra-1': dns(['A 192.0.2.1', 'RRSIG A 1']), 'ber-1': dns(['A 192.0.2.1', 'RRSIG A 2']) }, []],
    [
      'texts that differ far behind',
      { 'fra-1': dns([`TXT "${'x'.repeat(600)}a"`], txt), 'ber-1': dns([`TXT "${'x'.repeat(600)}b"`], txt) },
      ['dns_answers_differ warning: ber-1 fra-1'],
    ],
    [
      'a name that some do not know',
      { 'fra-1': dns('NXDOMAIN'), 'ber-1': dns(['A 192.0.2.1']) },
      ['dns_nxdomain_some warning: fra-1'],
    ],
    ['a name that no server knows', each('fra-1 ber-1', dns('NXDOMAIN')), []],
    [
      'an alias alone for some',
      { 'fra-1': dns(['CNAME a.example.']), 'ber-1': dns(['CNAME a.example.', 'A 192.0.2.1']) },
      ['dns_empty_some warning: fra-1'],
    ],
    ['no records for some', { 'fra-1': dns([]), 'ber-1': dns(['A 192.0.2.1']) }, ['dns_empty_some warning: fra-1']],
    [
      'SERVFAIL for half',
      { ...each('fra-1 ber-1', dns('SERVFAIL')), ...each('lon-1 par-1', dns(['A 192.0.2.1'])) },
      ['dns_rcode_differs warning: ber-1 fra-1 lon-1 par-1'],
    ],
    ['SERVFAIL for one', { 'fra-1': dns('SERVFAIL'), 'ber-1': dns(['A 192.0.2.1']) }, ['dns_unanswered info: fra-1']],
    ['two errors', { 'fra-1': dns('SERVFAIL'), 'ber-1': dns('YXDOMAIN') }, ['dns_rcode_differs warning: ber-1 fra-1']],
    ['a resolver that refuses', { 'fra-1': dns('SERVFAIL'), 'ber-1': dns('REFUSED') }, ['dns_unanswered info: ber-1']],
    [
      'signatures that each server makes',
      {
        'fra-1': dns(['RRSIG A 1'], { recordType: 'RRSIG' }),
        'ber-1': dns(['RRSIG A 2'], { recordType: 'RRSIG' }),
      },
      ['dns_answers_differ info: ber-1 fra-1'],
    ],
    [
      'an address of another name next to the same one',
      {
        'fra-1': dns(['A 192.0.2.1']),
        'ber-1': dns(['A 192.0.2.1'], {
          answers: [
            { name: 'evil.example.', type: 'A', ttl: 60, data: '192.0.2.66' },
            { name: 'example.com.', type: 'A', ttl: 60, data: '192.0.2.1' },
          ],
        }),
      },
      [],
    ],
    [
      'a referral next to an answer',
      { 'fra-1': dns([], { answerKind: 'referral', referral: 'com.' }), 'ber-1': dns(['A 192.0.2.1']) },
      ['dns_unanswered info: fra-1'],
    ],
    [
      'a referral and a bare answer',
      { 'fra-1': dns([], { answerKind: 'referral', referral: 'com.' }), 'ber-1': dns([], { answerKind: 'lame' }) },
      ['dns_unanswered warning: ber-1', 'dns_unanswered warning: fra-1'],
    ],
    ['SERVFAIL for all', each('fra-1 ber-1', dns('SERVFAIL')), []],
    [
      'a resolver that could not be reached',
      { 'fra-1': bad('dns_resolver_unreachable', {}), 'ber-1': dns(['A 192.0.2.1']) },
      ['dns_unanswered info: fra-1'],
    ],
    [
      'DNSSEC that fails for all',
      each('fra-1 ber-1', dns('SERVFAIL', dnssec('validation_failed'))),
      ['dnssec_failed critical: ber-1 fra-1'],
    ],
    [
      'DNSSEC that fails for some',
      { 'fra-1': dns('SERVFAIL', dnssec('validation_failed')), 'ber-1': dns(['A 192.0.2.1']) },
      ['dns_rcode_differs warning: ber-1 fra-1', 'dnssec_failed warning: fra-1'],
    ],
    [
      'resolvers of which some validate',
      { 'fra-1': dns(['A 192.0.2.1'], dnssec('validated')), 'ber-1': dns(['A 192.0.2.1']) },
      ['dnssec_differs info: ber-1'],
    ],
  ])('with %s', (_reason, results, expected) => {
    expect(own(summaryOf('dns', results))).toEqual(expected);
  });

  it.each([
    ['a resolver that does not validate answers', dns(['A 192.0.2.1']), true],
    ['the others validate', dns(['A 192.0.2.1'], dnssec('validated')), false],
    ['the others have no answer either', dns('SERVFAIL'), false],
  ])('says of DNSSEC that others still answer where %s', (_reason, other, isSaid) => {
    const summary = summaryOf('dns', { 'fra-1': dns('SERVFAIL', dnssec('validation_failed')), 'ber-1': other });

    expect(textOf(summary, 'dnssec_failed').includes('still answer')).toBe(isSaid);
  });

  it('does not blame the zone alone where other resolvers validate it', () => {
    const failed = dns('SERVFAIL', dnssec('validation_failed'));
    const alone = summaryOf('dns', { 'fra-1': failed });
    const withOther = summaryOf('dns', { 'fra-1': failed, 'ber-1': dns(['A 192.0.2.1'], dnssec('validated')) });

    expect(textOf(alone, 'dnssec_failed')).toContain('of the zone are wrong');
    expect(textOf(withOther, 'dnssec_failed')).toBe(
      'The answer fails the validation of DNSSEC for the resolver of fra-1. The resolver of ber-1 says that it validated it: ' +
        'either it has an older answer in the cache, and signatures, keys or times of the zone are wrong now, or the resolver ' +
        'that fails, or a name server that it asked, may be wrong.',
    );
  });

  it('tells a name that does not exist from an alias of one', () => {
    const good = dns(['A 192.0.2.1']);
    const alias = dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: 'gone.example.' });

    const [own, other] = [dns('NXDOMAIN'), alias].map((missing) =>
      textOf(summaryOf('dns', { 'fra-1': missing, 'ber-1': good }), 'dns_nxdomain_some'),
    );

    expect(own).toBe('The name does not exist (NXDOMAIN) for fra-1, and exists for ber-1.');
    expect(other).toBe('The name that its aliases lead to does not exist (NXDOMAIN) for fra-1, and exists for ber-1.');
  });

  it.each([
    [
      'the resolvers of the probes',
      undefined,
      /: resolvers may still have those before a change, name servers may be /,
    ],
    ['the name servers', [], /for each client: name servers may be out of step, or one of them may be wrong\.$/],
  ] as const)('says why records differ from %s', (_whom, trace, expected) => {
    const mx = (host: string) =>
      dns([`MX 10 ${host}`], { recordType: 'MX', ...(trace === undefined ? {} : { trace: [...trace] }) });
    const summary = summaryOf('dns', { 'fra-1': mx('a.example.'), 'ber-1': mx('b.example.') });

    expect(textOf(summary, 'dns_answers_differ')).toMatch(expected);
  });

  it.each([
    ['fra-1', /those that it was given, or its clock\.$/],
    ['fra-1 ber-1', /those that it was given\.$/],
  ])('says what makes DNSSEC fail for %s', (probes, expected) => {
    const failing = dns('SERVFAIL', { dnssec: { ad: false, verdict: 'validation_failed' } });

    expect(textOf(summaryOf('dns', each(probes, failing)), 'dnssec_failed')).toMatch(expected);
  });

  it('groups the probes by the set of answers', () => {
    const results = {
      ...each('fra-1 ber-1', dns(['A 192.0.2.2', 'A 192.0.2.1'])),
      'nyc-1': dns([]),
      'lax-1': dns('NXDOMAIN'),
    };

    expect(summaryOf('dns', results).groups).toEqual([
      { subject: 'answers', values: ['192.0.2.1', '192.0.2.2'], probes: ['ber-1', 'fra-1'] },
      { subject: 'answers', values: ['NXDOMAIN'], probes: ['lax-1'] },
      { subject: 'answers', values: [], probes: ['nyc-1'] },
    ]);
  });
});

describe('addresses in answers of dns', () => {
  const aaaa = { recordType: 'AAAA' };

  it('are no matter of place if a probe got no public one', () => {
    const { verdict, headline, findings } = summaryOf('dns', {
      'fra-1': dns(['A 0.0.0.0']),
      ...each('ber-1 par-1', dns(['A 192.0.2.1'])),
    });

    expect({ verdict, headline }).toEqual({
      verdict: 'degraded',
      headline: 'example.com resolves (A) from all 3 probes, but fra-1 gets no public address.',
    });
    expect(findings.map(({ text }) => text)).toEqual([
      'fra-1 got 0.0.0.0, and no public address, where 2 probes (ber-1 and par-1) got some: a filter, or a network with private answers for its clients, may have made the answer.',
    ]);
  });

  it('may be private for all', () => {
    const { verdict, findings } = summaryOf('dns', { 'fra-1': dns(['A 10.0.0.1']), 'ber-1': dns(['A 10.0.0.2']) });

    expect(verdict).toBe('up');
    expect(findings.map(({ code, severity }) => `${code} ${severity}`)).toEqual([
      'dns_not_public info',
      'dns_answers_differ info',
    ]);
  });

  it('may be made by a resolver of the IPv4 addresses', () => {
    const { verdict, findings } = summaryOf('dns', {
      'fra-1': dns(['AAAA 64:ff9b::c000:201'], aaaa),
      ...each('ber-1 par-1', dns([], aaaa)),
    });

    expect(verdict).toBe('up');
    expect(findings.map(({ text }) => text)).toEqual([
      'The resolver of fra-1 makes IPv6 addresses of the IPv4 addresses of a name that has no others (DNS64): 64:ff9b::c000:201.',
    ]);
  });
});

describe('an info check', () => {
  const named = (hostname: string, hostnameVerified = true) => info({ hostname, hostnameVerified });

  it.each([
    ['the same for all', each('fra-1 ber-1', named('a.example')), []],
    [
      'a name that does not lead back',
      each('fra-1 ber-1', named('a.example', false)),
      ['reverse_name_unverified info: ber-1 fra-1'],
    ],
    [
      'two names of one address',
      { 'fra-1': named('a.example'), 'ber-1': named('b.example') },
      ['reverse_name_differs info: ber-1 fra-1'],
    ],
    [
      'different addresses',
      { 'fra-1': info(), 'ber-1': info({ addresses: ['203.0.113.1', '203.0.113.2'] }) },
      ['addresses_differ info: ber-1 fra-1'],
    ],
  ])('with %s', (_reason, results, expected) => {
    expect(own(summaryOf('info', results))).toEqual(expected);
  });
});

/** The certificates of `tls` with these dates. */
function dated(validFrom: string, validUntil: string) {
  return tls('01').chain.map((certificate) => ({ ...certificate, validFrom, validUntil }));
}
