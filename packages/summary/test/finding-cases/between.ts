import type { Check } from '@vantage/contract';

import { summarize } from '../../src/summarize.ts';
import { CHECK_ID, factsOf, broken, pending, type Result } from '../cases.ts';
import { trace } from '../results.ts';
import { withLate } from '../with-late.ts';
import type { FindingCases } from './case.ts';

const [nearFra, nearNyc] = ['100.64.1.5', '100.64.9.5'];

/** Summary of a check between fra-1 and nyc-1 with these two traces. */
export function betweenOf(there: Result<'traceroute'>, back: Result<'traceroute'>): ReturnType<typeof summarize> {
  const isPending = [there, back].some(({ result }) => result === 'pending');
  const check: Check = {
    testId: CHECK_ID,
    type: 'traceroute',
    host: 'fra-1 ↔ nyc-1',
    between: ['fra-1', 'nyc-1'],
    status: isPending ? 'pending' : 'completed',
    createdAt: '2026-01-01T00:00:00.000Z',
    completedAt: null,
    results: { 'fra-1': there, 'nyc-1': back },
  };
  return summarize(check, factsOf(['fra-1', 'nyc-1']));
}

const there = (path: readonly string[], fields: Parameters<typeof trace>[1] = {}) =>
  trace(path, { target: nearNyc, ...fields });
const back = (path: readonly string[], fields: Parameters<typeof trace>[1] = {}) =>
  trace(path, { target: nearFra, ...fields });
const [atNyc, atFra] = [`${nearNyc} 9 9 9`, `${nearFra} 9 9 9`];

/**
 * Four routers, each of which answers with the address that faces the sender: the ends of a link are .1 and .2, or .5
 * and .6.
 */
const symmetric = [
  there(['100.64.1.1 1', '198.51.100.2 2', '192.0.2.2 3', '192.0.2.6 4', atNyc]),
  back(['100.64.9.1 1', '192.0.2.5 2', '192.0.2.1 3', '198.51.100.1 4', atFra]),
] as const;

