import { describe, expect, it } from '@jest/globals';
import { summarize } from '@vantage/summary';

import { httpCheck, tracerouteCheck, world } from '../../test/world.ts';
import type { CheckData } from '../check/use-check.ts';
import { groupMembers } from './group.ts';
import { layOutPaths, pathsOf } from './layout-paths.ts';
import { probesMissingPaths } from './missing-paths.ts';
import { NETWORK_COLOURS, networksOf } from './networks.ts';
import { endsSoon } from './certificate-end.ts';
import { commonName } from './common-name.ts';
import { legendOf, phasesOf } from '../phases.ts';
import { slotsFor } from './packet-slots.ts';
import { scaleTo } from './scale.ts';
import { reachedText } from './reached-text.ts';
import { targetTexts } from './target-text.ts';
import { screenshotNotes } from './screenshot-notes.ts';
import { stopText } from './stop-text.ts';

describe('the common name of a certificate', () => {
  it.each([
    ['of several attributes', 'C=DE, O=Example\\, Inc., CN=www.example.com', 'www.example.com'],
    ['with a comma', 'CN=Example\\, Inc. CA, O=Example', 'Example, Inc. CA'],
    ['with a slash and a plus', 'CN=R3/E5 \\+ more, O=x', 'R3/E5 + more'],
    ['with another attribute on its line', 'CN=a + UID=b, O=x', 'a'],
    ['in UTF-8', 'O=x, CN=Österreich', 'Österreich'],
    ['that is missing', 'O=Only', 'O=Only'],
  ])('is whole: %s', (_name, subject, name) => {
    expect(commonName(subject)).toBe(name);
  });
});

describe('the end of a certificate', () => {
  const of90Days = { validFrom: '2026-01-01T00:00:00Z', validUntil: '2026-04-01T00:00:00Z' };
  const of6Days = { validFrom: '2026-01-01T00:00:00Z', validUntil: '2026-01-07T00:00:00Z' };

  // As in the finding `certificate_expires_soon`.
  it.each([
    ['more than 14 days', of90Days, 15, '2026-03-16T12:00:00Z', false],
    ['14 days', of90Days, 14, '2026-03-17T12:00:00Z', true],
    ['less', of90Days, 3, '2026-03-28T12:00:00Z', true],
    ['14 days by the probe, of an unknown lifetime', { validFrom: null, validUntil: null }, 14, undefined, true],
    ['more than a third of a short lifetime', of6Days, 2, '2026-01-04T12:00:00Z', false],
    ['a third of a short lifetime', of6Days, 2, '2026-01-05T00:00:00Z', true],
    ['less than a third of a short lifetime', of6Days, 1, '2026-01-05T12:00:00Z', true],
  ])('is soon from 14 days or a third of a short lifetime on: %s', (_what, life, left, finishedAt, soon) => {
    expect(endsSoon(life, left, finishedAt)).toBe(soon);
  });
});

describe('a scale', () => {
  it.each([
    [[], 4, 1, [0, 0.25, 0.5, 0.75, 1]],
    [[0.07], 4, 0.08, [0, 0.02, 0.04, 0.06, 0.08]],
    [[9.9], 4, 10, [0, 2.5, 5, 7.5, 10]],
    [[312, 4], 4, 400, [0, 100, 200, 300, 400]],
    [[1064], 5, 1250, [0, 250, 500, 750, 1000, 1250]],
  ])('ends at a round number: %j', (values, most, max, ticks) => {
    const scale = scaleTo(values, most);

    expect(scale.max).toBeCloseTo(max);
    expect(scale.ticks).toEqual(ticks.map((tick) => expect.closeTo(tick)));
    expect(scale.percent(scale.max * 2)).toBe(100);
  });
});

describe('the row of the packets of a ping', () => {
  it.each([
    ['few packets so far', [1, 2], 0, 4],
    ['packets that still come', [1, 2], 16, 16],
    ['packets left out, because the probe stood still', [1, 2, 9, 10], 4, 10],
  ])('has room for each packet by its number: %s', (_what, numbers, expected, slots) => {
    const packets = numbers.map((seq) => ({ seq }));
    expect(slotsFor(packets, expected)).toBe(slots);
  });
});

