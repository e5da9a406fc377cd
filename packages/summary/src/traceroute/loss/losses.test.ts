import { describe, expect, it } from '@jest/globals';
import { unknownPlace } from '@vantage/contract';

import { lines, summaryOf, textOf } from '../../../test/cases.ts';
import { trace } from '../../../test/results.ts';
import { limitedInGroups, lostInGroups } from '../../../test/spaced-groups.ts';
import { withLate } from '../../../test/with-late.ts';

const access = '198.51.100.1 1 1 1';
const target = '203.0.113.1 9 9 9';
/** Hops that lose half of 24 packets, not the same half. */
const half = (hop: string): string => `${hop} 5 * * * 5 5 * 5 5 * * 5 * 5 * 5 5 * * 5 5 * * 5`;
const halfToo = (hop: string): string => `${hop} * 5 5 * * 5 5 * * 5 5 * 5 * 5 5 * * 5 * * 5 * 5`;
const clean = (hop: string): string => `${hop} ${'1 '.repeat(24).trim()}`;
/** Three routers and the target that lose half of the packets. */
const lossyFrom = (router: number): readonly string[] => [
  half(`192.0.2.${router}`),
  halfToo(`192.0.2.${router + 1}`),
  half(`192.0.2.${router + 2}`),
  halfToo('203.0.113.1'),
];
/** Hops that lose three of ten packets, not the same three. */
const third = (hop: string): string => `${hop} * 5 5 * 5 5 5 * 5 5`;
const thirdToo = (hop: string): string => `${hop} 5 5 * 5 5 * * 5 5 5`;
const thirdOther = (hop: string): string => `${hop} 5 * 5 5 5 5 * 5 5 *`;
const lossyTarget = '203.0.113.1 9 * 9 9 9 9 * 9 9 *';

