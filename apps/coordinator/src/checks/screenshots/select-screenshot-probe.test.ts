import type { Heartbeat } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { selectScreenshotProbe } from './select-screenshot-probe.ts';

type Claims = Partial<Pick<Heartbeat, 'load' | 'draining'>> & {
  readonly screenshot?: boolean;
  readonly alive?: boolean;
};

function probe(id: string, { alive = true, screenshot = true, ...more }: Claims = {}): KnownProbe {
  return {
    record: {
      id,
      name: id,
      datacenter: 'x',
      countryCode: 'DE',
      isp: 'x',
      asNumber: 'AS64496',
      city: null,
      latitude: null,
      longitude: null,
      tags: [],
    },
    alive,
    heartbeat: {
      v: 1,
      version: '1',
      instance: id,
      degraded: [],
      draining: false,
      load: { running: 0, capacity: 10 },
      capabilities: { types: ['http'], ipv4: true, ipv6: true, screenshot },
      ...more,
    },
    lastSeenMs: 0,
  };
}

const among = ['a', 'b', 'c'];
const none = (): number => 0;

describe('the election of the probe that takes the screenshot', () => {
  it.each<[string, readonly KnownProbe[], string | undefined]>([
    ['one that can', [probe('a', { screenshot: false }), probe('b')], 'b'],
    ['none where none can', [probe('a', { screenshot: false })], undefined],
    ['none that is offline', [probe('a', { alive: false }), probe('b')], 'b'],
    ['none that is shutting down', [probe('a', { draining: true }), probe('b')], 'b'],
    ['none of another check', [probe('z'), probe('c')], 'c'],
    [
      'the least loaded',
      [probe('a', { load: { running: 5, capacity: 10 } }), probe('b', { load: { running: 6, capacity: 20 } })],
      'b',
    ],
  ])('takes %s', (_reason, known, expected) => {
    expect(selectScreenshotProbe(known, { among, underWay: none })).toBe(expected);
  });

  it('takes none that was asked before', () => {
    expect(selectScreenshotProbe([probe('a'), probe('b')], { among, except: ['a'], underWay: none })).toBe('b');
    expect(selectScreenshotProbe([probe('a')], { among, except: ['a'], underWay: none })).toBeUndefined();
  });

  it('takes the one with the fewest to take before the one with the least load', () => {
    const known = [probe('a'), probe('b', { load: { running: 9, capacity: 10 } })];

    expect(selectScreenshotProbe(known, { among, underWay: (id) => (id === 'a' ? 2 : 1) })).toBe('b');
  });

  it('takes one as often as another where they are equal', () => {
    const elected = new Set(
      Array.from({ length: 100 }, () => selectScreenshotProbe([probe('a'), probe('b')], { among, underWay: none })),
    );

    expect(elected).toEqual(new Set(['a', 'b']));
  });
});
