import { describe, expect, it } from '@jest/globals';

import { summaryOf } from '../../../test/cases.ts';
import { inRows } from '../../../test/finding-cases/onward.ts';
import { resultUntilEnd, untilEnd, untilEndOfOne } from '../../../test/finding-cases/outages.ts';

const kept = '............';
const found = ({ findings }: ReturnType<typeof untilEnd>): readonly string[] =>
  findings.map(({ code, severity, text }) => `${severity} ${code}: ${text}`);

describe('a target that stops answering during the rounds', () => {
  it.each(['new', 'old'] as const)('is no target that is simply up, by the router’s word, %s agent', (agent) => {
    const summary = untilEnd(kept, kept, '.....!!!!!!!', agent);

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toBe(
      'example.com is reached from the one probe asked, but not to the end: it answered none of the last 7 of 12 rounds of fra-1.',
    );
    expect(found(summary)).toEqual([
      'warning target_stops: The target stopped answering during the check: it answered none of the last 7 of 12 rounds of fra-1, and hop 2, 192.0.2.1 in AS64511 (Transit Net) said that the host is unreachable (!H).',
    ]);
  });

  it('names the last hop that still answers if it falls silent', () => {
    expect(found(untilEnd(kept, '.....*******', '.....*******'))).toEqual([
      'warning target_stops: The target stopped answering during the check: it answered none of the last 7 of 12 rounds of fra-1; the last hop that still answered is hop 1, 198.51.100.1 in AS64510 (Access Net).' +
        ' It or the path to it may have failed, or the target or a filter blocks the probe or limits answers after so many packets.',
    ]);
  });

  it('has no hop alive that answered in the first of these rounds alone, before the silence began', () => {
    const hop1 = 'the last hop that still answered is hop 1, ';
    const pause = `${'.'.repeat(10)}*******${'.'.repeat(13)}`;

    expect(found(untilEnd(kept, '......******', '.....*******'))[0]).toContain(hop1);
    expect(found(untilEnd('.'.repeat(30), pause.replace('.*', '..'), pause))[0]).toContain(hop1);
  });

  it('that comes back was refused for some packets, and lost none of them', () => {
    const summary = untilEnd(kept, kept, '.....!!!!!..');

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toContain('but hop 2, 192.0.2.1 in AS64511 (Transit Net) refuses some packets (!H).');
    expect(found(summary)).toEqual([
      'warning path_refused: A router said that the host is unreachable (!H) to 5 of 12 packets of fra-1 to the target: hop 2, 192.0.2.1 in AS64511 (Transit Net). Others passed it.',
    ]);
  });

  it('that comes back after a silence is degraded, and what it did not answer is no loss of a router', () => {
    const pause = `${'.'.repeat(10)}*******${'.'.repeat(13)}`;
    const summary = untilEnd('.'.repeat(30), pause, pause);

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toContain('but not all the time: it answered none of rounds 11 to 17 of 30 of fra-1.');
    expect(found(summary)).toEqual([
      'warning target_pauses: The target fell silent during the check, and came back: it answered none of rounds 11 to 17 of 30 of fra-1; the last hop that still answered is hop 1, 198.51.100.1 in AS64510 (Access Net).' +
        ' It or the path to it, there or back, may have failed for that time, the target or a filter blocked the probe, or others used up a limit of its answers.',
    ]);
  });

  it('is found by the word of a load balancer or NAT at its address, whose errors are no loss', () => {
    const result = resultUntilEnd(kept, kept, '.....!*!!*!!', 'new');
    const hops = result.hops!.map((hop) => ({
      ...hop,
      icmp: hop.icmp && { ...hop.icmp, from: '203.0.113.1' },
      replies: hop.replies!.map((reply) => ({ ...reply, responder: 0 })),
    }));
    const summary = summaryOf('traceroute', { 'fra-1': { ...result, hops } });

    expect(summary.headline).toContain('but not to the end: it answered none of the last 7 of 12 rounds of fra-1.');
    expect(found(summary)).toEqual([
      expect.stringContaining('answered none of the last 7 of 12 rounds of fra-1, and hop 3, 203.0.113.1'),
    ]);
  });

  it('has the probes that saw the silence in the headline', () => {
    const all = '.'.repeat(30);
    const pause = `${'.'.repeat(10)}*******${'.'.repeat(13)}`;
    const result = resultUntilEnd(all, pause, pause, 'new');

    expect(summaryOf('traceroute', { 'fra-1': result, 'ber-1': result }).headline).toContain(
      'but not all the time: it answered none of rounds 11 to 17 of 30 of ber-1 and rounds 11 to 17 of 30 of fra-1.',
    );
  });

  it('that is silent at first is degraded too', () => {
    const target = `${'*'.repeat(12)}${'.'.repeat(18)}`;
    const summary = untilEnd('.'.repeat(30), '.'.repeat(30), target);

    expect(summary.verdict).toBe('degraded');
    expect(summary.headline).toContain('but not all the time: it answered none of rounds 1 to 12 of 30 of fra-1.');
    expect(found(summary)[0]).toContain(
      'target_pauses: The target was silent when the check began, and answered later: it answered none of rounds 1 to 12 of 30 of fra-1; the last hop that still answered is hop 2, 192.0.2.1',
    );
    expect(found(summary)).toHaveLength(1);
  });

  it('may be silent for a fault near the probe, if no hop answers meanwhile', () => {
    const [silence, near] = ['.....*******', 'from the first one on: the fault may be near the probe'];
    const pause = `${'.'.repeat(10)}*******${'.'.repeat(13)}`;

    expect(found(untilEnd(silence, silence, silence))[0]).toContain(near);
    expect(found(untilEnd(pause, pause, pause))[0]).toContain(near);
    expect(found(untilEnd('.'.repeat(30), pause, pause))[0]).not.toContain(near);
  });

  it('is silent behind a router that takes its place on the path', () => {
    const summary = inRows('a'.repeat(12), 'TTTTTbbbbbbb', '******', '*****', '****');

    expect(summary.headline).toContain('it answered none of the last 7 of 12 rounds of fra-1.');
    expect(found(summary)[0]).toContain(
      'the last hop that still answered is hop 2, 192.0.2.2 in AS64511 (Transit Net).',
    );
  });

  it('is no silence where chance has the occasions of many probes', () => {
    const target = '.....*.........****...........';
    const codes = (probes: number): readonly string[] => untilEndOfOne(target, probes).findings.map(({ code }) => code);

    expect(codes(1)).toContain('target_pauses');
    expect(codes(16)).not.toContain('target_pauses');
    expect(codes(16)).toContain('loss_at_target');
  });

  it('has other loss counted without its silence', () => {
    const target = '..*.....*.*******..*..........';

    expect(found(untilEnd('.'.repeat(30), '.'.repeat(30), target))).toEqual([
      expect.stringContaining('target_pauses'),
      expect.stringContaining('fra-1 misses 13 %'),
    ]);
  });

  it.each([
    [null, 'The target answered from round 4 of 12 on.'],
    [5, 'Others passed it.'],
  ])('was not reached late if it answered a packet with the full TTL before: %p', (rtt, text) => {
    const targetHops = [{ hop: 3, round: 4, sent: 9, received: 9 }];
    const refused = { ...resultUntilEnd(kept, kept, '!!!.........', 'new'), fullTtl: { rtts: [rtt], icmp: null } };

    expect(found(summaryOf('traceroute', { 'fra-1': { ...refused, targetHops } }))[0]).toContain(text);
  });

  it('with one refused packet is up', () => {
    const summary = untilEnd(kept, kept, '.....!......');

    expect(summary.verdict).toBe('up');
    expect(found(summary)).toEqual([
      'info path_refused: A router said that the host is unreachable (!H) to 1 of 12 packets of fra-1 to the target: hop 2, 192.0.2.1 in AS64511 (Transit Net). Others passed it.',
    ]);
  });

  it('has its lost packets counted apart from the refused ones', () => {
    expect(found(untilEnd(kept, kept, '..!!.**.....')).map((line) => line.split(': ')[0])).toEqual([
      'warning path_refused',
      'info loss_at_target',
    ]);
    expect(found(untilEnd(kept, kept, '..!!.**.....'))[1]).toContain('fra-1 misses 20 %');
  });
});

