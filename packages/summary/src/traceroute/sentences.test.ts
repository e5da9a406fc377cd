import { describe, expect, it } from '@jest/globals';
import type { FindingCode } from '@vantage/contract';

import { cutBehind } from '../../test/finding-cases/flows.ts';
import { summaryOf, textOf, type Result } from '../../test/cases.ts';
import { resultUntilEnd } from '../../test/finding-cases/outages.ts';
import { trace } from '../../test/results.ts';

type Traced = Result<'traceroute'>;

const access = (n: number): string => `198.51.100.${n} 1 1 1`;
const silence = '* * *';
const target = '203.0.113.1 9 9 9';
const of = (code: FindingCode, results: Readonly<Record<string, Traced>>): string =>
  textOf(summaryOf('traceroute', results), code);

/** The same path from a probe, and from one that is a hop farther away. */
const fromTwo = (...path: readonly string[]): Readonly<Record<string, Traced>> => ({
  'fra-1': trace([access(1), ...path]),
  'ber-1': trace([access(2), access(3), ...path]),
});

function refusedAt(traced: Traced, hop: number, mark: string, from: string): Traced {
  const icmp = { type: 3, code: mark === '!X' ? 13 : 1, mark, from, count: 3 };
  return { ...traced, hops: traced.hops!.map((one) => (one.hop === hop ? { ...one, icmp } : one)) };
}

describe('a router that two paths have at different hops is named once', () => {
  const router = '192.0.2.1 5 5 5';
  const where = 'hops 2 and 3, 192.0.2.1 in AS64511 (Transit Net)';

  it.each([
    ['path_stops', [router, silence], `Nothing answers beyond ${where}, on the way from 2 probes`],
    ['path_refused', [`${router} !H`], `to packets of 2 probes (ber-1 and fra-1): ${where}.`],
    [
      'rate_limited_hop',
      ['192.0.2.1 5 * *', '192.0.2.2 6 6 6', '192.0.2.3 6 6 6', target],
      `Answers of one router to 2 probes (ber-1 and fra-1) do not all arrive, and more do from the hops beyond: ${where}.`,
    ],
  ] as const)('by %s', (code, path, text) => {
    expect(of(code, fromTwo(...path))).toContain(text);
  });

  it('by the pauses of two probes', () => {
    const [all, pause] = ['.'.repeat(30), `${'.'.repeat(10)}*******${'.'.repeat(13)}`];
    const result = resultUntilEnd(all, pause, pause, 'new');

    expect(of('target_pauses', { 'fra-1': result, 'ber-1': result })).toContain(
      'none of rounds 11 to 17 of 30 of ber-1 and rounds 11 to 17 of 30 of fra-1; the last hop that still answered is hop 1, ',
    );
  });
});

describe('routers that refuse packets of one probe', () => {
  const reached = trace([access(1), '192.0.2.1 5 5 5', '192.0.2.2 6 6 6', '203.0.113.254 8 8 8', target]);
  const textsOf = (result: Traced): readonly string[] =>
    summaryOf('traceroute', { 'fra-1': result }).findings.map(({ text }) => text);

  it('each have said what they said', () => {
    expect(textsOf(refusedAt(refusedAt(reached, 3, '!X', '192.0.2.1'), 4, '!H', '192.0.2.2'))).toEqual([
      'A router said that a filter forbids the traffic (!X) to some packets of fra-1: hop 2, 192.0.2.1 in AS64511 (Transit Net). Others passed it.',
      'A router said that the host is unreachable (!H) to some packets of fra-1: hop 3, 192.0.2.2 in AS64511 (Transit Net). Others passed it.',
    ]);
  });

  it('are several if they said the same', () => {
    expect(textsOf(refusedAt(refusedAt(reached, 3, '!X', '192.0.2.1'), 4, '!X', '192.0.2.2'))).toEqual([
      'Routers said that a filter forbids the traffic (!X) to some packets of fra-1: hop 2, 192.0.2.1 in AS64511 (Transit Net) and hop 3, 192.0.2.2 in AS64511 (Transit Net). Others passed them.',
    ]);
  });

  it('are not the target, which is in the same network', () => {
    const both = refusedAt(refusedAt(reached, 5, '!X', '203.0.113.1'), 4, '!X', '203.0.113.254');

    expect(textsOf(both).map((text) => text.split(' said')[0])).toEqual(['A router', 'The target itself']);
  });

  it('are of several kinds if they say at the address of the target that a host is unreachable', () => {
    const both = refusedAt(refusedAt(reached, 5, '!H', '203.0.113.1'), 4, '!H', '203.0.113.254');

    expect(textsOf(both)).toEqual([
      expect.stringMatching(/^A router said /),
      'The address of the target said that the host is unreachable (!H) to some packets of fra-1: hop 5, 203.0.113.1 in AS64512 (Target Net). Others passed it. Possible senders: a load balancer or NAT in front of a server that is away, or a firewall that refuses.',
    ]);
  });
});

