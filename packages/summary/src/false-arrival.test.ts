import { describe, expect, it } from '@jest/globals';
import type { Check, FailureCode } from '@vantage/contract';

import { CHECK_ID, summaryOf, type Result } from '../test/cases.ts';
import { trace } from '../test/results.ts';
import { evidenceByProbe } from './evidence.ts';

type Traced = Result<'traceroute'>;
type Flow = NonNullable<Traced['flows']>[number];

const target = '203.0.113.1';
const targetV6 = '2001:db8::1';
const router = '192.0.2.1';

/** A trace by tcp whose packets to the target's hop got these answers: errors of its address alone, if not told. */
function traced(flow: Pick<Flow, 'reached' | 'stopReason'>, kinds = '!!!', ip = target, code = 1): Traced {
  const mark = code === 0 ? '!N' : '!H';
  const icmp = { type: ip === target ? 3 : 1, code, mark, from: ip, count: kinds.replaceAll('.', '').length };
  const { hops = [], ...common } = trace([`${router} 2 2 2`, `${ip} 5 5 5`], { target: ip, protocol: 'tcp' });
  const replies = [
    { responder: 0, ttl: 60, type: icmp.type, code },
    { responder: 0, ttl: 60 },
  ];
  const last = { ...hops[1]!, icmp, replies, packets: Array.from(kinds, (kind) => (kind === '!' ? 0 : 1)) };
  const replied = { ...last, replies: kinds.includes('.') ? replies : replies.slice(0, 1) };
  const flows = [{ ...flow, hops: [[0, 0, 0], kinds === '!!!' ? [0, 0, 0] : [null, null, 0]] }];
  return { ...common, hops: [hops[0]!, replied], flows, stopReason: flow.stopReason };
}

const older = traced({ reached: true, stopReason: 'completed' });

/** The trace of errors alone by an agent of this release. */
function unreached(
  code: FailureCode = 'host_unreachable',
  ...of: [kinds?: string, ip?: string, code?: number]
): Traced {
  return {
    ...traced({ reached: false, stopReason: 'unreachable' }, ...of),
    result: 'failure',
    reached: false,
    rt: null,
    error: { code, phase: 'response', source: 'target', message: 'The host cannot be reached.' },
  };
}

const newer = unreached();

/** The same trace with a hop before the last one at which packets expired, by the address of the target, as at a NAT. */
function expiredAt({ hops = [], flows = [], ...others }: Traced, ip = target): Traced {
  const [first, last] = [hops[0]!, hops[1]!];
  const replies = [{ responder: 0, ttl: 61, type: ip === target ? 11 : 3, code: 0 }];
  const expired = { ...last, hop: 2, icmp: null, replies };
  return {
    ...others,
    hops: [first, expired, { ...last, hop: 3 }],
    flows: flows.map((flow) => ({ ...flow, hops: [...flow.hops, flow.hops.at(-1)!] })),
  };
}

/** A trace that ends at expired packets of that address. */
function expiredAlone(): Traced {
  const { hops = [], ...others } = expiredAt(older);
  return { ...others, hops: hops.slice(0, 2) };
}

describe('errors of the address of the target that an agent of an earlier release took for arrival', () => {
  it('fail as those of other agents', () => {
    const summary = summaryOf('traceroute', { 'fra-1': older, 'ber-1': newer });

    expect(summary.verdict).toBe('down');
    expect(summary).toEqual(summaryOf('traceroute', { 'fra-1': newer, 'ber-1': newer }));
    expect(JSON.stringify(summary.findings)).not.toContain('Others');
  });

  it.each<[number, FailureCode]>([
    [0, 'network_unreachable'],
    [2, 'host_unreachable'],
    [3, 'host_unreachable'],
  ])('are no arrival over IPv6 either: code %i', (code, failure) => {
    const first = traced({ reached: true, stopReason: 'completed' }, '!!!', targetV6, code);
    const summary = summaryOf('traceroute', { 'fra-1': first });

    expect(summary.verdict).toBe('down');
    expect(summary).toEqual(summaryOf('traceroute', { 'fra-1': unreached(failure, '!!!', targetV6, code) }));
  });

  it.each([
    [target, 1],
    [targetV6, 3],
  ])('fail also after a hop at which packets expire with that address: %s', (ip, code) => {
    const first = expiredAt(traced({ reached: true, stopReason: 'completed' }, '!!!', ip, code), ip);
    const second = expiredAt(unreached('host_unreachable', '!!!', ip, code), ip);
    const summary = summaryOf('traceroute', { 'fra-1': first, 'ber-1': second });

    expect(summary.verdict).toBe('down');
    expect(summary).toEqual(summaryOf('traceroute', { 'fra-1': second, 'ber-1': second }));
  });

  it('are no arrival in a monitor, nor over the other family', () => {
    const both = (second: Traced): Traced => ({ ...newer, otherFamily: { ...second, family: 6 } }) as Traced;
    const check = { testId: CHECK_ID, type: 'traceroute', results: { 'fra-1': older } } as unknown as Check;

    expect([...evidenceByProbe(check).values()]).toEqual(['down']);
    expect(summaryOf('traceroute', { 'fra-1': both(older) })).toEqual(
      summaryOf('traceroute', { 'fra-1': both(newer) }),
    );
  });

  it.each<[string, Traced]>([
    ['a host behind it accepted a connection', traced({ reached: true, stopReason: 'completed' }, '!!.')],
    ['packets with the full TTL were answered', { ...older, fullTtl: { rtts: [5], icmp: null } }],
    ['another address answered as the target', { ...older, answeredFrom: ['203.0.113.9'] }],
    ['its replies are not known', { ...older, hops: older.hops!.map((hop) => ({ ...hop, replies: [] })) }],
    ['none of them is undelivered', expiredAlone()],
    ['they are of a filter', traced({ reached: true, stopReason: 'completed' }, '!!!', target, 13)],
  ])('are not all that came if %s', (_why, result) => {
    expect(summaryOf('traceroute', { 'fra-1': result }).counts.up).toBe(1);
  });
});
