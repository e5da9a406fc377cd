import { describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { CHECK_ID, type Result } from '../../../test/cases.ts';
import { trace } from '../../../test/results.ts';
import { limitedInGroups, lostInGroups } from '../../../test/spaced-groups.ts';
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
        'they part in AS64511 (Transit Net), nothing answers the failing ones beyond hop 3, 192.0.2.9 in AS64511 (Transit Net) (the packets or their answers are lost), ' +
        'and the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net).',
    );
  });

  it('claims no other way where nothing answers beyond the last router in common', () => {
    const fails = trace([access(2), '192.0.2.1 3 3', '192.0.2.2 5 5', ...silence]);

    expect(sentence({ 'ber-1': fails, 'fra-1': works })).toBe(
      'Paths from the failing ber-1 and from the working fra-1 show hop 3, 192.0.2.2 in AS64511 (Transit Net) as the last router in common: ' +
        'beyond it, between AS64511 (Transit Net) and AS64512 (Target Net), nothing answers the failing ones (the packets or their answers are lost), ' +
        'and the working ones go on to the target.',
    );
  });

  it('names a router once where one failing path ends and another one goes on', () => {
    const [ends, goesOn] = [
      trace([access(2), '192.0.2.1 3 3', ...silence]),
      trace([access(3), '192.0.2.1 3 3', '192.0.2.9 5 5', ...silence]),
    ];

    expect(sentence({ 'ber-1': ends, 'lon-1': goesOn, 'fra-1': works }, 'ber-1 lon-1')).toContain(
      'they part in AS64511 (Transit Net), nothing answers those from ber-1 beyond it, ' +
        'nothing answers the ones from lon-1 beyond hop 3, 192.0.2.9 in AS64511 (Transit Net) (the packets or their answers are lost), and the working ones',
    );
    expect(
      sentence({ 'ber-1': ends, 'lon-1': trace([access(3), access(4), '192.0.2.1 3 3', ...silence]) }, 'ber-1 lon-1'),
    ).toBe(
      'Nothing answers the failing ones beyond hops 2 and 3, 192.0.2.1 in AS64511 (Transit Net) (the packets or their answers are lost), and no working probe was traced to compare.',
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
      'hops between the last router in common and the target are not known',
      [ten('198.51.100.2'), ten('192.0.2.1'), '* *', '* *', ten('203.0.113.1', 2, 4, 5, 9)],
      'show hop 2, 192.0.2.1 in AS64511 (Transit Net) as the last router in common before loss shows: ' +
        'loss begins between ber-1 and hop 5, 203.0.113.1 in AS64512 (Target Net) (ber-1 loses 40 %), ' +
        'the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net) and lose none of 10 packets, ' +
        'and whether they part is not known, since hops in between are not known.',
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
    expect(sentence({ 'ber-1': trace(path, { spaced: lostInGroups }), 'fra-1': whole })).toContain(part);
    // Without proof of loss after the trace, a rate limit explains the missing answers as well.
    expect(sentence({ 'ber-1': trace(path, { spaced: limitedInGroups }), 'fra-1': whole })).toBe(
      'Paths from the failing ber-1 reach the target, which does not answer all packets (ber-1 misses 40 %): they are lost, or it limits its answers.',
    );
  });

  it('claims no place if the working ones lose as much', () => {
    const lossy = [ten('198.51.100.2'), ten('192.0.2.1'), ten('192.0.2.9', 0, 3, 7, 8), ten('203.0.113.1', 2, 4, 5, 9)];

    expect(sentence({ 'ber-1': trace(lossy, { spaced: lostInGroups }), 'fra-1': trace(lossy) })).toContain(
      'both lose packets: 4 of 10 packets (40 %) and 4 of 10 packets (40 %).',
    );
  });

  const apart = trace([access(2), '192.0.2.50 3 3', ...silence]);
  it.each<[string, Readonly<Record<string, Result<'traceroute'>>>, string, string | undefined]>([
    [
      'no router is in common',
      { 'ber-1': apart, 'fra-1': works },
      'ber-1',
      'show no router in common: nothing answers the failing ones beyond hop 2, 192.0.2.50',
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

    if (part === undefined) expect(text ?? '').not.toMatch(/ part |nothing answers .* beyond hop/i);
    else expect(text).toContain(part);
    if (!/in common: (they|beyond)/.test(text ?? '')) expect(text ?? '').not.toMatch(/they part/);
  });

  it.each([
    ['of the failing path', [access(2), '192.0.2.1 3 3', '* * *', '192.0.2.9 5 5', ...silence], works],
    [
      'of the working path',
      [access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', ...silence],
      trace([access(1), '192.0.2.1 3 3', '* * *', '192.0.2.2 5 5', target]),
    ],
    ['with a private address', [access(2), '192.0.2.1 3 3', 'private 4 4', '192.0.2.9 5 5', ...silence], works],
  ])(
    'claims no place of the parting if a hop %s behind the last router in common is not known',
    (_what, path, other) => {
      const text = sentence({ 'ber-1': trace(path), 'fra-1': other });

      expect(text).toContain('192.0.2.1 in AS64511 (Transit Net) as the last router in common: ');
      expect(text).toContain('and where they part is not known');
      expect(text).not.toMatch(/they part (in|between|there)/);
    },
  );

  const drops =
    '; the target answers the echo requests of ber-1: a filter on the way or the target itself drops the TCP packets, or one of several ways to it is broken.';
  const tcp = { protocol: 'tcp', echo: { sent: 2, received: 2 }, stopReason: 'gap_limit' } as const;
  it.each<[string, readonly string[], string]>([
    [
      'a filter on the way of the failing ones',
      [access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', ...silence],
      'as the last router in common: they part in AS64511 (Transit Net), nothing answers the failing ones beyond hop 3, 192.0.2.9 in AS64511 (Transit Net), and the working ones go on over',
    ],
    [
      'one behind the last router in common',
      [access(2), '192.0.2.1 3 3', '192.0.2.2 5 5', ...silence],
      'beyond it, between AS64511 (Transit Net) and AS64512 (Target Net), nothing answers the TCP packets of the failing ones, and the working ones go on to the target',
    ],
    [
      'one before any router in common',
      [access(2), ...silence],
      'show no router in common: nothing answers the failing ones beyond hop 1',
    ],
  ])('names where TCP packets stop although echo requests reach the target: %s', (_where, path, part) => {
    const [fails, other] = [trace(path, tcp), trace([access(1), '192.0.2.1 3 3', '192.0.2.2 5 5', target], tcp)];
    const text = sentence({ 'ber-1': fails, 'fra-1': other })!;

    expect(text).toContain(part);
    expect(text.endsWith(drops)).toBe(true);
  });

  it('says nothing of a place if echo requests are answered in part', () => {
    const fails = trace([access(2), '192.0.2.1 3 3', ...silence], { ...tcp, protocol: 'icmp' });

    expect(sentence({ 'ber-1': fails, 'fra-1': works })).toBeUndefined();
  });

  describe('if a router refuses the packets of a failing probe', () => {
    const tcp = { protocol: 'tcp' } as const;
    /** A trace whose last hop shows the error of the router with this address. */
    const refused = (path: readonly string[], from: string | null): Result<'traceroute'> => {
      const { hops = [], ...others } = trace(path, { ...tcp, stopReason: 'unreachable' });
      const icmp = { type: 3, code: 13, mark: '!X', from, count: 10 };
      return { ...others, hops: [...hops.slice(0, -1), { ...hops.at(-1)!, icmp }] };
    };
    const goesOn = trace([access(1), '192.0.2.1 3 3', '192.0.2.2 5 5', target], tcp);
    const saying = 'that a filter forbids the traffic (!X)';

    it.each<[string, readonly string[], string]>([
      [
        'the last router in common, whose error shows one hop later too',
        [access(2), '192.0.2.1 3 3', '192.0.2.1 3 3'],
        `show hop 2, 192.0.2.1 in AS64511 (Transit Net) as the last router in common: the failing ones go no further, and the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net); hop 2, 192.0.2.1 in AS64511 (Transit Net) tells ber-1 ${saying}.`,
      ],
      [
        'a router behind it',
        [access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', '192.0.2.9 5 5'],
        `show hop 2, 192.0.2.1 in AS64511 (Transit Net) as the last router in common: they part in AS64511 (Transit Net), the failing ones go no further than hop 3, 192.0.2.9 in AS64511 (Transit Net), and the working ones go on over hop 3, 192.0.2.2 in AS64511 (Transit Net); hop 3, 192.0.2.9 in AS64511 (Transit Net) tells ber-1 ${saying}.`,
      ],
      [
        'a router that may be nearer, since a hop before its error is silent',
        [access(2), '192.0.2.1 3 3', '* * *', '192.0.2.9 5 5'],
        `go no further than one of the hops 3 to 4, 192.0.2.9 in AS64511 (Transit Net), the working ones go on`,
      ],
    ])('names it and its words: %s', (_which, path, part) => {
      const from = path.at(-1)!.split(' ')[0]!;

      expect(sentence({ 'ber-1': refused(path, from), 'fra-1': goesOn })).toContain(part);
    });

    it('names no address that is withheld, nor a hop that may be that of the packet alone', () => {
      const path = [access(2), '192.0.2.1 3 3', 'private 4 4', 'private 4 4'];
      const text = sentence({ 'ber-1': refused(path, null), 'fra-1': goesOn })!;

      expect(text).toContain('go no further than a router with a private address at hop 4 or nearer,');
      expect(text).toContain('and where they part is not known, since hops in between are not known');
      expect(text).toMatch(/; a router with a private address tells ber-1 that a filter forbids the traffic \(!X\)\.$/);
    });

    it.each<[string, Partial<Result<'traceroute'>>]>([
      ['of TCP, whose connection is answered so', {}],
      ['that fails', { result: 'failure' }],
    ])('says that the target itself refuses a trace %s', (_which, fields) => {
      const path = [access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', target];
      const last = { ...refused(path, '203.0.113.1'), stopReason: 'completed', ...fields } as Result<'traceroute'>;

      expect(sentence({ 'ber-1': last, 'fra-1': goesOn })).toBe(
        'The paths from the failing ber-1 reach the target: the target itself tells ber-1 that a filter forbids the traffic (!X).',
      );
    });

    it('does not lay the error to probes that got none', () => {
      const silent = trace([access(3), '192.0.2.1 3 3', ...silence], tcp);
      const path = [access(2), '192.0.2.1 3 3', '192.0.2.1 3 3'];
      const text = sentence({ 'ber-1': refused(path, '192.0.2.1'), 'muc-1': silent, 'fra-1': goesOn }, 'ber-1 muc-1')!;

      expect(text).toContain(
        'as the last router in common: beyond it, in AS64511 (Transit Net), nothing answers the failing ones, and the working ones go on',
      );
      expect(text).toMatch(/; hop 2, 192\.0\.2\.1 in AS64511 \(Transit Net\) tells ber-1 that a filter forbids/);
    });
  });

  it('knows that a filter can answer TCP packets in the name of the target', () => {
    const through = trace([access(2), '192.0.2.1 3 3', target], { protocol: 'tcp' });

    expect(sentence({ 'ber-1': through, 'fra-1': works })).toBe(
      'The paths from the failing ber-1 reach the target: the fault is over, is not on the path, concerns other packets than those of the traces (TCP), or a filter on the path resets connections in its name.',
    );
  });

  describe('if large packets of the failing probes vanish', () => {
    const path = [access(2), '192.0.2.1 3 3', target];
    const tcp = { protocol: 'tcp' } as const;
    const [small, large] = [
      { pathMtu: 1_400, mtuBlackHole: 1_401, fullSize: { bytes: 1_500, arrives: false } },
      { pathMtu: 1_500, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: true } },
    ];
    const reach = 'The paths from the failing ber-1 reach the target';

    it('says so in place of other reasons, if those of working ones arrive', () => {
      const [fails, other] = [trace(path, { ...tcp, ...small }), trace(path, { ...tcp, ...large })];

      expect(sentence({ 'ber-1': fails, 'fra-1': other })).toBe(
        `${reach} with small packets. Large packets vanish on the way without an ICMP error, and small ones are answered: ` +
          'echo requests of ber-1 from 1401 bytes on, and SYNs of 1,500 bytes. Connections that send full packets hang there.',
      );
      expect(sentence({ 'ber-1': fails, 'fra-1': fails })).toMatch(/the fault is over/);
    });

    it('adds it to other reasons, if echo requests alone were sent', () => {
      const { fullSize: _fullSize, ...echo } = small;

      expect(sentence({ 'ber-1': trace(path, echo), 'fra-1': works })).toMatch(
        /the fault is over, .*\(ICMP\)\. Large echo requests get neither .*: ber-1 from 1401 bytes on\. They vanish .* if other packets do so, too,/,
      );
    });
  });

  it.each(['192.168.1.1', '10.0.0.1', '172.20.0.1', '100.64.0.1', 'fd00::1', 'fe80::1'])(
    'does not take %s at two probes for one router',
    (ip) => {
      const fails = trace([`${ip} 1 1`, '198.51.100.2 2 2', ...silence]);

      expect(sentence({ 'ber-1': fails, 'fra-1': trace([`${ip} 1 1`, '192.0.2.2 5 5', target]) })).toContain(
        'show no router in common',
      );
    },
  );

  it('takes local addresses on the way to a local target for one router', () => {
    const own = { target: '10.0.9.9' };
    const fails = trace(['10.0.1.1 1 1', '10.0.5.1 2 2', ...silence], own);

    expect(
      sentence({ 'ber-1': fails, 'fra-1': trace(['10.0.2.1 1 1', '10.0.5.1 2 2', '10.0.9.9 3 3'], own) }),
    ).toContain('show hop 2, 10.0.5.1 as the last router in common');
  });

  it('compares the family that fails, of a monitor over both', () => {
    const both = (ipv6: object): Result<'traceroute'> => {
      const { startedAt: _startedAt, finishedAt: _finishedAt, ...other } = ipv6 as Result<'traceroute'>;
      return { ...works, otherFamily: { ...other, family: 6 } } as unknown as Result<'traceroute'>;
    };
    const fails = trace([access(2), '192.0.2.1 3 3', '192.0.2.9 5 5', ...silence]);

    expect(sentence({ 'ber-1': both(fails), 'fra-1': both(works) })).toMatch(
      /^Over IPv6: Paths from the failing ber-1 and from the working fra-1 show hop 2, 192\.0\.2\.1 /,
    );
    expect(sentence({ 'ber-1': both(works), 'fra-1': both(works) })).toMatch(
      /^The paths from the failing ber-1 reach the target: .* other packets than those of the traces \(ICMP\)\.$/,
    );
  });
});