describe('a path on which nothing answers', () => {
  it('may end anywhere', () => {
    expect(of('path_stops', { 'fra-1': trace([silence, silence]) })).toBe(
      'No hop answered on the way from fra-1, nor did the target: the packets are dropped near the probe, or farther away, behind routers that do not answer.',
    );
  });

  it('may end before its first hop that was asked', () => {
    const { hops = [], ...others } = trace([silence, silence], { firstHop: 7, stopReason: 'gap_limit' });
    const result = { ...others, hops: hops.map((one) => ({ ...one, hop: one.hop + 6 })) };

    expect(of('path_stops', { 'fra-1': result })).toBe(
      'No hop from hop 7 on answered on the way from fra-1, nor did the target: the hops before were not asked, and where the packets end is not known.',
    );
  });

  it.each<[Partial<Traced>, string]>([
    [
      { reached: true, result: 'success', stopReason: 'gap_limit' },
      'no hop of its path from fra-1 is known: no further hop',
    ],
    [{ echo: { sent: 3, received: 3 }, protocol: 'udp' }, 'No hop of the path is known.'],
    [{ fullTtl: { rtts: [null], icmp: null, answersOthers: true } }, 'Nothing came back to fra-1. The target answered'],
  ])('has no last hop: %j', (fields, text) => {
    expect(of('path_cut', { 'fra-1': { ...trace([silence, silence]), ...fields } })).toContain(text);
  });
});

describe('the last link before the target', () => {
  const forty = (ip: string, lost: number): string =>
    `${ip} ${Array.from({ length: 40 }, (_, index) => ((index * 7) % 40 < lost ? '*' : '5')).join(' ')}`;
  const textWith = (...hops: readonly string[]): string =>
    of('loss_at_target', { 'fra-1': trace([forty('198.51.100.1', 0), ...hops, forty('203.0.113.1', 10)]) });

  it.each([
    ['if no hop before it loses any', [forty('192.0.2.1', 0)], 'they are lost on its last link'],
    [
      'not if hops before it lose some too',
      [forty('192.0.2.1', 4), forty('192.0.2.2', 2), forty('192.0.2.3', 0)],
      'they are lost on the way',
    ],
    ['not if several routers lead to the target', [forty('192.0.2.1/192.0.2.2', 0)], 'they are lost on the way'],
  ])('is where packets are lost: %s', (_which, hops, text) => {
    expect(textWith(...hops)).toContain(text);
  });
});

describe('a path that is known in part', () => {
  it('is known up to the last hop that answered', () => {
    const fields = { reached: true, result: 'success', stopReason: 'gap_limit' } as const;
    const result = { ...trace([access(1), '192.0.2.1 5 5 5', silence, silence, silence]), ...fields, error: null };

    expect(of('path_cut', { 'fra-1': result })).toContain(
      'The target answers, and its path from fra-1 is known up to hop 2 only: no further hop answered.',
    );
  });
});

describe('a trace whose SYNs are reset', () => {
  const reset = (echo: { sent: number; received: number }): ReturnType<typeof summaryOf> =>
    summaryOf('traceroute', {
      'fra-1': trace([access(1), '203.0.113.1 9 9 9'], { protocol: 'tcp', port: 80, state: 'closed', echo }),
    });

  it('reaches the target, or a firewall in its name if nothing else answers', () => {
    const summary = reset({ sent: 6, received: 0 });

    expect(summary.verdict).toBe('up');
    expect(summary.headline).toMatch(/^example\.com, or a firewall in its name, is reached from the one probe asked/);
    expect(summary.findings.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      'port_closed: Resets (RST) answer the SYNs of fra-1 to port 80: the port is closed, or a firewall refuses connections in the name of the target. No echo request of fra-1 was answered: a firewall, and not the target, may be the end of the path.',
    ]);
  });

  it('reaches a target that answers echo requests too', () => {
    expect(reset({ sent: 6, received: 6 }).headline).toMatch(/^example\.com is reached from/);
  });
});

