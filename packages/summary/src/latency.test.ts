import { describe, expect, it } from '@jest/globals';
import type { LookUpPlace } from '@vantage/contract';

import { each, lines, summaryOf, textOf } from '../test/cases.ts';
import { placeAt } from '../test/finding-cases/place-at.ts';
import { http, ping, tcp, trace } from '../test/results.ts';
import { distanceKm, leastRttMs } from './geography.ts';

const frankfurt: LookUpPlace = () => placeAt(50.11, 8.68);

describe('distance', () => {
  it.each([
    ['Frankfurt to New York', { latitude: 50.11, longitude: 8.68 }, { latitude: 40.71, longitude: -74.01 }, 6_203],
    ['across the date line', { latitude: 0, longitude: 179 }, { latitude: 0, longitude: -179 }, 222],
    ['to the other side', { latitude: 90, longitude: 0 }, { latitude: -90, longitude: 0 }, 20_015],
    ['to itself', { latitude: 1, longitude: 1 }, { latitude: 1, longitude: 1 }, 0],
  ])('is that of the great circle: %s', (_reason, a, b, km) => {
    expect(Math.round(distanceKm(a, b))).toBe(km);
    expect(leastRttMs(a, b)).toBeCloseTo(Math.max(0, km - 100) / 99.931, 1);
  });
});

describe('a latency far from the others', () => {
  const near = { 'fra-1': ping([8]), 'ber-1': ping([12]), 'par-1': ping([14]), 'lon-1': ping([18]) };

  it.each([
    ['without a place of the target', ping([280]), undefined, ['latency_outlier info: muc-1']],
    ['from near the target', ping([280]), frankfurt, ['latency_outlier warning: muc-1']],
    ['not much more', ping([50]), frankfurt, []],
  ])('is found: %s', (_reason, slow, placeOf, expected) => {
    expect(lines(summaryOf('ping', { ...near, 'muc-1': slow }, { placeOf }))).toEqual(expected);
  });

  it.each([
    ['the distance explains it', ping([280]), []],
    ['the distance does not explain it', ping([900]), ['latency_outlier warning: syd-1']],
  ])('from far away: %s', (_reason, slow, expected) => {
    expect(lines(summaryOf('ping', { ...near, 'syd-1': slow }, { placeOf: frankfurt }))).toEqual(expected);
  });

  it.each([
    ['the distance to the fastest probe explains it', ping([280]), []],
    ['nor does that', ping([900]), ['latency_outlier info: syd-1']],
  ])('from far away, where the place of the target is not known: %s', (_reason, slow, expected) => {
    expect(lines(summaryOf('ping', { ...near, 'syd-1': slow }))).toEqual(expected);
  });

  it('of an http check may be that of a SYN that was sent again', () => {
    const connecting = (connect: number) => http(200, { timings: { connect, total: connect } });
    const others = each('fra-1 ber-1 par-1 lon-1', connecting(12));
    const of = (connect: number) =>
      summaryOf('http', { ...others, 'muc-1': connecting(connect) }, { placeOf: frankfurt });

    expect(lines(of(999))).toEqual(['latency_outlier warning: muc-1']);
    expect(lines(of(1_012))).toEqual(['latency_outlier info: muc-1']);
    expect(textOf(of(1_012), 'latency_outlier')).toMatch(/A SYN that was lost and sent again looks the same\.$/);
  });

  it('is measured from the fastest probe where the target is far from all', () => {
    const results = { ...each('fra-1 ber-1 par-1', ping([60])), 'muc-1': ping([175]) };

    expect(lines(summaryOf('ping', results))).toEqual(['latency_outlier info: muc-1']);
  });

  it('uses no place of the target that some probe contradicts', () => {
    const sydney: LookUpPlace = () => placeAt(-33.87, 151.21);

    const summary = summaryOf('ping', { ...near, 'muc-1': ping([280]) }, { placeOf: sydney });

    expect(lines(summary)).toEqual(['latency_outlier info: muc-1']);
  });

  it('is found from four probes on, and says nothing of the target as a whole', () => {
    const three = { 'fra-1': ping([8]), 'ber-1': ping([12]), 'muc-1': ping([280]) };

    expect(lines(summaryOf('ping', three, { placeOf: frankfurt }))).toEqual([]);
    expect(summaryOf('ping', { ...near, 'muc-1': ping([280]) }, { placeOf: frankfurt }).verdict).toBe('up');
  });

  it.each([
    [
      'tcp',
      '300 ms',
      summaryOf('tcp', { ...each('fra-1 ber-1 par-1', tcp('open', [10])), 'muc-1': tcp('open', [300, 310]) }),
    ],
    [
      'http',
      '300 ms',
      summaryOf('http', {
        ...each('fra-1 ber-1 par-1', http(200)),
        'muc-1': http(200, { timings: { connect: 300, total: 900 } }),
      }),
    ],
    [
      'traceroute',
      '310 ms',
      summaryOf('traceroute', {
        ...each('fra-1 ber-1 par-1', trace(['203.0.113.1 10 11'])),
        'muc-1': trace(['203.0.113.1 310 300']),
      }),
    ],
  ])('is looked for in the round trips of %s, and has the time of the row: %s', (_type, time, summary) => {
    expect(lines(summary)).toEqual(['latency_outlier info: muc-1']);
    expect(textOf(summary, 'latency_outlier')).toContain(`muc-1 ${time}`);
  });
});

describe('places that physics contradicts', () => {
  it.each([
    [
      'two that are faster than light',
      { 'fra-1': ping([10]), 'nyc-1': ping([10]) },
      ['place_contradicted info: fra-1 nyc-1'],
    ],
    [
      'two that are a little too fast',
      { 'fra-1': ping([10]), 'nyc-1': ping([50]) },
      ['place_contradicted info: fra-1 nyc-1'],
    ],
    ['two that are just fast enough', { 'fra-1': ping([10]), 'nyc-1': ping([52]) }, []],
    [
      'different addresses',
      { 'fra-1': ping([10]), 'nyc-1': ping([10], { resolvedIp: '203.0.113.2' }) },
      ['addresses_differ info: fra-1 nyc-1'],
    ],
    ['a place that is not known', { 'fra-1': ping([10]), 'gone-1': ping([10]) }, []],
    ['two that are near to each other', { 'fra-1': ping([0.2]), 'fra-2': ping([0.2]) }, []],
  ])('are found by pairs: %s', (_reason, results, expected) => {
    expect(lines(summaryOf('ping', results))).toEqual(expected);
  });

  it('are reported with the pair that lacks most, and the one probe that all pairs have', () => {
    const results = { 'fra-1': ping([10]), 'ber-1': ping([10]), 'nyc-1': ping([10]) };

    const text = textOf(summaryOf('ping', results), 'place_contradicted');

    expect(text).toContain('ber-1 and nyc-1 are 6385 km apart');
    expect(text).toContain('nyc-1 is part of each such pair.');
    expect(text).toContain('anycast');
  });

  it.each([
    ['ping', ping([10]), /\(anycast\), or a device on the way answers in its name\.$/],
    ['tcp', tcp('open', [10]), /\(anycast\), or a proxy on the way takes the connections\.$/],
  ] as const)('may be a proxy of connections: %s', (type, result, end) => {
    const text = textOf(summaryOf(type, each('fra-1 nyc-1', result)), 'place_contradicted');

    expect(text).toMatch(end);
  });
});
