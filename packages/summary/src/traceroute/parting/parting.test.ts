import { describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { CHECK_ID, type Result } from '../../../test/cases.ts';
import { trace } from '../../../test/results.ts';
import { partingSentence } from './parting.ts';

const at = '2026-01-01T00:00:00.000Z';
const silence = ['* * *', '* * *'];
const access = (n: number): string => `198.51.100.${n} 1 1`;
const target = '203.0.113.1 9 9';
const works = trace([access(1), '192.0.2.1 3 3', '192.0.2.2 5 5', target]);

function sentence(results: Readonly<Record<string, Result<'traceroute'>>>, failing = 'ber-1'): string | undefined {
  const check = { testId: CHECK_ID, type: 'traceroute', host: 'example.com', status: 'completed', results } as const;
  return partingSentence({ ...check, createdAt: at, completedAt: at } satisfies Check, failing.split(' '));
}

describe('the sentence about the paths of a monitor that turned bad', () => {
  it('names the last router in common and the network where the paths part', () => {
    const fails = trace([access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', ...silence]);

    expect(sentence({ 'ber-1': fails, 'fra-1': works })).toBe(
      'Paths from the failing ber-1 and from the working fra-1 show hop 2, 192.0.2.1 in AS64511 (Transit Net) as the last router in common: ' +
        'they part in AS64511 (Transit Net), the failing ones go no further than hop 3, 192.0.2.9 in AS64511 (Transit Net), ' +
        'and the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net).',
    );
  });

  it('claims no other way where nothing answers beyond the last router in common', () => {
    const fails = trace([access(2), '192.0.2.1 3 3', '192.0.2.2 5 5', ...silence]);

    expect(sentence({ 'ber-1': fails, 'fra-1': works })).toBe(
      'Paths from the failing ber-1 and from the working fra-1 show hop 3, 192.0.2.2 in AS64511 (Transit Net) as the last router in common: ' +
        'beyond it, between AS64511 (Transit Net) and AS64512 (Target Net), nothing answers the failing ones, ' +
        'and the working ones go on over hop 4, 203.0.113.1 in AS64512 (Target Net).',
    );
  });

  const ten = (ip: string, ...lost: readonly number[]): string =>
    `${ip} ${Array.from({ length: 10 }, (_, index) => (lost.includes(index) ? '*' : '5')).join(' ')}`;
  const whole = trace([ten('198.51.100.1'), ten('192.0.2.1'), ten('192.0.2.2'), ten('192.0.2.8'), ten('203.0.113.1')]);

  it.each<[string, readonly string[], string]>([
    [
      'loss begins behind the last router in common',
      [
        ten('198.51.100.2'),
        ten('192.0.2.1'),
        ten('192.0.2.9', 0, 3, 7, 8),
        ten('192.0.2.8', 1, 2, 6),
        ten('203.0.113.1', 2, 4, 5, 9),
      ],
      'show hop 2, 192.0.2.1 in AS64511 (Transit Net) as the last router in common before loss shows: they part in AS64511 (Transit Net), ' +
        'loss begins between ber-1 and hop 3, 192.0.2.9 in AS64511 (Transit Net) (ber-1 loses 40 %), and the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net) ' +
        'and lose none of 10 packets.',
    ],
    [
      'loss begins before any router in common',
      [
        ten('198.51.100.2', 0, 3, 7, 8),
        ten('192.0.2.1', 2, 4, 6),
        ten('192.0.2.2', 0, 3, 7, 8),
        ten('192.0.2.8', 1, 2, 6),
        ten('203.0.113.1', 2, 4, 5, 9),
      ],
      'show no router in common before loss shows: loss begins at hop 1, 198.51.100.2',
    ],
    [
      'the working ones pass the same routers',
      [
        ten('198.51.100.2'),
        ten('192.0.2.1'),
        ten('192.0.2.2', 0, 3, 7, 8),
        ten('192.0.2.8', 1, 2, 6),
        ten('203.0.113.1', 2, 4, 5, 9),
      ],
      'for the failing ones alone (ber-1 loses 40 %), while the working ones lose none of 10 packets: it may be on the way back, or on one way of a load balancer.',
    ],
  ])('names where packets are lost, if %s', (_reason, path, part) => {
    expect(sentence({ 'ber-1': trace(path), 'fra-1': whole })).toContain(part);
  });

  it('claims no place if the working ones lose as much', () => {
    const lossy = [ten('198.51.100.2'), ten('192.0.2.1'), ten('192.0.2.9', 0, 3, 7, 8), ten('203.0.113.1', 2, 4, 5, 9)];

    expect(sentence({ 'ber-1': trace(lossy), 'fra-1': trace(lossy) })).toContain(
      'both lose packets: 4 of 10 packets (40 %) and 4 of 10 packets (40 %).',
    );
  });

  const apart = trace([access(2), '192.0.2.50 3 3', ...silence]);
  it.each<[string, Readonly<Record<string, Result<'traceroute'>>>, string, string | undefined]>([
    [
      'no router is in common',
      { 'ber-1': apart, 'fra-1': works },
      'ber-1',
      'show no router in common: the failing ones go no further than hop 2, 192.0.2.50',
    ],
    ['nothing answers at all', { 'ber-1': trace(silence), 'fra-1': works }, 'ber-1', undefined],
    ['no probe works', { 'ber-1': apart, 'fra-1': apart }, 'ber-1 fra-1', 'no working probe was traced to compare'],
    [
      'the paths reach the target again',
      { 'ber-1': works, 'fra-1': works },
      'ber-1',
      'The paths from the failing ber-1 reach the target',
    ],
    [
      'one of the failing ones reaches the target',
      { 'ber-1': apart, 'muc-1': works, 'fra-1': works },
      'ber-1 muc-1',
      'those from muc-1 reach the target',
    ],
    [
      'the failing ones measured another address',
      { 'ber-1': trace([access(2), '192.0.2.1 3 3', ...silence], { target: '203.0.113.9' }), 'fra-1': works },
      'ber-1',
      'went to another address (203.0.113.9) than the working fra-1 (203.0.113.1)',
    ],
    [
      'the trace was cut short',
      { 'ber-1': trace([access(2), '192.0.2.1 3 3'], { stopReason: 'deadline' }), 'fra-1': works },
      'ber-1',
      undefined,
    ],
    ['no trace of a failing probe is there', { 'fra-1': works }, 'ber-1', undefined],
  ])('claims no more if %s', (_reason, results, failing, part) => {
    const text = sentence(results, failing);

    if (part === undefined) expect(text ?? '').not.toMatch(/ part |go no further than hop/);
    else expect(text).toContain(part);
    if (!/in common: (they|beyond)/.test(text ?? '')) expect(text ?? '').not.toMatch(/they part/);
  });
});