describe('the note about the paths', () => {
  const of = (...results: readonly object[]) =>
    reachedText(
      results.map((result, index) => [`p-${index}`, result]) as unknown as Parameters<typeof reachedText>[0],
      'the target',
    );
  const [reached, silent] = [
    { reached: true, resolvedIp: '192.0.2.1' },
    { reached: false, resolvedIp: '192.0.2.1' },
  ];

  it('counts the probes that reached the target, over both families those of each', () => {
    expect(of(reached, silent)).toBe('1 of 2 probes reached the target');
    expect(of({ ...reached, otherFamily: { family: 6, reached: false } }, reached)).toBe(
      '2 of 2 probes reached the target over IPv4, 0 of 2 over IPv6',
    );
    // The first measurement is over IPv6, as that over IPv4 failed.
    expect(of({ reached: true, resolvedIp: '2001:db8::1', otherFamily: { family: 4, reached: false } })).toBe(
      '0 of 1 probe reached the target over IPv4, 1 of 1 over IPv6',
    );
  });
});

describe('the text at a target of the paths', () => {
  const target = (ip: string, ...probes: readonly string[]) => ({ kind: 'target' as const, ip, probes: [...probes] });
  const [four, six] = [target('192.0.2.1', 'fra-1'), target('2001:db8::1', 'fra-1')];

  it('is the host, of several targets with the address, and of two probes the other one', () => {
    expect(targetTexts([four], 'example.com', undefined)(four)).toEqual(['example.com']);
    expect(targetTexts([four, six], 'example.com', undefined)(six)).toEqual(['example.com', '2001:db8::1']);
    expect(targetTexts([four, six], 'fra-1 ↔ nyc-1', ['fra-1', 'nyc-1'])(four)).toEqual(['nyc-1']);
  });
});

describe('the note below the hops of a trace', () => {
  const silent = { rtts: [null, null], icmp: null };
  const echo = { sent: 3, received: 2 };

  it.each([
    ['came to the target', { stopReason: 'completed', reached: true }, null],
    ['is of an older probe', { reached: true }, null],
    ['has a silent end', { stopReason: 'gap_limit', reached: false }, 'No later hop answered.'],
    [
      'has asked the target with the full TTL',
      { stopReason: 'hop_limit', reached: true, fullTtl: { rtts: [9, null, 8], icmp: null } },
      'The trace was to show no further hop. The target itself answered 2 of 3 packets.',
    ],
    [
      'goes to a target that answers echo requests alone',
      { stopReason: 'gap_limit', reached: false, protocol: 'udp', fullTtl: silent, echo },
      'No later hop answered. The target itself answered 0 of 2 packets. It answers echo requests.',
    ],
    [
      'goes to a target that limits its echo replies',
      { stopReason: 'gap_limit', reached: false, protocol: 'icmp', fullTtl: silent, echo },
      'No later hop answered. The target itself answered 0 of 2 packets. It answers other echo requests.',
    ],
    [
      'goes to a silent target',
      { stopReason: 'gap_limit', reached: false, protocol: 'tcp', fullTtl: silent, echo: { sent: 3, received: 0 } },
      'No later hop answered. The target itself answered 0 of 2 packets.',
    ],
    ['was ended', { stopReason: 'deadline', reached: false }, 'The trace was ended before it was complete.'],
    ['met an ICMP error', { stopReason: 'unreachable', reached: false }, 'An ICMP error ended the path.'],
    [
      'meets one router alone',
      { stopReason: 'loop', reached: false, loop: { start: 2, length: 1 } },
      'One router answers for all hops from its own on.',
    ],
    ['goes round', { stopReason: 'loop', reached: false }, 'The packets go round in a circle.'],
  ] as const)('of one that %s', (_what, result, text) => {
    expect(stopText(result as Parameters<typeof stopText>[0])).toBe(text);
  });
});

describe('the phases of a request', () => {
  it('follow each other; the one that did not come to its end has the rest of the total', () => {
    expect(phasesOf({ dns: 2, connect: 3, firstByte: 5, total: 12 })).toEqual([
      { name: 'dns', start: 0, length: 2 },
      { name: 'connect', start: 2, length: 3 },
      { name: 'firstByte', start: 5, length: 5 },
      { name: 'unfinished', start: 10, length: 2 },
    ]);
  });

  it('have none that is not finished if they are the total but for errors of rounding', () => {
    const phases = { dns: 0.1, connect: 0.2, firstByte: 0.7, download: 0.3 };
    expect(phasesOf({ ...phases, total: 1.3 }).map(({ name }) => name)).toEqual(Object.keys(phases));
  });

  it('are explained as far as they are drawn; the common ones always', () => {
    const common = ['dns', 'connect', 'tls', 'firstByte', 'download'];
    expect(legendOf([undefined, { dns: 1, connect: 2, total: 3 }])).toEqual(common);
    expect(legendOf([{ dns: 1, total: 14_000 }])).toEqual([...common, 'unfinished']);
  });
});