describe('loss on a path', () => {
  it.each([
    ['nowhere', [access, '192.0.2.1 5 5 5', target], []],
    [
      'at a router that answers some packets only',
      [access, '192.0.2.1 5 * *', '192.0.2.2 6 6 6', '192.0.2.3 6 6 6', target],
      ['rate_limited_hop info: fra-1'],
    ],
    ['nowhere that few packets could prove', [access, '192.0.2.1 5 * *', target], []],
    [
      // Loss is real from hop 2 on; one hop beyond answers all packets by chance.
      'from a hop to the target, whatever one hop in between says by chance',
      [access, third('192.0.2.1'), '192.0.2.2 6 6 6', thirdToo('192.0.2.3'), thirdOther('192.0.2.4'), lossyTarget],
      ['path_loss warning: fra-1'],
    ],
    ['at a router that never answers', [access, '* * *', target], []],
    [
      'from a hop to the target',
      [access, third('192.0.2.1'), thirdToo('192.0.2.2'), lossyTarget],
      ['path_loss warning: fra-1'],
    ],
    [
      'from a hop to the target, with a silent one in between',
      [access, third('192.0.2.1'), '* * *', thirdToo('192.0.2.2'), lossyTarget],
      ['path_loss warning: fra-1'],
    ],
    [
      'at no place that answers of one router alone would show: it may limit them',
      [access, third('192.0.2.1'), '* * *', lossyTarget],
      ['loss_at_target warning: fra-1'],
    ],
    [
      // A token bucket, too, answers the first packets and not the later ones.
      'nowhere that few packets tell from limits of the routers and the target',
      [access, '192.0.2.1 5 * 5', '192.0.2.2 6 * *', '203.0.113.1 9 * *'],
      ['loss_at_target info: fra-1'],
    ],
    ['of one packet', [access, '192.0.2.1 * 5 5', '203.0.113.1 * 9 9'], ['loss_at_target info: fra-1']],
    ['at the target, behind a silent hop', [access, '* * *', '203.0.113.1 9 * *'], ['loss_at_target info: fra-1']],
    ['at the target alone', [access, '192.0.2.1 5 5 5', '203.0.113.1 9 * *'], ['loss_at_target info: fra-1']],
    [
      'at a router early on, and then again from a later hop',
      [
        '198.51.100.1 1 * *',
        '198.51.100.2 1 1 1',
        '198.51.100.3 1 1 1',
        '198.51.100.4 1 1 1',
        '198.51.100.5 1 1 1',
        third('192.0.2.1'),
        thirdToo('192.0.2.2'),
        lossyTarget,
      ],
      ['path_loss warning: fra-1'],
    ],
    [
      'at a router whose address is not shown',
      [access, 'private 2 * * * *', '192.0.2.2 6 6 6', target],
      ['rate_limited_hop info: fra-1'],
    ],
  ])('is %s', (_reason, path, expected) => {
    const isLost = expected.join().includes('warning');
    const results = { 'fra-1': trace(path, isLost ? { spaced: lostInGroups } : {}) };

    expect(lines(summaryOf('traceroute', results))).toEqual(expected);
  });

  it.each([
    ['nothing proves it', {}],
    ['a limit explains the packets after the trace', { spaced: limitedInGroups }],
  ])('is laid to no hop if %s', (_reason, fields) => {
    const path = [access, '192.0.2.1 5 * 5', '192.0.2.2 * 6 *', '203.0.113.1 * * 9'];
    const summary = summaryOf('traceroute', { 'fra-1': trace(path, fields) });

    expect([summary.verdict, ...lines(summary)]).toEqual(['up', 'loss_at_target info: fra-1']);
    expect(textOf(summary, 'loss_at_target')).toContain('Answers of hops from hop 2 on are missing too');
  });

  it('of a router’s answers alone may be that of a limit, or of their way back', () => {
    const path = [access, '192.0.2.1 5 * *', '192.0.2.2 6 6 6', '192.0.2.3 6 6 6', target];
    const { findings } = summaryOf('traceroute', { 'fra-1': trace(path) });

    expect(findings.map(({ text }) => text)).toEqual([
      'Answers of one router to fra-1 do not all arrive, and more do from the hops beyond: hop 2, 192.0.2.1 in AS64511 (Transit Net). Such answers are limited, or lost on their way back: that is no loss of what is passed on.',
    ]);
  });

  it('is reported once for the network in which it begins, with its probes', () => {
    const results = {
      'fra-1': trace([clean('198.51.100.1'), ...lossyFrom(1)], { spaced: lostInGroups }),
      // One proof suffices for the paths that begin to lose packets in one network.
      'ber-1': trace([clean('198.51.100.9'), ...lossyFrom(7)]),
    };

    const summary = summaryOf('traceroute', results);

    expect(lines(summary)).toEqual(['path_loss warning: ber-1 fra-1']);
    expect(summary.findings[0]!.text).toBe(
      'Loss of 2 paths begins at hop 2, 192.0.2.1 in AS64511 (Transit Net) and at hop 2, 192.0.2.7 in AS64511 (Transit Net) ' +
        'and carries on to the target, where ber-1 loses 50 % and fra-1 loses 50 %. ' +
        'The packets or the answers to them are lost: from there on answers may come back another way, which no trace shows.',
    );
  });

  it('makes the verdict degraded, and is the headline', () => {
    const summary = summaryOf('traceroute', {
      'fra-1': trace([clean('198.51.100.1'), ...lossyFrom(1)], { spaced: lostInGroups }),
    });

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toContain('but loss begins at hop 2, 192.0.2.1 in AS64511 (Transit Net)');
  });

  describe('that packets in groups prove', () => {
    const path = [access, '192.0.2.1 5 * 5', '192.0.2.2 6 * *', '203.0.113.1 9 * *'];
    /** One group per word: `.` for an answer, `*` for none. */
    const spaced = (text: string, more: { handshakes?: boolean; reordered?: number } = {}) => {
      const groups = text.split(' ').map((group) => Array.from(group, (mark) => (mark === '.' ? 9 : null)));
      const [sent, received] = [groups.flat().length, groups.flat().filter((rtt) => rtt !== null).length];
      return { spaced: { sent, received, groups, ...more } };
    };

    it('makes the verdict degraded, whatever limits explain of the trace', () => {
      const summary = summaryOf('traceroute', { 'fra-1': trace(path, spaced('.*.. .... *..*')) });

      expect(lines(summary)).toEqual(['loss_at_target warning: fra-1']);
      expect(textOf(summary, 'loss_at_target')).toContain(
        'of those sent after the trace fra-1 misses at least 2 of 12. A limit of few answers a second does not explain that',
      );
      expect(summary.verdict).toBe('degraded');
      expect(summary.headline).toContain('but packets to it get no answer: fra-1 misses at least 2 of 12');
    });

    it.each([
      ['none is lost', spaced('.... .... ....')],
      ['a limit answers the first ones of each group', spaced('..** ..** **** ...*')],
      ['one group alone has another order', spaced('*... .... ...* ....')],
      ['packets overtake each other', spaced('.*.. .... *..*', { reordered: 1 })],
    ])('is not proved if %s', (_reason, fields) => {
      const summary = summaryOf('traceroute', { 'fra-1': trace(path, fields) });

      expect(lines(summary)).toEqual(['loss_at_target info: fra-1']);
      expect(summary.verdict).toBe('up');
    });

    it('has the number of answers to all probes if it is not proved', () => {
      const results = { 'fra-1': trace(path, spaced('...* ..** ....')), 'ber-1': trace(path, spaced('**** .***')) };
      const text = textOf(summaryOf('traceroute', results), 'loss_at_target');

      expect(text).toContain('fra-1 misses 67 %');
      expect(text).toContain('or the target limits its answers, which all that ask it may share. It answered 10 of 20');
      expect(text).toContain('A trace over tcp to an open port tells');
    });

    it('is that of SYNs to an open port, which limits of ICMP leave alone', () => {
      const of = (handshakes: boolean) => {
        const fields = { ...spaced('. . * . . * .', handshakes ? { handshakes } : {}), protocol: 'tcp' as const };
        return lines(summaryOf('traceroute', { 'fra-1': trace(path, fields) }));
      };

      expect([of(true), of(false)]).toEqual([['loss_at_target warning: fra-1'], ['loss_at_target info: fra-1']]);
    });

    it('is not that of SYNs half a second apart if many more in quick succession get no answer', () => {
      const of = (row: string, perFlow: number) => {
        const answers = row.split(' ').map((mark) => (mark === '*' ? null : 0));
        const flows = Array.from({ length: answers.length / perFlow }, (_, index) => {
          const own = answers.slice(index * perFlow, (index + 1) * perFlow);
          return { reached: own.includes(0), stopReason: 'completed' as const, hops: [[0], own] };
        });
        const fields = { ...spaced('.. .* .. .. *. ..', { handshakes: true }), protocol: 'tcp' as const, flows };
        return lines(summaryOf('traceroute', { 'fra-1': trace([access, `203.0.113.1 ${row}`], fields) }));
      };

      expect(of('9 * * 9 * 9 9 * 9 * 9 * 9 * * 9', 1)).toEqual(['loss_at_target warning: fra-1']);
      expect(of('9 * * * 9 * * * 9 * * * * * * *', 1)).not.toContain('loss_at_target warning: fra-1');
      // With 16 queries only the first SYN of each flow counts: a firewall may drop those that repeat it.
      expect(of('9 * * * 9 * * * 9 * * * * * * *', 16)).toEqual(['loss_at_target warning: fra-1']);
    });

    it('is that of one SYN of each of two probes, but not of one alone', () => {
      const few = [access, '192.0.2.1 5 5 5', '203.0.113.1 9 * 9'];
      const of = (text: string) =>
        trace(few, { ...spaced(text, { handshakes: true }), protocol: 'tcp', stopReason: 'completed' });
      const [lossy, clean] = ['.. .* ..', '.. .. ..'];
      const both = summaryOf('traceroute', { 'fra-1': of(lossy), 'ber-1': of(lossy), 'par-1': of(clean) });
      const one = summaryOf('traceroute', { 'fra-1': of(lossy), 'ber-1': of(clean) });

      expect(lines(both)).toEqual(['loss_at_target warning: ber-1 fra-1', 'loss_at_target info: par-1']);
      expect(both.findings[0]!.text).toBe(
        'Handshakes with the target get no answer: of those sent after the trace, half a second apart, ber-1 misses 1 of 6 and fra-1 misses 1 of 6. ' +
          'Limits of ICMP leave them alone: packets are lost at a place that is not proved, or new connections are limited.',
      );
      expect(one.verdict).toBe('up');
    });

    it.each([
      ['takes ways of different length', [5, 9], [0, 1], 'info'],
      ['takes one way', [5, 9], [0, 0], 'warning'],
      ['takes ways of the same length', [9, 9], [0, 1], 'warning'],
    ])('needs packets of a group that arrive in order: a flow that %s', (_reason, rtts, routers, severity) => {
      const fields = spaced('.*** *.** **.* .***');
      const flow = { reached: true, stopReason: 'completed' as const, hops: [[0, 0], routers, [0, 0, null, null]] };
      const rows = ['198.51.100.1 1 1', '192.0.2.1/192.0.2.2 5 5', `203.0.113.1 ${rtts.join(' ')} * *`];

      expect(lines(summaryOf('traceroute', { 'fra-1': trace(rows, { ...fields, flows: [flow] }) }))).toEqual([
        `loss_at_target ${severity}: fra-1`,
      ]);
    });

    it('is named with the loss that they do not prove for other probes', () => {
      const results = { 'fra-1': trace(path, spaced('.*.. *..*')), 'ber-1': trace(path, spaced('.... ....')) };

      expect(lines(summaryOf('traceroute', results))).toEqual([
        'loss_at_target warning: fra-1',
        'loss_at_target info: ber-1',
      ]);
    });

    it('is found even if the trace itself lost none at the target', () => {
      const results = { 'fra-1': trace([access, '203.0.113.1 9 9'], spaced('.*.. *..*')) };

      expect(lines(summaryOf('traceroute', results))).toEqual(['loss_at_target warning: fra-1']);
    });

    it('is not that of rounds, a second apart, alone', () => {
      const inRounds = (fields: object) =>
        summaryOf('traceroute', {
          'fra-1': trace([access, '* * *', '203.0.113.1 9 9 * 9 9 * 9 9'], { rounds: 8, ...fields }),
        });

      expect(inRounds({})).toMatchObject({ verdict: 'up', findings: [{ code: 'loss_at_target', severity: 'info' }] });
      expect(inRounds(spaced('.*.. *..*')).verdict).toBe('degraded');
    });
  });

  it('is laid at one hop only where packets enough prove that the one before it loses nothing', () => {
    const spaced = { spaced: lostInGroups };
    const proved = trace([clean('198.51.100.1'), ...lossyFrom(1)], spaced);
    const open = trace([clean('198.51.100.1'), '192.0.2.5 1 1 1', ...lossyFrom(1)], spaced);

    expect(textOf(summaryOf('traceroute', { 'fra-1': proved }), 'path_loss')).toContain(
      'Loss begins at hop 2, 192.0.2.1',
    );
    expect(textOf(summaryOf('traceroute', { 'fra-1': open }), 'path_loss')).toMatch(
      /^Loss begins between hop 1, 198\.51\.100\.1 in .* and hop 3, 192\.0\.2\.1 in /,
    );
  });

  it('begins for all paths over one link at the first hop that shows it to any of them', () => {
    const results = {
      'fra-1': trace([access, clean('192.0.2.1'), '192.0.2.2 5 5 5', ...lossyFrom(3)], { spaced: lostInGroups }),
      'ber-1': trace(['198.51.100.9 1 1 1', clean('192.0.2.1'), half('192.0.2.2'), ...lossyFrom(3)]),
      'par-1': trace(['198.51.100.5 1 1 1', clean('192.0.2.1'), half('192.0.2.2'), ...lossyFrom(3)]),
    };

    expect(textOf(summaryOf('traceroute', results), 'path_loss')).toContain(
      'Loss of 3 paths begins at hop 3, 192.0.2.2',
    );
  });

  it('is at the target alone only where the hop before it proves to lose nothing', () => {
    const texts = [clean('192.0.2.1'), '192.0.2.1 1 1 1'].map((before) =>
      textOf(summaryOf('traceroute', { 'fra-1': trace([access, before, half('203.0.113.1')]) }), 'loss_at_target'),
    );

    expect(texts[0]).toContain('they are lost on its last link, or the target limits');
    expect(texts[1]).toContain('The hops before it do not tell which');
  });

  it('is not judged before the trace is final, nor where the target did not answer', () => {
    const lossy = trace([access, '192.0.2.1 5 * 5', '203.0.113.1 9 * *']);
    const unreached = trace([access, '192.0.2.1 5 * 5', '* * *']);

    expect(lines(summaryOf('traceroute', { 'fra-1': { ...lossy, result: 'pending' } }))).toEqual([]);
    expect(lines(summaryOf('traceroute', { 'fra-1': unreached })).join()).not.toContain('loss');
  });

  it('does not count answers that came late', () => {
    const rows = [clean('198.51.100.1'), ...lossyFrom(1)];
    const lateAtAll = (late: number, hops = [2, 3, 4, 5]) =>
      hops.reduce((result, hop) => withLate(result, hop, late), trace(rows, { spaced: lostInGroups }));
    const linesOf = (result: ReturnType<typeof trace>) => lines(summaryOf('traceroute', { 'fra-1': result }));
    const textWith = (late: number, hops?: number[]) =>
      textOf(summaryOf('traceroute', { 'fra-1': lateAtAll(late, hops) }), 'path_loss');

    expect(textWith(0)).toMatch(
      /^Loss begins at hop 2, 192\.0\.2\.1.* where fra-1 loses 50 %\. The packets or the answers/,
    );
    expect(textWith(4)).toMatch(
      / where fra-1 loses 33 %\. 4 more answers came after more than four seconds: late, not lost\. The packets or/,
    );
    // All answers that hops 2 and 3 lack came late, so these hops lost nothing.
    expect(textWith(12, [2, 3])).toMatch(/^Loss begins between hop 1, .* and hop 4, 192\.0\.2\.3/);
    // Only the groups after the trace prove that packets are lost.
    expect(linesOf(lateAtAll(12))).toEqual(['loss_at_target warning: fra-1']);
  });
});

