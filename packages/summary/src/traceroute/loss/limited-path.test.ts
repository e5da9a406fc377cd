import { describe, expect, it } from '@jest/globals';

import { lines, summaryOf, textOf } from '../../../test/cases.ts';
import { trace } from '../../../test/results.ts';

const probes = ['fra-1', 'ber-1', 'par-1'] as const;

function rttsOf(row: string): (number | null)[] {
  return Array.from(row, (mark) => (mark === '!' ? 9 : null));
}

/** A hop with a packet for each mark: `!` for an answer, `.` for none. */
function hopOf(ip: string, row: string): string {
  const rtts = rttsOf(row).map((rtt) => rtt ?? '*');
  return `${row.includes('!') ? ip : '*'} ${rtts.join(' ')}`;
}

/** The end of a path and the packets in groups that followed the trace. */
function resultOf(rows: string, spaced: string, fields: object = {}) {
  const marks = rows.split(' ');
  const routers = marks.slice(0, -1).map((row, index) => hopOf(`192.0.2.${index + 3}`, row));
  const all = '!'.repeat(marks[0]!.length);
  const path = [hopOf('198.51.100.1', all), hopOf('192.0.2.2', all), ...routers, hopOf('203.0.113.1', marks.at(-1)!)];
  const groups = spaced.split(' ').map(rttsOf);
  const [sent, received] = [groups.flat().length, groups.flat().filter((rtt) => rtt !== null).length];
  return trace(path, spaced === '' ? fields : { spaced: { sent, received, groups }, ...fields });
}

function summaryFrom(rows: readonly (readonly [string, string])[], fields: object = {}) {
  const results = rows.map(([hops, groups], index) => [probes[index]!, resultOf(hops, groups, fields)] as const);
  return summaryOf('traceroute', Object.fromEntries(results));
}

/**
 * Measured in network namespaces, one row per probe: routers lose nothing and rate-limit their answers; 20 % of the
 * packets are lost at the place that the title names.
 */
const measured: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'on the last link, and routers answer one of ten packets',
    [
      ['......!... .....!.... .....!.... !!!!!!!!.!', '!!!! .!!! !!!! !.!! !!!!'],
      ['......!... .....!.... .....!.... !!!!!!..!!', '!!!! !.!! !.!! !.!!'],
      ['......!... .....!.... .....!.... !!!!!!!!!.', '!!!. !!!! !!!! !.!! .!!! !!!.'],
    ],
  ],
  [
    'on the last link, and routers share 10 answers a second among the probes',
    [
      ['!!.....!!. !......!.. !.....!!.. !!!!!!!!!!', ''],
      ['!!........ !!!....... !!!!...... !!!.!!.!!!', '!!!! !!!. !!!! !.!! !!.! !!!!'],
      ['!!!.....!! !!!....!!! !!.....!!. !.!!.!!!!!', '!..! !!!! !!.! !!!!'],
    ],
  ],
  [
    'on the way back alone, and routers share 10 answers a second among the probes',
    [
      ['!!!......! !.......!! !!!!!...!!', '!!!! !!!. !!!! !!!! !!.! !!!! !.!! !!!!'],
      ['!!.......! !.......!! !!..!!!!.!', '!!!! !.!! !!!! !!!! !..! ..!!'],
      ['!!!....... !........! .!!!!!!!!!', '!.!! !!.. .!!! !!!!'],
    ],
  ],
  [
    'on the last link, and other checks use up the answers of all routers in the same rounds',
    [
      ['!.!.!!!!!!!! !.!.!!!!!!!! !.!.!.!!!!!! !!.!!..!!!!.', '!!!! !!!! !.!! ..!! !!!!'],
      ['!.!.!!!!!!!! !.!.!!!!!!!! !.!.!.!!!!!! !!.!!!!!!!!!', '.!!! !!!! !!!! !!!! !!!! .!!! !!!!'],
      ['!.!.!!!!!!!! !.!.!!!!!!!! !.!.!!!!!!!! !!!...!.!.!!', '!!!! !!!! !.!! .!.! !!!!'],
    ],
  ],
  [
    'on the last link, and routers share 2 answers a second among the probes',
    [
      ['!......... !!!!!!!!!! !!!!!!!!!! !!!!!.!!!!', '!!!! !!!! !!!! !!!! !.!! !.!! !!.!'],
      ['.......... !!!!!!!!!! !!!!!!!!!! !.!!..!.!!', '.!!! !!!! ..!! !.!!'],
      ['.......... !!!!!!!!!! !!!!!!!!!. !!!!.!!!.!', '!!.! !!!. !!.! !!!!'],
    ],
  ],
  [
    'on the last link, and a router that others like it surround lost as much',
    [
      ['!!........ !!!!...... !!!!!!!!!! !!!!!!!!!!', ''],
      ['!!....!!!. !....!!... !......... .!!.!!!!..', '!!!! ...! !!!. !!.! .!!!'],
      ['!!....!!!! !.....!!!! !....!!!!. !..!!!!.!!', '!.!. ...! .!..'],
    ],
  ],
];