/** Cases of findings about the directions of a check between two probes. */
export const betweenCases: FindingCases = {
  direction_fails: {
    present: [['one probe gets no answer', betweenOf(symmetric[0], back(['100.64.9.1 1', '* * *', '* * *']))]],
    absent: [
      ['both reach each other', betweenOf(...symmetric)],
      ['neither reaches the other', betweenOf(there(['100.64.1.1 1', '* *']), back(['100.64.9.1 1', '* *']))],
      ['one probe is gone', betweenOf(symmetric[0], broken('probe_offline'))],
      ['one probe has not answered', betweenOf(symmetric[0], pending)],
    ],
  },
  directions_differ: {
    present: [
      [
        'a network is crossed in one direction',
        betweenOf(
          there(['198.51.100.1 1', '192.0.2.2 2', '192.0.2.6 3', '203.0.113.2 4', atNyc]),
          back(['203.0.113.9 1', '203.0.113.1 2', '198.51.100.6 3', '198.51.100.5 4', atFra]),
        ),
      ],
      [
        'routers of which no network is known are elsewhere',
        betweenOf(
          there(['100.64.1.1 1', '100.70.1.2 2', '100.70.2.2 3', '100.70.3.2 4', atNyc]),
          back(['100.64.9.1 1', '100.80.1.2 2', '100.80.2.2 3', '100.80.3.2 4', atFra]),
        ),
      ],
      [
        'one direction is two hops longer',
        betweenOf(
          there(['100.64.1.1 1', '192.0.2.2 2', atNyc]),
          back(['100.64.9.1 1', '192.0.2.1 2', '192.0.2.9 3', '* * *', atFra]),
        ),
      ],
    ],
    absent: [
      ['each router answers with another address to either side', betweenOf(...symmetric)],
      [
        'silent hops may hide the network',
        betweenOf(
          there(['100.64.1.1 1', '192.0.2.2 2', '192.0.2.6 3', '100.65.0.2 4', atNyc]),
          back(['100.64.9.1 1', '100.65.0.1 2', '* * *', '* * *', atFra]),
        ),
      ],
      [
        'one router answers with an address of the next network',
        betweenOf(
          there(['100.64.1.1 1', '198.51.100.2 2', '192.0.2.6 3', atNyc]),
          back(['100.64.9.1 1', '198.51.100.9 2', '198.51.100.1 3', atFra]),
        ),
      ],
      [
        'a NAT adds a hop to one direction',
        betweenOf(
          there(['private 1', '100.64.1.1 1', '198.51.100.2 2', '192.0.2.2 3', atNyc]),
          back(['100.64.9.1 1', '192.0.2.1 2', '198.51.100.1 3', atFra]),
        ),
      ],
      [
        'flows of one direction differ in length, and one is as long as the other direction',
        betweenOf(
          there(['100.64.1.1 1', '192.0.2.2 2', `${nearNyc}/192.0.2.10 9 9`, '192.0.2.14 9', atNyc]),
          back(['100.64.9.1 1', '192.0.2.1 2', atFra]),
        ),
      ],
      [
        'a NAT and a container add two hops to one direction',
        betweenOf(
          there(['private 1', 'private 1', '100.64.1.1 1', '198.51.100.2 2', '192.0.2.2 3', atNyc]),
          back(['100.64.9.1 1', '192.0.2.1 2', '198.51.100.1 3', atFra]),
        ),
      ],
      [
        'neither reaches the other, and both traces end in the network of their own probe',
        betweenOf(
          there(['198.51.100.1 1', '198.51.100.5 2', '198.51.101.9 3 !X']),
          back(['192.0.2.1 1', '192.0.3.5 2', '192.0.4.9 3 !X']),
        ),
      ],
      ['one direction fails', betweenOf(symmetric[0], back(['100.64.9.1 1', '100.80.0.1 2', '100.80.1.1 3', '* * *']))],
      ['one direction is not measured', betweenOf(symmetric[0], broken('probe_offline'))],
      ['one direction runs', betweenOf(symmetric[0], { ...back(['100.64.9.1 1', '100.80.0.1 1']), result: 'pending' })],
    ],
  },
  directions_alike: {
    present: [
      ['each link shows both of its ends', betweenOf(...symmetric)],
      ['the probes are neighbours', betweenOf(there([atNyc]), back([atFra]))],
      [
        'routers answer with one address to both sides',
        betweenOf(
          there(['100.64.1.1 1', '198.51.100.2 2', '192.0.2.2 3', atNyc]),
          back(['100.64.9.1 1', '198.51.100.2 2', '192.0.2.2 3', atFra]),
        ),
      ],
    ],
    absent: [
      [
        'a hop is silent',
        betweenOf(there(['100.64.1.1 1', '* * *', atNyc]), back(['100.64.9.1 1', '192.0.2.1 2', atFra])),
      ],
      [
        'one direction is a hop longer',
        betweenOf(there(['100.64.1.1 1', '192.0.2.2 2', atNyc]), back(['100.64.9.1 1', atFra])),
      ],
      [
        'as long, over other routers',
        betweenOf(
          there(['100.64.1.1 1', '192.0.2.2 2', '192.0.2.6 3', atNyc]),
          back(['100.64.9.1 1', '198.51.100.2 2', '198.51.100.6 3', atFra]),
        ),
      ],
      ['one direction fails', betweenOf(symmetric[0], back(['100.64.9.1 1', '* * *']))],
    ],
  },
  direction_slower: {
    present: [
      [
        'the round trip takes three times as long from one end',
        betweenOf(there(['100.64.1.1 1', `${nearNyc} 20 21 22 20`]), back(['100.64.9.1 1', `${nearFra} 60 61 62 60`])),
      ],
      [
        'one end answers a part of the packets',
        betweenOf(
          there(['100.64.1.1 1', `${nearNyc} 9 9 9 9 9 9 9 9 9 9`]),
          back(['100.64.9.1 1', `${nearFra} 9 * * * * * * * * *`]),
        ),
      ],
    ],
    absent: [
      ['as fast from both ends', betweenOf(...symmetric)],
      [
        'one end answers late',
        betweenOf(
          there(['100.64.1.1 1', `${nearNyc} 9 9 9 9 9 9 9 9 9 9`]),
          withLate(back(['100.64.9.1 1', `${nearFra} 9 * * * * * * * * *`]), 2, 9),
        ),
      ],
      [
        'one lost packet of three',
        betweenOf(there(['100.64.1.1 1', atNyc]), back(['100.64.9.1 1', `${nearFra} 9 * 9`])),
      ],
    ],
  },
};