describe('where paths end', () => {
  it('is attributed to the network of the last hop that answered', () => {
    const results = {
      'fra-1': trace([access, '192.0.2.1 5 5 5', '* * *', '* * *']),
      'ber-1': trace(['198.51.100.9 1 1 1', '192.0.2.7 5 5 5', '* * *']),
      'par-1': trace(['198.51.100.5 1 1 1', target]),
    };

    const summary = summaryOf('traceroute', results);

    expect(lines(summary)).toEqual(['down_country critical: ber-1 fra-1', 'path_stops warning: ber-1 fra-1']);
    expect(textOf(summary, 'path_stops')).toBe(
      'Nothing answers beyond hop 2, 192.0.2.1 in AS64511 (Transit Net) and hop 2, 192.0.2.7 in AS64511 (Transit Net), ' +
        'on the way from 2 probes (ber-1 and fra-1).',
    );
  });

  it.each([
    ['a size', { size: 1_400 }, 'of 1,400 bytes'],
    ['a DSCP', { dscp: 46 }, 'with DSCP 46'],
  ])('is that of packets with %s that was asked for', (_what, fields, words) => {
    const silence = trace([access, '192.0.2.1 5 5 5', '* * *', '* * *'], fields);
    const summary = summaryOf('traceroute', { 'fra-1': silence });

    expect(summary.headline).toContain(`does not answer traces ${words} from`);
    expect(textOf(summary, 'path_stops')).toMatch(
      new RegExp(`from fra-1\\. Packets ${words} were sent, as asked for: others may get farther\\.$`),
    );
  });

  it('may be due to the size of the packets, if echo requests of other sizes are answered', () => {
    const silence = { fullTtl: { rtts: [null, null, null], icmp: null }, echo: { sent: 9, received: 3 }, size: 1_400 };
    const cut = trace([access, '192.0.2.1 5 5 5', '* * *', '* * *'], {
      protocol: 'icmp',
      stopReason: 'gap_limit',
      ...silence,
    });

    expect(textOf(summaryOf('traceroute', { 'fra-1': cut }), 'path_cut')).toContain(
      'and no ICMP packet of 1,400 bytes of the trace: packets of this size, or their answers, are dropped, or it limits',
    );
  });

  it('may be the target’s own network', () => {
    const placeOf = () => ({ ...unknownPlace, asn: 'AS64512', asName: 'Target Net' });
    const path = trace([access, '203.0.113.254 8 8 8', '* * *']);

    expect(textOf(summaryOf('traceroute', { 'fra-1': path }, { placeOf }), 'path_stops')).toContain(
      'target’s own network',
    );
    expect(textOf(summaryOf('traceroute', { 'fra-1': path }), 'path_stops')).not.toContain('own network');
  });

  it.each([
    [
      'silent from the start',
      trace(['* * *', '* * *']),
      'path_stops warning: fra-1',
      'No hop answered on the way from fra-1',
    ],
    [
      'refused by a router',
      trace([access, '192.0.2.1 5 5 5 !H']),
      'path_refused warning: fra-1',
      'A router said that the host is unreachable (!H)',
    ],
    [
      'refused with a code',
      trace([access, '192.0.2.1 5 5 5 !<15>']),
      'path_refused warning: fra-1',
      'the packets go no further (!<15>)',
    ],
    [
      'a circle',
      trace([access, '192.0.2.1 5 5', '192.0.2.2 6 6', '192.0.2.1 7 7', '192.0.2.2 8 8'], {
        loop: { start: 2, length: 2 },
      }),
      'routing_loop critical: fra-1',
      'Packets of fra-1 go round in a circle of 192.0.2.1 and 192.0.2.2, in AS64511 (Transit Net)',
    ],
  ])('is %s', (_reason, path, expected, text) => {
    const summary = summaryOf('traceroute', { 'fra-1': path });

    expect(lines(summary).filter((line) => !line.startsWith('down_'))).toEqual([expected]);
    expect(summary.findings.map((one) => one.text).join()).toContain(text);
  });

  it.each([
    [null, []],
    [1_500, []],
    [1_492, ['path_mtu_small info: fra-1']],
    [1_279, ['path_mtu_small warning: fra-1']],
  ])('comes with an MTU of %s', (pathMtu, expected) => {
    expect(lines(summaryOf('traceroute', { 'fra-1': trace([access, target], { pathMtu }) }))).toEqual(expected);
  });
});

