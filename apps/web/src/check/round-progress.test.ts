import { describe, expect, it } from '@jest/globals';

import { roundProgressOf } from './round-progress.ts';
import type { CheckData } from './use-check.ts';

const TARGET = '192.0.2.1';
const row = (ips: readonly string[], sent: number, received: number) => ({
  ip: ips[0] ?? null,
  responders: ips.map((ip) => ({ ip })),
  rtts: Array.from({ length: sent }, (_, index) => (index < received ? 5 : null)),
  stats: { sent, received },
});
const traced = (rounds: number, received: number, reached = true, result = 'pending') => ({
  result,
  rounds,
  reached,
  resolvedIp: TARGET,
  hops: [row(['198.51.100.1'], rounds, rounds), row(reached ? [TARGET] : [], rounds, received)],
});

function check(results: object, status = 'pending', type = 'traceroute'): CheckData {
  return { testId: 'a', type, host: 'example.com', status, createdAt: '', completedAt: null, results } as CheckData;
}

describe('rounds under way', () => {
  it('call no target silent that answers late', () => {
    const { hops, ...others } = traced(7, 4);
    const late = { ...others, hops: hops.map((hop, index) => ({ ...hop, ...(index === 1 && { late: 2 }) })) };

    expect(roundProgressOf(check({ a: { ...others, hops } }))!.text).toMatch(/, and none in the last 3 rounds\.$/);
    expect(roundProgressOf(check({ a: late }))!.text).toMatch(/: 4 of 7 packets\.$/);
  });

  it.each([
    [
      'both probes',
      { a: traced(7, 6), b: traced(6, 6) },
      7,
      'example.com has answered 2 of 2 probes so far: 12 of 13 packets.',
    ],
    [
      'one probe',
      { a: traced(7, 6), b: traced(6, 0, false) },
      7,
      'example.com has answered 1 of 2 probes so far: 6 of 7 packets.',
    ],
    [
      'a target that stopped answering',
      { a: traced(7, 4), b: traced(7, 5) },
      7,
      'example.com has answered 2 of 2 probes so far: 9 of 14 packets, and none in the last 2 rounds.',
    ],
    [
      'a hop at which another router answered more',
      { a: { ...traced(7, 7), hops: [row(['198.51.100.1', TARGET], 7, 7)] } },
      7,
      'example.com has answered 1 of 1 probe so far: 7 of 7 packets.',
    ],
    ['no probe', { a: traced(1, 0, false) }, 1, 'example.com has answered none of 1 probe so far.'],
  ])('have a headline that follows them: %s', (_who, results, round, text) => {
    expect(roundProgressOf(check(results))).toEqual({ round, text });
  });

  it.each([
    ['is completed', check({ a: traced(7, 6, true, 'success') }, 'completed')],
    ['has none', check({ a: { result: 'pending', reached: true } })],
    ['is of another type', check({ a: { result: 'pending', rounds: 3 } }, 'pending', 'ping')],
  ])('are none if the check %s', (_why, data) => {
    expect(roundProgressOf(data)).toBeUndefined();
  });
});