describe('the notes below a screenshot', () => {
  const notes = (result: object, request: object = {}) =>
    screenshotNotes({ ...httpCheck, request } as unknown as CheckData, { result: 'success', ...result });
  const moved = { statusCode: 302, location: 'https://www.example.com/' };

  it('say that the browser goes on where the check ended', () => {
    expect(notes({ statusCode: 200, location: null })).toEqual([]);
    expect(notes({ statusCode: 304, location: '/' })).toEqual([]);
    expect(notes(moved)).toEqual([
      'The check ended at a redirect (302 to https://www.example.com/). The browser follows redirects.',
    ]);
  });

  it('say what of the request the browser leaves out', () => {
    const ok = { statusCode: 200 };
    expect(notes(ok, { options: { method: 'GET', followRedirects: 3 } })).toEqual([]);
    expect(notes(ok, { options: { method: 'HEAD' }, withheld: ['headers'] })).toEqual([
      'The browser asked with GET in place of HEAD and without the headers of the check.',
    ]);
    expect(notes(ok, { options: { headers: { Accept: '*/*' } } })).toEqual([
      'The browser asked without the headers of the check.',
    ]);
  });
});

describe('groups', () => {
  it('stand by size', () => {
    expect(groupMembers(['a', 'bb', 'cc', 'd', 'ee'], ({ length }) => String(length))).toEqual([
      ['bb', 'cc', 'ee'],
      ['a', 'd'],
    ]);
  });
});

describe('the graph of paths', () => {
  const { paths } = summarize(tracerouteCheck, new Map(Object.entries(world)));
  const layout = layOutPaths(paths!);

  it('begins at the top, whatever part of it is drawn', () => {
    for (const { node } of layout.nodes.values()) {
      const rows = [...layOutPaths(pathsOf(paths!, new Set(node.probes))).nodes.values()].map(({ row }) => row);
      expect(Math.min(...rows)).toBe(0);
    }
  });

  it('goes from left to right, from the probes to the target', () => {
    for (const { from, to } of paths!.edges) {
      expect(layout.nodes.get(from)!.column).toBeLessThan(layout.nodes.get(to)!.column);
    }
    const target = [...layout.nodes.values()].find(({ node }) => node.kind === 'target')!;
    expect(target.column).toBe(layout.columns - 1);
  });

  it('puts no two nodes on one place', () => {
    const columns = Map.groupBy(layout.nodes.values(), ({ column }) => column);
    for (const nodes of columns.values()) {
      const rows = nodes.map(({ row }) => row).toSorted((a, b) => a - b);
      for (const [index, row] of rows.entries()) {
        expect(row).toBeGreaterThanOrEqual(-1e-9);
        expect(row).toBeLessThanOrEqual(layout.rows - 1 + 1e-9);
        if (index > 0) expect(row - rows[index - 1]!).toBeGreaterThan(0.99);
      }
    }
  });

  it('keeps its colours for the networks that most paths go through', () => {
    const networks = networksOf(paths!);

    expect(
      networks
        .slice(0, 2)
        .map(({ asn }) => asn)
        .toSorted(),
    ).toEqual(['AS64510', 'AS65540']);
    expect(networks.map(({ colour }) => colour).slice(0, 3)).toEqual([0, 1, 2]);
    expect(networks.at(-1)!.colour).toBe(NETWORK_COLOURS);
  });
});

describe('the searches for all paths', () => {
  it('are named that ended early, over either family', () => {
    const search = (complete: boolean): { multipath: never } => ({ multipath: { complete } as never });
    const found = probesMissingPaths([
      ['p1', search(true) as never],
      ['p2', search(false) as never],
      ['p3', { ...search(true), otherFamily: search(false) } as never],
      ['p4', {} as never],
    ]);

    expect(found).toEqual(['p2', 'p3']);
  });
});