describe('a black hole for large packets', () => {
  it('degrades a path, with the size', () => {
    const summary = summaryOf('traceroute', {
      'fra-1': trace([access, target], { pathMtu: 1_500, mtuBlackHole: null }),
      'ber-1': trace([access, target], { pathMtu: 1_500, mtuBlackHole: 1_501 }),
    });

    expect([summary.verdict, ...lines(summary)]).toEqual(['degraded', 'path_mtu_black_hole warning: ber-1']);
    expect(textOf(summary, 'path_mtu_black_hole')).toContain('ber-1 from 1501 bytes on');
  });

  it('is one of echo requests alone if larger packets of the trace arrive', () => {
    const fields = { protocol: 'udp', pathMtu: 1_000, mtuBlackHole: 1_001 } as const;
    const summaryWith = (size: number | undefined) =>
      summaryOf('traceroute', {
        'fra-1': trace([access, target], { ...fields, ...(size === undefined ? {} : { size }) }),
      });

    expect(lines(summaryWith(undefined))).toEqual(['path_mtu_black_hole warning: fra-1']);
    expect(textOf(summaryWith(undefined), 'path_mtu_black_hole')).toMatch(
      / They vanish on the way, or their answers, which are as large, on the way back: /,
    );
    expect([summaryWith(1_500).verdict, ...lines(summaryWith(1_500))]).toEqual([
      'up',
      'path_mtu_black_hole info: fra-1',
    ]);
    expect(textOf(summaryWith(1_500), 'path_mtu_black_hole')).toContain(
      'UDP packets of 1,500 bytes arrive: a filter drops large pings, other packets take another way, or the answers, which are as large, vanish on the way back,',
    );
  });

  it.each([
    [
      'is one of echo requests alone if full packets of the trace arrive',
      { pathMtu: 1_000, mtuBlackHole: 1_001, fullSize: { bytes: 1_500, arrives: true } },
      'up',
      'info',
      'Large echo requests get neither an answer nor an ICMP error, and small ones are answered: fra-1 from 1001 bytes on. UDP packets of 1,500 bytes arrive: a filter drops large pings, other packets take another way, or the answers, which are as large, vanish on the way back, where full packets of the target do then, too.',
    ],
    [
      'is one of echo requests alone if a router reports the size to other packets',
      { pathMtu: 1_300, mtuBlackHole: 1_301, fullSize: { bytes: 1_300, arrives: true } },
      'up',
      'info',
      'Large echo requests get neither an answer nor an ICMP error, and small ones are answered: fra-1 from 1301 bytes on. UDP packets of 1,300 bytes arrive, and larger ones get an ICMP error: a filter drops large pings, other packets take another way, or the answers, which are as large, vanish on the way back, where full packets of the target do then, too.',
    ],
    [
      'is certain if full packets of the trace vanish too',
      { pathMtu: 1_300, mtuBlackHole: 1_301, fullSize: { bytes: 1_500, arrives: false } },
      'degraded',
      'warning',
      'Large packets vanish on the way without an ICMP error, and small ones are answered: echo requests of fra-1 from 1301 bytes on, and UDP packets of 1,500 bytes. Connections that send full packets hang there.',
    ],
    [
      'is one of the protocol of the trace if echo requests of this size arrive',
      { pathMtu: 1_500, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: false } },
      'degraded',
      'warning',
      'UDP packets of 1,500 bytes vanish on the way without an ICMP error, and small ones are answered: fra-1. Echo requests of this size arrive: a filter drops large UDP packets, or they take another way, which drops full packets.',
    ],
    [
      'is no degradation if it concerns large SYNs alone',
      { protocol: 'tcp' as const, pathMtu: 1_500, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: false } },
      'up',
      'info',
      'SYNs of 1,500 bytes vanish on the way without an ICMP error, and small ones are answered: fra-1. Echo requests of this size arrive: a filter drops SYNs with data, which connections do not send, or TCP takes another way, where those that send full packets hang.',
    ],
    [
      'is seen if no echo request is answered',
      { pathMtu: null, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: false } },
      'degraded',
      'warning',
      'UDP packets of 1,500 bytes vanish on the way without an ICMP error, and small ones are answered: fra-1. Echo requests show nothing of it: a filter drops large UDP packets, or they take another way, which drops full packets.',
    ],
  ])('%s', (_name, fields, verdict, severity, text) => {
    const summary = summaryOf('traceroute', { 'fra-1': trace([access, target], { protocol: 'udp', ...fields }) });

    expect([summary.verdict, ...lines(summary)]).toEqual([verdict, `path_mtu_black_hole ${severity}: fra-1`]);
    expect(textOf(summary, 'path_mtu_black_hole')).toBe(text);
  });

  it('names the router that reported the MTU of the path, and none that reported a larger one', () => {
    const { hops = [], ...others } = trace([access, '192.0.2.1 3 3 3', '192.0.2.2 5 5 5', target], { pathMtu: 1_337 });
    const known = [undefined, 1_400, 1_337, undefined];
    const withMtus = {
      ...others,
      hops: hops.map((hop, index) => ({ ...hop, ...(known[index] && { nextMtu: known[index] }) })),
    };

    expect(textOf(summaryOf('traceroute', { 'fra-1': withMtus }), 'path_mtu_small')).toContain(
      'fra-1 1337 bytes, behind hop 3, 192.0.2.2 in AS64511 (Transit Net).',
    );
  });

  it('names of several routers the one that reported the MTU, and no other if that is not known', () => {
    const { hops = [], ...others } = trace([access, '192.0.2.1/192.0.2.2 3 3 3', target], { pathMtu: 1_337 });
    const summaryWith = (mtus: readonly object[]): ReturnType<typeof summaryOf> => {
      const responders = hops[1]!.responders.map((one, index) => ({ ...one, ...mtus[index] }));
      const result = { ...others, hops: hops.with(1, { ...hops[1]!, responders, nextMtu: 1_337 }) };
      return summaryOf('traceroute', { 'fra-1': result, 'ber-1': result });
    };

    expect(textOf(summaryWith([{}, { nextMtu: 1_337 }]), 'path_mtu_small')).toContain(
      'reports: ber-1 and fra-1 1337 bytes, behind hop 2, 192.0.2.2 in AS64511 (Transit Net).',
    );
    expect(textOf(summaryWith([]), 'path_mtu_small')).toContain('ber-1 and fra-1 1337 bytes, behind hop 2.');
  });

  it.each([
    ['icmp', 1_500, 1_001, 'ICMP packets of 1,500 bytes'],
    ['udp', 1_400, 1_201, 'UDP packets of 1,400 bytes'],
  ] as const)(
    'is the cause if packets of the size of the request vanish: %s',
    (protocol, size, mtuBlackHole, packets) => {
      const fields = { protocol, size, pathMtu: mtuBlackHole - 1, mtuBlackHole, stopReason: 'gap_limit' as const };
      const silence = { fullTtl: { rtts: [null, null, null], icmp: null }, echo: { sent: 30, received: 12 } };
      const cut = trace([access, '192.0.2.1 5 5 5', '* * *', '* * *'], { ...fields, ...silence });
      const summary = summaryOf('traceroute', { 'fra-1': cut });

      expect([summary.verdict, ...lines(summary)]).toEqual([
        'degraded',
        'path_cut warning: fra-1',
        'path_mtu_black_hole warning: fra-1',
      ]);
      expect(summary.headline).toContain(`packets of ${size.toLocaleString('en')} bytes get no answer`);
      expect(textOf(summary, 'path_cut')).toBe(
        `The ${packets} of the trace get no answer from beyond hop 2, and echo requests of fra-1 vanish from ${mtuBlackHole} bytes on, while smaller ones are answered: the path${packets.startsWith('ICMP') ? ', or the way back of the answers,' : ''} does not seem to carry the \`size\` of the request.`,
      );
    },
  );

  it('does not hide that larger packets than a router reports arrive', () => {
    const larger = trace([access, target], { protocol: 'udp', pathMtu: 1_000, size: 1_500 });
    const summary = summaryOf('traceroute', { 'fra-1': larger });

    expect(lines(summary)).toEqual(['path_mtu_small info: fra-1']);
    expect(textOf(summary, 'path_mtu_small')).toBe(
      'Echo requests of less than 1,500 bytes only fit the path, as a router or the probe’s link reports: fra-1 1000 bytes. UDP packets of 1,500 bytes arrive all the same: they may take another way.',
    );
  });
});

