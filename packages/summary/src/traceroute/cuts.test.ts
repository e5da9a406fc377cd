import { describe, expect, it } from '@jest/globals';

import { bad, lines, summaryOf, textOf } from '../../test/cases.ts';
import { trace } from '../../test/results.ts';

const access = '198.51.100.1 1 1 1';
const behind = ['192.0.2.3 6 6 6', '192.0.2.4 7 7 7'];
/** A target that rate-limits its answers. */
const target = '203.0.113.1 9 * *';
const silence = '* * *';
const reaching = [access, '192.0.2.1 5 5 5', ...behind, target];

/** Two probes reach the target, and a third one gets answers to its echo requests only. */
function summaryWith(rows: readonly string[], others: readonly string[] = reaching): ReturnType<typeof summaryOf> {
  const cut = { stopReason: 'gap_limit' as const, protocol: 'udp' as const, echo: { sent: 2, received: 2 } };
  const full = { fullTtl: { rtts: [null, null, null, null, null, null], icmp: null } };
  const reached = trace(others, { protocol: 'udp', reached: true });
  return summaryOf('traceroute', { 'fra-1': reached, 'nyc-1': reached, 'ber-1': trace(rows, { ...cut, ...full }) });
}

describe('a trace that ends on its way while the target answers its echo requests', () => {
  it('names the way that is broken, and makes the target degraded though it limits its answers', () => {
    const summary = summaryWith([access, '192.0.2.2 5 5 5', silence, silence, silence]);

    expect(summary.verdict).toBe('degraded');
    expect(lines(summary)).toContain('path_cut warning: ber-1');
    expect(summary.headline).toContain('but the way from ber-1 ends at hop 2, 192.0.2.2');
    expect(textOf(summary, 'path_cut')).toBe(
      'Nothing answers the UDP packets of ber-1 from beyond hop 2, 192.0.2.2 in AS64511 (Transit Net), while the target answers its echo requests. ' +
        'Packets of other probes pass hop 1, 198.51.100.1 in AS64510 (Access Net) too, go on by other routers, get answers of the hops behind, and reach the target: one of several parallel ways is broken, or a filter there drops these packets.',
    );
  });

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'the router in common has a local address, as others in other networks do',
      ['10.0.0.1 1 1 1', '192.0.2.2 5 5 5', silence, silence, silence],
      ['10.0.0.1 1 1 1', '192.0.2.1 5 5 5', ...behind, target],
    ],
    ['one hop alone is silent before the target', [access, '192.0.2.2 5 5 5', '192.0.2.5 6 6 6', silence], reaching],
    ['its last router leads others to the target', [access, '192.0.2.1 5 5 5', silence, silence, silence], reaching],
    [
      'the hops behind answer others seldom too',
      [access, '192.0.2.2 5 5 5', silence, silence, silence],
      [access, '192.0.2.1 5 5 5', '192.0.2.3 6 * *', '192.0.2.4 * * 7', target],
    ],
    [
      'no router of it is on the way of others',
      ['198.51.100.2 1 1 1', '192.0.2.2 5 5 5', silence, silence, silence],
      reaching,
    ],
  ])('proves no broken way if %s', (_reason, rows, others) => {
    const summary = summaryWith(rows, others);

    expect(summary.verdict).toBe('up');
    expect(lines(summary)).toContain('path_cut info: ber-1');
    expect(textOf(summary, 'path_cut')).toContain('or it limits its answers');
  });
});

describe('a trace to which only ordinary echo requests after it were answered', () => {
  const silentTo = (received: number) =>
    summaryOf('traceroute', {
      'fra-1': trace([access, silence, silence], {
        stopReason: 'gap_limit',
        dscp: 46,
        echo: { sent: 5, received: 0 },
        ordinary: { sent: 3, received },
        fullTtl: { rtts: [null, null, null, null, null, null], icmp: null },
      }),
    });

  it('makes the target degraded, and names the DSCP', () => {
    const summary = silentTo(1);

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toContain('but packets with DSCP 46 get no answer');
    expect(textOf(summary, 'path_cut')).toBe(
      'Nothing answers the packets with DSCP 46 of fra-1 from beyond hop 1, and the target answers ordinary echo requests, sent after them: a router, a filter or the target drops such packets, or it limits its answers.',
    );
  });

  it('is down if those were not answered either', () => {
    expect(silentTo(0).verdict).toBe('down');
  });
});

describe('a trace whose packets a filter refuses', () => {
  const refused = (fields: Parameters<typeof trace>[1]): ReturnType<typeof summaryOf> => {
    const { error: _silence, ...path } = trace([access, '192.0.2.1 5', '192.0.2.1 5 !X'], fields);
    return summaryOf('traceroute', {
      'fra-1': bad('administratively_prohibited', path, { source: 'network', phase: 'response' }),
    });
  };

  it.each<[string, Parameters<typeof trace>[1], string, string]>([
    ['udp', { protocol: 'udp', echo: { sent: 1, received: 1 } }, 'UDP packets', 'echo requests'],
    [
      'a DSCP',
      { dscp: 46, echo: { sent: 1, received: 0 }, ordinary: { sent: 1, received: 1 } },
      'ICMP packets with DSCP 46',
      'ordinary echo requests',
    ],
  ])('is no outage of a target that answers other packets: %s', (_what, fields, packets, requests) => {
    const summary = refused(fields);

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toBe(
      `example.com answers echo requests from the one probe asked, but hop 2, 192.0.2.1 in AS64511 (Transit Net) refuses ${packets}.`,
    );
    expect(lines(summary)).toEqual(['path_refused warning: fra-1']);
    expect(textOf(summary, 'path_refused')).toContain(
      ` The target answers ${requests}: it is up, and packets like those of the trace are refused.`,
    );
  });

  it('is up as an address, while the server behind a balancer there may be away', () => {
    const { error: _silence, ...path } = trace([access, '192.0.2.1 5', '203.0.113.1 5 !H'], {
      protocol: 'tcp',
      reached: false,
      stopReason: 'unreachable',
      echo: { sent: 1, received: 1 },
    });
    const failure = bad('host_unreachable', path, { source: 'target', phase: 'response' });

    expect(textOf(summaryOf('traceroute', { 'fra-1': failure }), 'path_refused')).toContain(
      ' echo requests: something there is up, and packets like those of the trace are refused.',
    );
  });

  it('is one without such answers', () => {
    expect(refused({ protocol: 'udp', echo: { sent: 1, received: 0 } }).verdict).toBe('down');
  });
});
