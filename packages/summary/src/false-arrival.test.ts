import { describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

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
  const icmp = { type: ip === target ? 3 : 1, code, mark: '!H', from: ip, count: kinds.replaceAll('.', '').length };
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

/** The same trace by an agent of this release. */
const newer: Traced = {
  ...traced({ reached: false, stopReason: 'unreachable' }),
  result: 'failure',
  reached: false,
  rt: null,
  error: { code: 'host_unreachable', phase: 'response', source: 'target', message: 'The host cannot be reached.' },
};

describe('errors of the address of the target that an agent of an earlier release took for arrival', () => {
  it('fail as those of other agents', () => {
    const summary = summaryOf('traceroute', { 'fra-1': older, 'ber-1': newer });

    expect(summary.verdict).toBe('down');
    expect(summary).toEqual(summaryOf('traceroute', { 'fra-1': newer, 'ber-1': newer }));
    expect(JSON.stringify(summary.findings)).not.toContain('Others');
  });

  it('are no arrival over IPv6 either, by each such code', () => {
    const results = [0, 2, 3].map((code) => traced({ reached: true, stopReason: 'completed' }, '!!!', targetV6, code));

    expect(results.map((one) => summaryOf('traceroute', { 'fra-1': one }).verdict)).toEqual(['down', 'down', 'down']);
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
    ['they are of a filter', traced({ reached: true, stopReason: 'completed' }, '!!!', target, 13)],
  ])('are not all that came if %s', (_why, result) => {
    expect(summaryOf('traceroute', { 'fra-1': result }).counts.up).toBe(1);
  });
});