describe('traces that end before their path does', () => {
  const limited = { stopReason: 'hop_limit' as const, fullTtl: { rtts: [null, null, null], icmp: null } };

  it('blame no router where the last hop that was asked answered', () => {
    const summary = summaryOf('traceroute', { 'fra-1': trace([access, '192.0.2.1 5 5 5'], limited) });

    expect(lines(summary)).toEqual(['down_everywhere critical: fra-1', 'path_cut warning: fra-1']);
    expect(textOf(summary, 'path_cut')).toBe(
      'The target does not answer, and its path from fra-1 is known up to hop 2 only: the trace was to go no further ' +
        '(`maxHops`). What comes after is not known.',
    );
    expect(summary.paths?.ends).toEqual([{ node: 'ip:192.0.2.1', reason: 'cut', probes: ['fra-1'] }]);
  });

  it('stop at a router all the same where hops beyond it were asked and are silent', () => {
    const summary = summaryOf('traceroute', { 'fra-1': trace([access, '192.0.2.1 5 5 5', '* * *'], limited) });

    expect(lines(summary)).toContain('path_stops warning: fra-1');
  });

  it('have reached a target that answers the full TTL', () => {
    const answered = { ...limited, fullTtl: { rtts: [9, 9, 9], icmp: null }, reached: true, rt: 9 };
    const summary = summaryOf('traceroute', {
      'fra-1': { ...trace([access, '192.0.2.1 5 * 5'], answered), result: 'success', error: null },
    });

    expect(summary.verdict).toBe('up');
    expect(lines(summary)).toEqual(['path_cut info: fra-1']);
    expect(summary.paths?.ends).toEqual([{ node: 'ip:192.0.2.1', reason: 'cut', probes: ['fra-1'] }]);
  });

  it('blame no router where the target answers echo requests, and call it degraded', () => {
    const rows = [access, '192.0.2.1 5 5 5', '* * *'];
    const of = (received: number): ReturnType<typeof summaryOf> =>
      summaryOf('traceroute', {
        'fra-1': trace(rows, { stopReason: 'gap_limit', protocol: 'udp', echo: { sent: 3, received } }),
      });

    expect([of(1).verdict, ...lines(of(1))]).toEqual(['degraded', 'path_cut warning: fra-1']);
    expect(of(1).headline).toContain('but it answers echo requests only of fra-1, not UDP');
    expect(textOf(of(1), 'path_cut')).toContain('known up to hop 2 only');
    expect(of(1).paths?.ends).toEqual([{ node: 'ip:192.0.2.1', reason: 'cut', probes: ['fra-1'] }]);
    expect(lines(of(0))).toEqual(['down_everywhere critical: fra-1', 'path_stops warning: fra-1']);
  });

  it('blame no router where the target answers other echo requests, and call it degraded', () => {
    const rows = [access, '192.0.2.1 5 5 5', '* * *'];
    const echo = { sent: 2, received: 1 };
    const summary = summaryOf('traceroute', { 'fra-1': trace(rows, { stopReason: 'gap_limit', echo }) });

    expect([summary.verdict, ...lines(summary)]).toEqual(['degraded', 'path_cut warning: fra-1']);
    expect(textOf(summary, 'path_cut')).toBe(
      'The target answers other echo requests of fra-1, and no ICMP packet of the trace: it limits its answers, or one of several ways to it is broken. The path is known up to hop 2 only.',
    );
  });

  it('prove nothing where time ran out before the target was asked often enough', () => {
    const silent = [access, '192.0.2.1 5 5 5', '* * *'];
    const cut = (asked: number, flows = 1): ReturnType<typeof summaryOf> => {
      const flow = { reached: false, stopReason: 'deadline' as const, hops: [[0], [0], [null]] };
      const rtts = Array.from({ length: asked }, () => null);
      const fields = { stopReason: 'deadline' as const, flows: Array.from({ length: flows }, () => flow) };
      return summaryOf('traceroute', { 'fra-1': trace(silent, { ...fields, fullTtl: { rtts, icmp: null } }) });
    };

    expect([cut(4).verdict, ...lines(cut(4))]).toEqual(['unknown', 'path_cut info: fra-1']);
    expect(cut(4).headline).toBe('No probe can tell whether example.com is reached: nothing came back in time.');
    expect(textOf(cut(4), 'path_cut')).toContain('Whether the target answers is not known');
    expect(cut(5, 2).verdict).toBe('unknown');
    expect(cut(5).verdict).toBe('down');
    expect(cut(10, 2).verdict).toBe('down');
    expect(lines(cut(5)).join()).not.toContain('path_stops');
  });

  it('are down where time ran out in a circle', () => {
    const looping = ['192.0.2.1 1', '192.0.2.2 2', '192.0.2.1 3', '192.0.2.2 4'];
    const fields = { stopReason: 'deadline' as const, loop: { start: 1, length: 2 } };

    expect(summaryOf('traceroute', { 'fra-1': trace(looping, fields) }).verdict).toBe('down');
  });
});