describe('loss that groups prove', () => {
  it.each(measured)('is laid to no healthy router if it is %s', (_where, rows) => {
    const summary = summaryFrom(rows);

    expect(summary.findings.map(({ code, severity }) => `${code} ${severity}`)).toContain('loss_at_target warning');
    expect(summary.findings.map(({ code }) => code)).not.toContain('path_loss');
    expect(summary.verdict).toBe('degraded');
  });

  it('is laid to no router by three packets a hop', () => {
    const summary = summaryFrom([['!.! .!. ..!', '!.!! !!!! .!!!']]);

    expect(lines(summary)).toEqual(['loss_at_target warning: fra-1']);
  });

  it('begins at a router that answers as many packets as the target, in any order', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['!!!!!!!!!! !.!!!.!!!! !!!!.!!!!! !!.!!!.!!!', '!!!! !.!! !!.! !!!!'],
      ['!!!!!!!!!! .!!!!!!!.! !!!.!!!!!! !!!!!.!!!.', '!.!! !!!! !!!! .!!!'],
      ['!!!!!!!!!! !!!.!!!!!. !.!!!!!!.! .!!!!!!!!!', '!!!! .!!! !!!! !!.!'],
    ];

    expect(textOf(summaryFrom(rows), 'path_loss')).toContain('hop 4, 192.0.2.4 in AS64511 (Transit Net)');
  });
});

describe('loss that groups prove of a target that limits its answers', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['!!! !!! ..!', '!!!! .!!! !... !... !... !... !... !... !... .!..'],
  ];

  it('is that of packets with a later answer in their group alone', () => {
    const summary = summaryFrom(rows, { protocol: 'udp' });

    expect(lines(summary)).toEqual(['loss_at_target warning: fra-1']);
    expect(textOf(summary, 'loss_at_target')).toBe(
      'Packets to the target get no answer: of those sent after the trace fra-1 misses at least 2 of 40. A limit of few answers a second does not explain that: later packets of a group were answered, and earlier ones were not. It may explain 23 more without an answer. A limit of hundreds a second that others use up looks the same as loss. Where packets are lost is not proved.',
    );
    expect(summary.headline).toContain('but packets to it get no answer: fra-1 misses at least 2 of 40');
  });
});

describe('a target that one of three probes does not hear', () => {
  const verdictWith = (groups: string, full: readonly (number | null)[]): string => {
    const reached = resultOf('!!! !!! !!!', groups, { fullTtl: { rtts: [...full], icmp: null } });
    const silent = trace(['198.51.100.9 1 1 1', '192.0.2.2 5 5 5', '* * *', '* * *'], {
      stopReason: 'gap_limit',
      fullTtl: { rtts: [null, null, null, null, null, null], icmp: null },
    });
    const summary = summaryOf('traceroute', { 'fra-1': reached, 'ber-1': reached, 'par-1': silent });
    return `${summary.verdict} ${summary.findings.map(({ code }) => code).join(' ')}`;
  };
  const limited = '!!!! !!!. !!.. !!.. !!.. !!!.';

  it.each([
    ['may share a limit that leaves single packets of others unanswered', limited, [null, null, 9], 'up path_cut'],
    ['is down there if the limit answers single packets', limited, [9], 'partial down_one_probe'],
    ['is down there if packets are lost in any order', '!.!! !!!! .!!! !!.! !!!!', [null, 9], 'partial down_one'],
  ])('%s', (_reason, groups, full, expected) => {
    expect(verdictWith(groups, full)).toContain(expected);
  });
});
