import { describe, expect, it } from '@jest/globals';

import { broken, pending, textOf } from '../../test/cases.ts';
import { betweenOf } from '../../test/finding-cases/between.ts';
import { trace } from '../../test/results.ts';

const [nearFra, nearNyc] = ['100.64.1.5', '100.64.9.5'];
const there = trace(['198.51.100.1 1', '192.0.2.2 2', '192.0.2.6 3', `${nearNyc} 9 9 9`], { target: nearNyc });
const back = trace(['100.64.9.1 1', '198.51.100.9 2', `${nearFra} 9 9 9`], { target: nearFra });
const lost = trace(['100.64.9.1 1', '* * *', '* * *'], { target: nearFra });

describe('the summary of a check between two probes', () => {
  it('says that both reach each other, and by which evidence their ways differ', () => {
    const elsewhere = trace(['100.64.9.1 1', '203.0.113.5 2', '203.0.113.9 2', `${nearFra} 9 9 9`], {
      target: nearFra,
    });
    const summary = betweenOf(there, elsewhere);

    expect(summary.headline).toBe('fra-1 and nyc-1 reach each other (round trip 9 ms); their ways differ.');
    expect(summary.verdict).toBe('up');
    expect(textOf(summary, 'directions_differ')).toMatch(
      /^The ways of fra-1 and nyc-1 differ: AS64511 \(.*\) is crossed from fra-1 only; AS64512 \(.*\) is crossed from nyc-1 only\. Routers are compared by network .* One flow was traced each way/,
    );
  });

  it('doubts that the ways differ if a tunnel that hides hops of one direction explains it', () => {
    const hidden = trace(['100.64.9.1 1', '198.51.100.9 2', `${nearFra} 9 9 9`], { target: nearFra });
    const longer = trace(['198.51.100.1 1', '192.0.2.2 2', '192.0.2.6 3', '192.0.2.10 4', `${nearNyc} 9 9 9`], {
      target: nearNyc,
    });
    const summary = betweenOf(longer, hidden);

    expect(summary.headline).toBe('fra-1 and nyc-1 reach each other (round trip 9 ms); their ways seem to differ.');
    expect(textOf(summary, 'directions_differ')).toMatch(
      /^The ways of fra-1 and nyc-1 seem to differ: .* 5 hops from fra-1, .* 3 hops from nyc-1\. A tunnel that hides hops in one direction only looks the same\. /,
    );
  });

  it('doubts that the ways differ if only addresses show it, from which routers may answer to one side alone', () => {
    const [out, home] = [
      trace(['198.51.100.1 1', '192.0.2.1 2', '192.0.2.5 3', '192.0.2.9 4', `${nearNyc} 9 9 9`], { target: nearNyc }),
      trace(['100.64.9.1 1', '203.0.113.101 2', '203.0.113.102 3', '203.0.113.103 4', `${nearFra} 9 9 9`], {
        target: nearFra,
      }),
    ];
    const ofOneNetwork = JSON.parse(JSON.stringify(home).replaceAll('AS64512', 'AS64511')) as typeof home;
    const summary = betweenOf(out, ofOneNetwork);

    expect(summary.headline).toBe('fra-1 and nyc-1 reach each other (round trip 9 ms); their ways seem to differ.');
    expect(textOf(summary, 'directions_differ')).toMatch(
      /^The ways of fra-1 and nyc-1 seem to differ: 192\.0\.2\.1, .* near no router of the other\. Routers that answer from other addresses/,
    );
    expect(betweenOf(out, home).headline).toMatch(/their ways differ\.$/);
  });

  it('lays nothing to the name or to different addresses: each probe has another target', () => {
    const codes = betweenOf(there, back).findings.map(({ code }) => code);

    expect(codes).toEqual(['directions_differ']);
  });

  it('does not take one failing direction for a broken path: the answers of the other one come back on it', () => {
    const summary = betweenOf(there, lost);

    expect(summary.verdict).toBe('partial');
    expect(summary.headline).toMatch(/^fra-1 reaches nyc-1; nyc-1 does not reach fra-1: .*\.$/);
    expect(textOf(summary, 'direction_fails')).toContain(
      'so packets get from nyc-1, or what answers at its address, to fra-1',
    );
    expect(summary.findings.map(({ code }) => code)).not.toContain('down_one_probe');
  });

  it.each([
    ['neither reaches the other', lost, lost, 'down', /^fra-1 does not reach nyc-1: .*; nyc-1 does not reach fra-1: /],
    ['one is gone', there, broken('probe_offline'), 'up', /^fra-1 reaches nyc-1; nyc-1 could not measure: /],
    ['one has not answered', there, pending, 'up', /^fra-1 reaches nyc-1; nyc-1 has not answered yet\.$/],
    ['none has answered', pending, pending, 'unknown', /^fra-1 has not answered yet; nyc-1 has not answered yet\.$/],
  ])('is of both ways: %s', (_what, first, second, verdict, headline) => {
    const summary = betweenOf(first, second);

    expect([summary.verdict, summary.headline]).toEqual([verdict, expect.stringMatching(headline)]);
  });

  it('is the same in the other order of the results', () => {
    expect(betweenOf(back, there).findings.map(({ code }) => code)).toEqual(['directions_differ']);
  });
});