describe('a probe whose only flow ends where others do not go', () => {
  const alive = [access, '192.0.2.1 5 5 5', '192.0.2.2 6 6 6', target];
  const ofDead = (path: readonly string[], others: readonly string[]): string =>
    textOf(summaryOf('traceroute', { 'fra-1': trace(others), 'nyc-1': trace(path) }), 'path_stops');

  it('is reported with the router up to which others go the same way', () => {
    expect(ofDead(['198.51.100.2 1 1 1', '192.0.2.1 5 5 5', '192.0.2.12 6 6 6', '* * *'], alive)).toBe(
      'Nothing answers beyond hop 3, 192.0.2.12 in AS64511 (Transit Net), on the way from nyc-1. Others pass hop 2, 192.0.2.1 in AS64511 (Transit Net) too and reach the target by other routers: one of several parallel paths may be broken.',
    );
  });

  it.each([
    [
      'the address in common is a local one, which others have too',
      ['10.0.0.1 1 1 1', '192.0.2.12 6 6 6', '* * *'],
      ['10.0.0.1 1 1 1', '192.0.2.2 6 6 6', target],
    ],
    ['the way is another one from the start', ['198.51.100.2 1 1 1', '192.0.2.12 6 6 6', '* * *'], alive],
    ['others pass its last router', ['198.51.100.2 1 1 1', '192.0.2.1 5 5 5', '192.0.2.2 6 6 6', '* * *'], alive],
  ])('is not where %s', (_where, path, others) => {
    expect(ofDead(path, others)).not.toContain('parallel');
  });
});