describe('a router that answers for every hop from its own on', () => {
  it('is no circle of routers that disagree: the TTL of the packets may be set before it', () => {
    const of = (fields: object): ReturnType<typeof summaryOf> =>
      summaryOf('traceroute', {
        'fra-1': {
          ...trace([access(1), ...Array<string>(5).fill('192.0.2.1 5 5 5')], {
            loop: { start: 2, length: 1 },
            protocol: 'udp',
            ...fields,
          }),
          stopReason: 'loop' as const,
        },
      });

    expect(of({})).toMatchObject({
      verdict: 'down',
      findings: expect.arrayContaining([
        expect.objectContaining({
          code: 'routing_loop',
          text: 'One router, 192.0.2.1 in AS64511 (Transit Net), answers the packets of fra-1 from hop 2 on as if the TTL of all ended there: they come back to it again and again, or something before it sets their TTL.',
        }),
      ]),
    });
    expect(of({ echo: { sent: 3, received: 3 } }).headline).toBe(
      'example.com answers echo requests from the one probe asked, but one router answers for every hop from 2 on.',
    );
  });
});

describe('the probes that reach a target', () => {
  const circle = {
    ...trace([access(1), '192.0.2.1 5 5 5', '192.0.2.2 6 6 6', '192.0.2.1 7 7 7', '192.0.2.2 8 8 8'], {
      loop: { start: 2, length: 2 },
      protocol: 'udp',
      echo: { sent: 3, received: 3 },
    }),
    stopReason: 'loop' as const,
  };
  // The target leaves most packets unanswered, as if it rate-limited its answers.
  const shy = trace([access(1), '192.0.2.1 5 5 5', '203.0.113.1 9 * * * *'], { protocol: 'udp' });
  const silent = trace([access(1), '192.0.2.1 5 5 5', '* * *'], {
    stopReason: 'gap_limit',
    protocol: 'udp',
    echo: { sent: 3, received: 3 },
  });

  it('are not those whose packets go round in a circle, even if it answers their echo requests', () => {
    const summary = summaryOf('traceroute', { 'fra-1': shy, 'ber-1': circle });

    expect([summary.verdict, summary.headline]).toEqual([
      'degraded',
      'example.com is reached from 1 of 2 probes, but packets go round in a circle for ber-1.',
    ]);
    expect(summaryOf('traceroute', { 'ber-1': circle }).headline).toBe(
      'example.com answers echo requests from the one probe asked, but packets go round in a circle.',
    );
  });

  it('have a clause in the headline with those of them for which alone it holds', () => {
    const path = [access(1), '203.0.113.1 5 5 5'];
    const hole = trace(path, { mtuBlackHole: 1_401 });

    expect(summaryOf('traceroute', { 'fra-1': hole, 'ber-1': trace(path) }).headline).toBe(
      'example.com is reached from both probes, but large pings get no answer for fra-1.',
    );
    expect(summaryOf('traceroute', { 'fra-1': hole, 'ber-1': hole }).headline).toBe(
      'example.com is reached from both probes, but large pings get no answer.',
    );
  });

  it('are counted in the headline if others have such a finding', () => {
    const order = '9 * 9 9 9 * 9 9';
    const results = {
      'ber-1': cutBehind('192.0.2.1', order, 6),
      'fra-1': cutBehind('198.51.100.9', order, 6),
      'par-1': trace([access(1), '203.0.113.1 5 5 5']),
    };

    expect(summaryOf('traceroute', results).headline).toBe(
      'example.com is reached from all 3 probes, but some flows end behind hop 2, 192.0.2.1 in AS64511 (Transit Net) for ber-1, similar for one more probe.',
    );
  });

  it('are not those of which it answers echo requests alone', () => {
    const summary = summaryOf('traceroute', { 'fra-1': shy, 'ber-1': silent });

    expect(summary.verdict).toBe('up');
    expect(summary.headline).toMatch(
      /^example\.com is reached from 1 of 2 probes \(.*\); of one probe it answers echo requests alone\.$/,
    );
  });
});