describe('a target whose answers come after more than four seconds during the rounds', () => {
  const late = (target: string, count: number) => {
    const result = resultUntilEnd('.'.repeat(target.length), '.'.repeat(target.length), target, 'new');
    const hops = result.hops!.map((hop) => (hop.hop === 3 ? { ...hop, late: count } : hop));
    return found(summaryOf('traceroute', { 'fra-1': { ...result, hops } }));
  };

  it.each(['.....*************************', '..........*******.............'])('is not silent: %s', (target) => {
    const lost = target.replaceAll('.', '').length;

    expect(late(target, 0).join()).toMatch(/target_(stops|pauses)/);
    expect(late(target, lost - 1)).toEqual([
      expect.stringMatching(
        new RegExp(
          String.raw`^info loss_at_target: Packets to the target are not all answered in time, fra-1 misses \d+ %\. ${lost - 1} of the ${lost} missing answers came after more than four seconds, too late to count\. The others are late, too, or lost on `,
        ),
      ),
    ]);
  });

  it('does not limit its answers if all missing ones came late, nor does a router', () => {
    const result = resultUntilEnd('.'.repeat(12), '.***********', '.'.repeat(12), 'new');
    const codes = (count: number) => {
      const hops = result.hops!.map((hop) => (hop.hop === 2 && count > 0 ? { ...hop, late: count } : hop));
      return summaryOf('traceroute', { 'fra-1': { ...result, hops } }).findings.map(({ code }) => code);
    };

    expect(codes(0)).toEqual(['rate_limited_hop']);
    expect(codes(10)).toEqual([]);
    expect(late('.....*******', 7).join()).toContain('7 of the 7 missing answers came after more than four seconds');
    expect(late('.....*******', 7).join()).not.toContain('limits');
  });
});