describe('a probe that hears nothing from a target', () => {
  const silent = trace([access, '192.0.2.1 5 5 5', '* * *'], { stopReason: 'gap_limit' });
  const withOther = (row: string): ReturnType<typeof summaryOf> =>
    summaryOf('traceroute', { 'fra-1': trace([access, '192.0.2.1 5 5 5', row]), 'nyc-1': silent });

  it('proves nothing where the target leaves most packets of another unanswered', () => {
    const summary = withOther('203.0.113.1 * 9 *');

    expect(summary).toMatchObject({ verdict: 'up', counts: { up: 1, down: 0, silent: 1 } });
    expect(lines(summary)).toEqual(['path_cut info: nyc-1', 'loss_at_target info: fra-1']);
    expect(summary.headline).toContain('; one probe heard nothing from it, which proves nothing.');
  });

  it('proves nothing where the target answered another trace of the probe meanwhile', () => {
    const of = (answersOthers: boolean): ReturnType<typeof summaryOf> => {
      const fullTtl = { rtts: [null, null, null, null, null, null], icmp: null, answersOthers };
      return summaryOf('traceroute', {
        'nyc-1': trace([access, '192.0.2.1 5 5 5', '* * *'], { stopReason: 'gap_limit', fullTtl }),
      });
    };

    expect([of(true).verdict, ...lines(of(true))]).toEqual(['unknown', 'path_cut info: nyc-1']);
    expect(textOf(of(true), 'path_cut')).toContain('answered another trace of the probe');
    expect([of(false).verdict, ...lines(of(false))]).toEqual([
      'down',
      'down_everywhere critical: nyc-1',
      'path_stops warning: nyc-1',
    ]);
  });

  it('is down where the target answers another as it should', () => {
    expect(withOther('203.0.113.1 9 9 9').verdict).toBe('partial');
    expect(withOther('203.0.113.1 9 9 *').verdict).toBe('partial');
  });
});

describe('an ICMP error', () => {
  /** ICMP error of a router before the probed hop. */
  function refused(path: readonly string[], from: string | null, target?: string): ReturnType<typeof trace> {
    const made = trace(path, { stopReason: 'unreachable', ...(target === undefined ? {} : { target }) });
    return { ...made, hops: made.hops!.map((hop) => ({ ...hop, icmp: hop.icmp && { ...hop.icmp, from } })) };
  }

  it('is that of its sender, not of the hop that was asked', () => {
    const path = refused([access, '192.0.2.1 5 5 5', '198.51.100.9 6 6 6 !H'], '192.0.2.1');
    const summary = summaryOf('traceroute', { 'fra-1': path });

    expect(textOf(summary, 'path_refused')).toBe(
      'A router said that the host is unreachable (!H) to packets of fra-1: hop 2, 192.0.2.1 in AS64511 (Transit Net).',
    );
  });

  it('of a packet filter says what it refuses', () => {
    const path = refused([access, '192.0.2.1 5 5 5', '192.0.2.1 6 6 6 !<3>'], '192.0.2.1');

    expect(textOf(summaryOf('traceroute', { 'fra-1': path }), 'path_refused')).toContain(
      'said that the port is unreachable (!<3>) to packets of fra-1: hop 2, 192.0.2.1',
    );
  });

  it('is at no certain hop if those before it are silent', () => {
    const path = refused([access, '* * *', '* * *', '192.0.2.1 6 6 6 !X'], '192.0.2.1');

    expect(textOf(summaryOf('traceroute', { 'fra-1': path }), 'path_refused')).toBe(
      'A router said that a filter forbids the traffic (!X) to packets of fra-1: one of the hops 2 to 4, 192.0.2.1 in AS64511 (Transit Net).',
    );
  });

  it('of a router whose address is not shown has no name', () => {
    const path = refused([access, '192.0.2.1 5 5 5 !H'], null);

    expect(textOf(summaryOf('traceroute', { 'fra-1': path }), 'path_refused')).toContain(
      'a router with a private address',
    );
  });

  it('to some packets of a path that goes on is worth a note', () => {
    const path = refused([access, '192.0.2.1 5 5 5 !H', target], '198.51.100.1');
    const summary = summaryOf('traceroute', { 'fra-1': path });

    expect([summary.verdict, ...lines(summary)]).toEqual(['up', 'path_refused info: fra-1']);
    expect(textOf(summary, 'path_refused')).toContain('to some packets of fra-1: hop 1, 198.51.100.1');
  });
});

describe('an ICMP error to some flows of a trace', () => {
  const flow = (last: number) => ({
    reached: last === 0,
    stopReason: last === 0 ? ('completed' as const) : ('unreachable' as const),
    hops: [[0], [0], [last]],
  });
  const summaryWith = (flows: readonly number[]) => {
    const rows = [access, '192.0.2.1 5 5 5 5', '203.0.113.1/192.0.2.1 9 9 9 9 !H'];
    const count = flows.filter((last) => last === 1).length;
    const made = trace(rows, { flows: flows.map(flow), stopReason: 'completed' });
    const hops = made.hops!.map((hop) => ({ ...hop, icmp: hop.icmp && { ...hop.icmp, from: '192.0.2.1', count } }));
    return summaryOf('traceroute', { 'fra-1': { ...made, hops } });
  };

  it('of a router that leads others to the target is a fault', () => {
    const summary = summaryWith([0, 1, 0, 1]);

    expect([summary.verdict, ...lines(summary)]).toEqual(['degraded', 'path_refused warning: fra-1']);
    expect(textOf(summary, 'path_refused')).toBe(
      'A router said that the host is unreachable (!H) to all packets of 2 of 4 flows of fra-1 to the target: hop 2, 192.0.2.1 in AS64511 (Transit Net). Others passed it.',
    );
  });

  it('to one packet is worth a note', () => {
    expect(summaryWith([0, 1, 0, 0]).verdict).toBe('up');
  });
});

describe('a target that answers the first datagrams alone', () => {
  const rows = [access, '192.0.2.1 5 5 * *', '203.0.113.1 9 9 * *'];

  it('limits its answers, and loses nothing of the path', () => {
    const by = (protocol: 'icmp' | 'udp'): readonly string[] =>
      lines(summaryOf('traceroute', { 'fra-1': trace(rows, { protocol }) }));

    expect(by('udp')).toEqual(['loss_at_target info: fra-1']);
    expect(by('icmp')).toEqual(['loss_at_target info: fra-1']);
  });

  it('and one of the later ones, as a token bucket refills, limits its answers too', () => {
    const row = '5 5 5 5 5 5 * * * 5 * *';
    const rows = ['198.51.100.1', '192.0.2.1', '203.0.113.1'].map((who) => `${who} ${row}`);

    for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
      expect(lines(summaryOf('traceroute', { 'fra-1': trace(rows, { protocol }) })).join()).not.toContain('path_loss');
    }
  });

  it('of each flow limits its answers', () => {
    const flow = { reached: true, stopReason: 'completed' as const };
    const flows = Array.from({ length: 4 }, () => ({
      ...flow,
      hops: [
        [0, 0, 0],
        [0, 0, null],
        [0, null, null],
      ],
    }));
    const mixed = ['5 * 5 5 * 5 5 * 5 5 * 5', '9 * * 9 * * 9 * * 9 * *'];
    const hops = ['198.51.100.1 1 1 1 1 1 1 1 1 1 1 1 1', `192.0.2.1 ${mixed[0]}`, `203.0.113.1 ${mixed[1]}`];

    expect(lines(summaryOf('traceroute', { 'fra-1': trace(hops, { flows, protocol: 'udp' }) })).join()).not.toContain(
      'path_loss',
    );
  });
});

describe('loss on one of several parallel ways', () => {
  const flow = { reached: true, stopReason: 'completed' as const };
  const row = '1 1 1 1 1 1 1 1 1 1';
  const half = '* 5 5 * * * 5 5 * 5';
  const halfToo = '5 * 5 * 5 5 * 5 * *';

  it('names none of the routers of a hop', () => {
    const even = [0, 0, 0, 0, 0];
    const flows = [
      { ...flow, hops: [even, even, even, even] },
      { ...flow, hops: [even, [null, 1, null, 1, null], [1, null, null, null, 1], [null, 0, null, 0, null]] },
    ];
    const rows = [
      `198.51.100.1 ${row}`,
      '192.0.2.1/192.0.2.2 5 * 5 5 5 * 5 5 5 *',
      '192.0.2.3/192.0.2.4 5 5 5 * 5 * 5 * 5 5',
      '203.0.113.1 9 * 9 9 9 * 9 9 9 *',
    ];
    const text = textOf(
      summaryOf('traceroute', { 'fra-1': trace(rows, { flows, spaced: lostInGroups }) }),
      'path_loss',
    );

    expect(text).toMatch(/^Loss begins between .* and hop 3 and carries on/);
    expect(text).not.toContain('192.0.2.');
  });

  it('may be on a way whose router is silent', () => {
    const five = [0, 0, 0, 0, 0];
    const some = [null, 0, null, 0, null];
    const none = [null, null, null, null, null];
    const flows = [
      { ...flow, hops: [five, five, five, five, five] },
      { ...flow, hops: [five, none, some, some, some] },
    ];
    const rows = [
      `198.51.100.1 ${row}`,
      `192.0.2.1 ${row}`,
      `192.0.2.8 ${half}`,
      `192.0.2.9 ${halfToo}`,
      `203.0.113.1 ${half}`,
    ];
    const text = textOf(
      summaryOf('traceroute', { 'fra-1': trace(rows, { flows, spaced: lostInGroups }) }),
      'path_loss',
    );

    expect(text).toMatch(/^Loss begins between .* and hop 3, 192\.0\.2\.8/);
  });

  it('names no router behind parallel ones, since it may be that of the way without loss', () => {
    // Behind a per-packet balancer, one of the two routers forwards its packets, the other drops them.
    const rows = [
      `198.51.100.1 ${row}`,
      `192.0.2.1/192.0.2.2 ${row}`,
      `192.0.2.9 ${half}`,
      `192.0.2.10 ${halfToo}`,
      `192.0.2.11 ${half}`,
      '203.0.113.1 9 * * 9 * 9 9 9 * *',
    ];
    const text = textOf(summaryOf('traceroute', { 'fra-1': trace(rows, { spaced: lostInGroups }) }), 'path_loss');

    expect(text).toMatch(/^Loss begins between .* and hop 3 and carries on/);
    expect(text).not.toContain('192.0.2.9');
  });

  it('says from where on answers are missing if limits may explain them', () => {
    const rows = [`198.51.100.1 ${row}`, '192.0.2.1 5 * 5 * 5 * 5 * 5 *', '203.0.113.1 9 * 9 * 9 * 9 * 9 *'];
    const text = textOf(summaryOf('traceroute', { 'fra-1': trace(rows) }), 'loss_at_target');

    expect(text).toMatch(
      /Answers of hops from hop 2 on are missing too: packets are lost from there on, or these routers limit/,
    );
  });
});
