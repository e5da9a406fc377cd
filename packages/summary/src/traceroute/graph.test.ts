import { describe, expect, it } from '@jest/globals';
import type { Paths } from '@vantage/contract';

import { bad, broken, summaryOf, type Result } from '../../test/cases.ts';
import { multipath, trace } from '../../test/results.ts';

function pathsOf(results: Readonly<Record<string, Result<'traceroute'>>>): Paths {
  return summaryOf('traceroute', results).paths!;
}

/** Every edge as `a > b: probes`, with addresses without prefix. */
function edgesOf({ edges }: Paths): readonly string[] {
  return edges.map(({ from, to, probes }) => `${short(from)} > ${short(to)}: ${probes.join(' ')}`);
}

function endsOf({ ends }: Paths): readonly string[] {
  return ends.map(({ node, reason, probes }) => `${short(node)} ${reason}: ${probes.join(' ')}`);
}

/** A trace whose second router reports that the packets are too big for the next link. */
function tooBig(): Result<'traceroute'> {
  const traced = trace(['192.0.2.1 1', '192.0.2.2 2', '192.0.2.2 3 !F-1400']);
  const hops = traced.hops!.map((hop) =>
    hop.icmp === null ? hop : { ...hop, icmp: { ...hop.icmp, from: '192.0.2.2' } },
  );
  const flows = [{ reached: false, stopReason: 'unreachable' as const, hops: [[0], [0], [0]] }];
  const error = bad('packet_too_big', {}, { source: 'network', phase: 'response' }).error;
  return { ...traced, result: 'failure', error, hops, flows, size: 1_450, stopReason: 'unreachable' };
}

/** The trace with an ICMP error of a router at a hop. */
function refusedAt(traced: Result<'traceroute'>, hop: number, from: string): Result<'traceroute'> {
  const icmp = { type: 3, code: 13, mark: '!X', from, count: 3 };
  return { ...traced, hops: traced.hops!.map((one) => (one.hop === hop ? { ...one, icmp } : one)) };
}

function short(id: string): string {
  return id.replaceAll(/(ip|probe):/g, '');
}

const target = '203.0.113.1 9 9';

describe('the graph of paths', () => {
  it('has a local address once for each probe: other networks have it, too', () => {
    const paths = pathsOf({
      'fra-1': trace(['192.168.1.1 1 1', '*', '192.0.2.1 6 5', target]),
      'ber-1': trace(['192.168.1.1 1 1', '*', '192.0.2.1 4 7', target]),
    });

    const locals = paths.nodes.filter(({ ip }) => ip === '192.168.1.1');

    expect(locals.map(({ probes }) => probes.join(' ')).toSorted()).toEqual(['ber-1', 'fra-1']);
    expect(paths.nodes.filter(({ kind }) => kind === 'silent')).toHaveLength(2);
    expect(paths.nodes.filter(({ ip }) => ip === '192.0.2.1')).toHaveLength(1);
    expect(Math.max(...paths.nodes.map(({ id }) => id.length))).toBeLessThan(128);
  });

  it('has a local address once on the way to a local target', () => {
    const way = trace(['192.168.1.1 1 1', '10.0.0.9 9 9'], { target: '10.0.0.9' });

    expect(pathsOf({ 'fra-1': way, 'ber-1': way }).nodes.map(({ kind }) => kind)).toEqual([
      'probe',
      'probe',
      'router',
      'target',
    ]);
  });

  it('has each router once, with what is known of it, and each step between two with its probes', () => {
    const paths = pathsOf({
      'fra-1': trace(['198.51.100.1 1 1', '192.0.2.1 6 5', target]),
      'ber-1': trace(['198.51.100.2 1 1', '198.51.100.3 2 2', '192.0.2.1 4 7', target]),
    });

    expect(edgesOf(paths)).toEqual([
      'ber-1 > 198.51.100.2: ber-1',
      'fra-1 > 198.51.100.1: fra-1',
      '198.51.100.1 > 192.0.2.1: fra-1',
      '198.51.100.2 > 198.51.100.3: ber-1',
      '192.0.2.1 > 203.0.113.1: ber-1 fra-1',
      '198.51.100.3 > 192.0.2.1: ber-1',
    ]);
    expect(endsOf(paths)).toEqual(['203.0.113.1 reached: ber-1 fra-1']);
    expect(paths.nodes.find(({ ip }) => ip === '192.0.2.1')).toEqual({
      id: 'ip:192.0.2.1',
      kind: 'router',
      ip: '192.0.2.1',
      hostname: null,
      asn: 'AS64511',
      asName: 'Transit Net',
      rttMin: 4,
      hopMin: 2,
      hopMax: 3,
      probes: ['ber-1', 'fra-1'],
    });
    expect(paths.nodes.map(({ kind }) => kind)).toEqual([
      'probe',
      'probe',
      'router',
      'router',
      'router',
      'router',
      'target',
    ]);
  });

  it('knows how near and how far a router was seen', () => {
    const { nodes } = pathsOf({
      'ber-1': trace(['192.0.2.1 1', '192.0.2.2 2', '192.0.2.9 5', target]),
      'fra-1': trace(['192.0.2.9 4', target]),
      'par-1': trace(['192.0.2.1 1', '192.0.2.9 6', target]),
    });

    expect(nodes.find(({ ip }) => ip === '192.0.2.9')).toMatchObject({ hopMin: 1, hopMax: 3, rttMin: 4 });
  });

  it('has one node for a silent hop at the same position between the same routers', () => {
    const paths = pathsOf({
      'fra-1': trace(['192.0.2.1 1', '*', '*', '192.0.2.9 5', target]),
      'ber-1': trace(['192.0.2.1 1', '*', '*', '192.0.2.9 5', target]),
      'par-1': trace(['192.0.2.1 1', '*', '192.0.2.9 5', target]),
    });

    const silent = paths.nodes.filter(({ kind }) => kind === 'silent');
    expect(silent.map(({ id, probes }) => `${short(id)}: ${probes.join(' ')}`)).toEqual([
      'silent:192.0.2.1|192.0.2.9|1/1: par-1',
      'silent:192.0.2.1|192.0.2.9|1/2: ber-1 fra-1',
      'silent:192.0.2.1|192.0.2.9|2/2: ber-1 fra-1',
    ]);
  });

  it('has one node for all the silence at the end, and says where it begins', () => {
    const paths = pathsOf({
      'fra-1': trace(['192.0.2.1 1', '192.0.2.9 5', '*', '*', '*']),
      'ber-1': trace(['192.0.2.1 1', '192.0.2.9 5', '*']),
      'par-1': trace(['*', '*']),
    });

    expect(edgesOf(paths)).toEqual([
      'ber-1 > 192.0.2.1: ber-1',
      'fra-1 > 192.0.2.1: fra-1',
      'par-1 > silent:par-1|: par-1',
      '192.0.2.1 > 192.0.2.9: ber-1 fra-1',
      '192.0.2.9 > silent:192.0.2.9|: ber-1 fra-1',
    ]);
    expect(endsOf(paths)).toEqual(['192.0.2.9 silent: ber-1 fra-1', 'par-1 silent: par-1']);
  });

  it('shows a router without its address as one', () => {
    const { nodes } = pathsOf({ 'fra-1': trace(['private 1 2', '192.0.2.9 5', target]) });

    expect(nodes[1]).toMatchObject({
      kind: 'private',
      ip: null,
      rttMin: 1,
      id: 'private:probe:fra-1|ip:192.0.2.9|1/1',
    });
  });

  it('links the routers of a hop whose flows are not distinguished, and says that it infers', () => {
    const paths = pathsOf({ 'fra-1': trace(['192.0.2.1/192.0.2.2 1 1', '192.0.2.8/192.0.2.9 2 2', target]) });

    expect(edgesOf(paths)).toEqual([
      'fra-1 > 192.0.2.1: fra-1',
      'fra-1 > 192.0.2.2: fra-1',
      '192.0.2.1 > 192.0.2.8: fra-1',
      '192.0.2.1 > 192.0.2.9: fra-1',
      '192.0.2.2 > 192.0.2.8: fra-1',
      '192.0.2.8 > 203.0.113.1: fra-1',
      '192.0.2.9 > 203.0.113.1: fra-1',
    ]);
    expect(paths.edges.map(({ inferred }) => inferred ?? false)).toEqual([false, false, true, true, true, true, true]);
  });

  /** Flows along these branches, three packets each: index of the responder at each hop, `-` for none. */
  function flowsOf(...branches: readonly string[]): NonNullable<Result<'traceroute'>['flows']> {
    return branches.map((branch) => {
      const hops = branch
        .split(' ')
        .map((index) => Array.from({ length: 3 }, () => (index === '-' ? null : Number(index))));
      const reached = !branch.endsWith('-');
      return { reached, stopReason: reached ? 'completed' : 'gap_limit', hops };
    });
  }

  it('follows each flow, and links nothing that none of them used', () => {
    const flows = flowsOf('0 0 0 0', '0 1 1 0', '0 0 0 0');
    const paths = pathsOf({
      'fra-1': trace(['192.0.2.1 1 1 1', '192.0.2.2/192.0.2.12 2 2 2', '192.0.2.3/192.0.2.13 3 3 3', `${target} 9`], {
        flows,
      }),
    });

    expect(edgesOf(paths)).toEqual([
      'fra-1 > 192.0.2.1: fra-1',
      '192.0.2.1 > 192.0.2.12: fra-1',
      '192.0.2.1 > 192.0.2.2: fra-1',
      '192.0.2.12 > 192.0.2.13: fra-1',
      '192.0.2.2 > 192.0.2.3: fra-1',
      '192.0.2.13 > 203.0.113.1: fra-1',
      '192.0.2.3 > 203.0.113.1: fra-1',
    ]);
    expect(paths.edges.some(({ inferred }) => inferred === true)).toBe(false);
  });

  it('shows the branch that is dead, and where', () => {
    const rows = ['192.0.2.1 1 1 1', '192.0.2.2/192.0.2.12 2 2 2', '192.0.2.3 * 3 3', `203.0.113.1 9 * 9`];
    const summary = summaryOf('traceroute', {
      'fra-1': trace(rows, { flows: flowsOf('0 0 0 0', '0 1 - -', '0 0 0 0') }),
    });

    expect(summary.verdict).toBe('degraded');
    expect(summary.findings.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      'flows_stop: Nothing comes back from beyond hop 2, 192.0.2.12 in AS64511 (Transit Net) for 1 of 3 flows of fra-1; ' +
        'the other flows go by other routers and reach the target. One of the ways behind hop 1, 192.0.2.1 in AS64511 (Transit Net) is broken.',
    ]);
    expect(edgesOf(summary.paths!)).toContain('192.0.2.12 > silent:192.0.2.12|: fra-1');
    expect(edgesOf(summary.paths!).join()).not.toContain('192.0.2.12 > 192.0.2.3');
    expect(endsOf(summary.paths!)).toEqual(['192.0.2.12 silent: fra-1', '203.0.113.1 reached: fra-1']);
  });

  it.each([
    ['at once', 2],
    ['when their TTL is greater than its hop', 3],
  ])('shows the branch that a router refuses %s, and by whom', (_when, hop) => {
    const rows = ['192.0.2.1 1 1 1', '192.0.2.2/192.0.2.12 2 2 2', '192.0.2.3/192.0.2.12 3 3 3', `203.0.113.1 9 9 9`];
    const flows = flowsOf('0 0 0 0', hop === 2 ? '0 1 - -' : '0 1 1 -', '0 0 0 0').map((flow) =>
      flow.reached ? flow : { ...flow, stopReason: 'unreachable' as const },
    );
    const traced = refusedAt(trace(rows, { flows }), hop, '192.0.2.12');
    const summary = summaryOf('traceroute', { 'fra-1': traced });

    expect(summary.verdict).toBe('degraded');
    expect(summary.findings.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      'flows_stop: A router said that a filter forbids the traffic (!X) to the packets of 1 of 3 flows of fra-1: hop 2, 192.0.2.12 in AS64511 (Transit Net); ' +
        'the other flows go by other routers and reach the target. One of the ways behind hop 1, 192.0.2.1 in AS64511 (Transit Net) is broken.',
    ]);
    expect(endsOf(summary.paths!)).toEqual(['192.0.2.12 refused: fra-1', '203.0.113.1 reached: fra-1']);
    expect(edgesOf(summary.paths!).join()).not.toContain('silent');
  });

  it.each([
    ['by no other', '192.0.2.1 > !192.0.2.12 4/4'],
    ['after it was seen as a router', '192.0.2.1 > 192.0.2.12 4/4|192.0.2.12 > !192.0.2.12 4/4'],
  ])('shows the way of a search that a router refuses, which leads on %s', (_how, links) => {
    const rows = ['192.0.2.1 1 1', '192.0.2.2/192.0.2.12 2 2', '192.0.2.3 3 3', target];
    const found = multipath(
      [
        'probe > 192.0.2.1 1/1',
        ...links.split('|'),
        '192.0.2.1 > 192.0.2.2 4/4',
        '192.0.2.2 > 192.0.2.3 6/6',
        '192.0.2.3 > 203.0.113.1 1/1',
      ],
      { '192.0.2.1': 'flow' },
    );
    const summary = summaryOf('traceroute', {
      'fra-1': refusedAt(trace(rows, { multipath: found, flows: flowsOf('0 0 0 0') }), 2, '192.0.2.12'),
    });

    expect(summary.verdict).toBe('degraded');
    expect(summary.findings.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      'flows_stop: One of the 2 ways found behind hop 1, 192.0.2.1 in AS64511 (Transit Net) is broken: hop 2, 192.0.2.12 in AS64511 (Transit Net) said that a filter forbids the traffic (!X), ' +
        'on the way from fra-1, while packets on other ways reach the target.',
    ]);
    expect(endsOf(summary.paths!)).toEqual(['192.0.2.12 refused: fra-1', '203.0.113.1 reached: fra-1']);
  });

  it('names a probe once of whose ways two are broken', () => {
    const rows = ['192.0.2.1 1 1', '192.0.2.2/192.0.2.12/192.0.2.13 2 2', target];
    const links = ['probe > 192.0.2.1 1/1', '192.0.2.1 > !192.0.2.12 4/4', '192.0.2.1 > !192.0.2.13 4/4'];
    const found = multipath([...links, '192.0.2.1 > 192.0.2.2 4/4', '192.0.2.2 > 203.0.113.1 1/1'], {
      '192.0.2.1': 'flow',
    });
    const { findings } = summaryOf('traceroute', {
      'fra-1': refusedAt(trace(rows, { multipath: found, flows: flowsOf('0 0 0') }), 2, '192.0.2.12'),
    });

    expect(findings.map(({ code, probes }) => [code, probes])).toEqual([['flows_stop', ['fra-1']]]);
    expect(findings[0]!.text).toMatch(/^2 of the 3 ways found .* on the way from fra-1, while/);
  });

  it('says that others passed a router that refuses packets only if they did', () => {
    const rows = ['192.0.2.1 1 1', '192.0.2.2/192.0.2.12 2 2', '192.0.2.3 3 3', target];
    const textOf = (refuser: string): string =>
      summaryOf('traceroute', {
        'fra-1': refusedAt(trace(rows, { flows: flowsOf('0 0 0 0', '0 - 0 0') }), 2, refuser),
      }).findings.find(({ code }) => code === 'path_refused')!.text;

    expect(textOf('192.0.2.2')).toMatch(/: hop 2, 192\.0\.2\.2 .*Others passed it\.$/);
    expect(textOf('192.0.2.12')).toMatch(/: hop 2, 192\.0\.2\.12 .*Others reached the target\.$/);
  });

  it.each([
    ['16 flows with one packet each, 7 of which end', 16, 1, 7],
    ['8 flows with two packets each, 3 of which end', 8, 2, 3],
  ])('proves a dead branch by all its flows together: %s', (_what, flows, queries, dead) => {
    // Over UDP the packets to the target prove nothing, since it may rate-limit its answers.
    const branches = Array.from({ length: flows }, (_, flow) => (flow < dead ? '0 1 1 - -' : '0 0 0 0 0'));
    const own = flowsOf(...branches).map((flow) => ({ ...flow, hops: flow.hops.map((one) => one.slice(0, queries)) }));
    const row = (hop: number): string =>
      own.flatMap((flow) => flow.hops[hop - 1]!.map((one) => (one === null ? '*' : '5'))).join(' ');
    const rows = ['192.0.2.1', '192.0.2.2/192.0.2.12', '192.0.2.3/192.0.2.13', '192.0.2.4', '203.0.113.1'];
    const summary = summaryOf('traceroute', {
      'fra-1': trace(
        rows.map((ips, index) => `${ips} ${row(index + 1)}`),
        { flows: own, protocol: 'udp' },
      ),
    });

    expect(summary.verdict).toBe('degraded');
    expect(summary.findings.map(({ code, text }) => `${code}: ${text}`)).toEqual([
      expect.stringMatching(
        `^flows_stop: Nothing comes back from beyond hop 3, 192.0.2.13 in .* for ${dead} of ${flows} flows of fra-1; the other flows go by other routers and reach`,
      ),
    ]);
  });

  it('proves a dead branch by all its flows together, whichever of its two routers answered each first', () => {
    const alive = Array.from({ length: 6 }, () => [0, 0, 0, 0, 0].map((index) => [index, index]));
    const dead = [
      [1, 2],
      [2, 1],
    ].map((last) => [[0, 0], [1, 1], last, [null, null], [null, null]]);
    const own = [...dead, ...alive].map((hops) => {
      const reached = hops.at(-1)![0] !== null;
      return { reached, stopReason: reached ? ('completed' as const) : ('gap_limit' as const), hops };
    });
    const row = (hop: number): string =>
      own.flatMap(({ hops }) => hops[hop - 1]!.map((one) => (one === null ? '*' : '5'))).join(' ');
    const rows = ['192.0.2.1', '192.0.2.2/192.0.2.12', '192.0.2.3/192.0.2.13/192.0.2.23', '192.0.2.4', '203.0.113.1'];
    const summary = summaryOf('traceroute', {
      'fra-1': trace(
        rows.map((ips, index) => `${ips} ${row(index + 1)}`),
        { flows: own, protocol: 'udp' },
      ),
    });

    expect(summary.findings.map(({ code, text }) => `${code}: ${text.split(';', 1)[0]!}`)).toEqual([
      'flows_stop: Nothing comes back from beyond hop 3, 192.0.2.13 in AS64511 (Transit Net) for 1 of 8 flows of fra-1',
      'flows_stop: Nothing comes back from beyond hop 3, 192.0.2.23 in AS64511 (Transit Net) for 1 of 8 flows of fra-1',
    ]);
  });

  it('calls no branch dead of which chance may have lost the packets', () => {
    const rows = ['192.0.2.1 1 1', '192.0.2.2/192.0.2.12 2 2', '203.0.113.1 9 *'];
    const once = flowsOf('0 0 0', '0 1 -').map((flow) => ({ ...flow, hops: flow.hops.map(([one]) => [one!]) }));
    const summary = summaryOf('traceroute', { 'fra-1': trace(rows, { flows: once }) });

    expect([summary.verdict, ...summary.findings.map(({ code }) => code)]).toEqual(['up']);
  });

  it('calls no branch dead by whose routers other flows reach the target', () => {
    const rows = ['192.0.2.1 1 1 1', '192.0.2.2 2 2 2', '203.0.113.1 9 * *'];
    const summary = summaryOf('traceroute', {
      'fra-1': trace(rows, { protocol: 'udp', flows: flowsOf('0 0 0', '0 0 -', '0 0 -') }),
    });

    expect([summary.verdict, ...summary.findings.map(({ code }) => code)]).toEqual(['up']);
    expect(edgesOf(summary.paths!)).toEqual([
      'fra-1 > 192.0.2.1: fra-1',
      '192.0.2.1 > 192.0.2.2: fra-1',
      '192.0.2.2 > 203.0.113.1: fra-1',
    ]);
  });

  it.each([
    [
      'a circle',
      trace(['192.0.2.1 1', '192.0.2.2 2', '192.0.2.1 3', '192.0.2.2 4'], { loop: { start: 1, length: 2 } }),
      '192.0.2.1 loop: fra-1',
    ],
    ['a refusal of packets that would have gone further', tooBig(), '192.0.2.2 refused: fra-1'],
    ['a refusal', trace(['192.0.2.1 1', '192.0.2.2 2 !X']), '192.0.2.2 refused: fra-1'],
    [
      'what is not known yet',
      { ...trace(['192.0.2.1 1', '*']), result: 'pending' as const },
      '192.0.2.1 pending: fra-1',
    ],
  ])('ends in %s', (_reason, path, expected) => {
    const paths = pathsOf({ 'fra-1': path });

    expect(endsOf(paths)).toEqual([expected]);
    expect(paths.nodes.filter(({ kind }) => kind === 'silent')).toEqual([]);
  });

  it('follows the number of the hops, in whatever order they are', () => {
    const path = trace(['192.0.2.1 1', '192.0.2.2 2', target]);

    const paths = pathsOf({ 'fra-1': { ...path, hops: path.hops!.toReversed() } });

    expect(paths).toEqual(pathsOf({ 'fra-1': path }));
  });

  it('has the canonical path of each probe, with one hash for equal ones', () => {
    const path = ['198.51.100.1 1', '* *', '192.0.2.2/192.0.2.1 5 6', '203.0.113.1 9', '* *'];
    const equal = ['198.51.100.1 7', '* *', '192.0.2.1/192.0.2.2 3 4', '203.0.113.1 2'];
    const other = ['198.51.100.1 1', '* *', '192.0.2.1 5', '203.0.113.1 9'];

    const { canonical = {} } = pathsOf({ 'fra-1': trace(path), 'nyc-1': trace(equal), 'syd-1': trace(other) });

    expect(canonical['fra-1']).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      hops: [['198.51.100.1'], [], ['192.0.2.1', '192.0.2.2'], ['203.0.113.1']],
    });
    expect(canonical['nyc-1']).toEqual(canonical['fra-1']);
    expect(canonical['syd-1']!.hash).not.toBe(canonical['fra-1']!.hash);
  });

  it('has a router that refused the packets to later hops once in the canonical path', () => {
    const { canonical = {} } = pathsOf({ 'fra-1': tooBig(), 'nyc-1': trace(['192.0.2.1 1', '192.0.2.2 2', '* *']) });

    expect(canonical['fra-1']!.hops).toEqual([['192.0.2.1'], ['192.0.2.2']]);
    expect(canonical['fra-1']!.hash).toBe(canonical['nyc-1']!.hash);
  });

  it('has a router twice in the canonical path that is at a later hop of another flow', () => {
    const traced = trace(['192.0.2.1/192.0.2.3 1 1', '192.0.2.3/192.0.2.2 2 2 !X']);
    const hops = traced.hops!.map((hop) =>
      hop.icmp === null ? hop : { ...hop, icmp: { ...hop.icmp, from: '192.0.2.3' } },
    );
    const flows = [
      [[0], [0]],
      [[1], [1]],
    ].map((own) => ({
      reached: false,
      stopReason: 'unreachable' as const,
      hops: own,
    }));

    const { canonical = {} } = pathsOf({ 'fra-1': { ...traced, hops, flows } });

    expect(canonical['fra-1']!.hops).toEqual([
      ['192.0.2.1', '192.0.2.3'],
      ['192.0.2.2', '192.0.2.3'],
    ]);
  });

  it('has nothing of a probe without hops, and is there for traceroutes alone', () => {
    expect(pathsOf({ 'fra-1': broken('probe_offline') })).toEqual({
      nodes: [],
      edges: [],
      ends: [],
      canonical: {},
    });
    expect(summaryOf('ping', {})).not.toHaveProperty('paths');
  });
});

describe('the graph of a search for all paths', () => {
  const hops = ['198.51.100.1 1 1', '192.0.2.1/192.0.2.2 5 6', '192.0.2.3 7 7', target];
  const diamond = [
    'probe > 198.51.100.1 2/2',
    '198.51.100.1 > 192.0.2.1 7/7',
    '198.51.100.1 > 192.0.2.2 5/6',
    '192.0.2.1 > 192.0.2.3 6/6',
    '192.0.2.2 > 192.0.2.3 6/6',
    '192.0.2.3 > 203.0.113.1 6/6',
  ];
  const withPackets = ({ edges }: Paths): readonly string[] =>
    edges.map(({ from, to, sent, received, inferred }) =>
      [`${short(from)} > ${short(to)}`, sent === undefined ? 'none' : `${received}/${sent}`, inferred ? 'inferred' : '']
        .join(' ')
        .trim(),
    );

  it('has the links that packets took, with their packets, and how routers balance', () => {
    const paths = pathsOf({ 'fra-1': trace(hops, { multipath: multipath(diamond, { '198.51.100.1': 'flow' }) }) });

    expect(withPackets(paths)).toEqual([
      'fra-1 > 198.51.100.1 2/2',
      '198.51.100.1 > 192.0.2.1 7/7',
      '198.51.100.1 > 192.0.2.2 5/6',
      '192.0.2.1 > 192.0.2.3 6/6',
      '192.0.2.2 > 192.0.2.3 6/6',
      '192.0.2.3 > 203.0.113.1 6/6',
    ]);
    expect(paths.nodes.flatMap(({ ip, balances, asn }) => (balances ? [[ip, balances, asn]] : []))).toEqual([
      ['198.51.100.1', 'flow', 'AS64510'],
    ]);
    expect(endsOf(paths)).toEqual(['203.0.113.1 reached: fra-1']);
  });

  it('adds up the packets of several probes, and is in doubt about a balancer that they see differently', () => {
    const of = (kind: 'flow' | 'packet') => trace(hops, { multipath: multipath(diamond, { '198.51.100.1': kind }) });
    const paths = pathsOf({ 'fra-1': of('flow'), 'ber-1': of('packet') });

    const edge = paths.edges.find(({ from, to }) => short(from) === '198.51.100.1' && short(to) === '192.0.2.2');
    expect(edge).toMatchObject({ probes: ['ber-1', 'fra-1'], sent: 12, received: 10 });
    expect(paths.nodes.find(({ ip }) => ip === '198.51.100.1')?.balances).toBe('unknown');
  });

  it('claims no link between hops that a per-packet balancer chooses from', () => {
    const cloud = [...diamond.slice(0, 3), '192.0.2.4 > 192.0.2.3 6/6', '192.0.2.5 > 192.0.2.3 6/6', diamond[5]!];
    const found = multipath(
      [...cloud.slice(0, 3), 'probe > 192.0.2.4 0/0', 'probe > 192.0.2.5 0/0', ...cloud.slice(3)],
      {
        '198.51.100.1': 'packet',
      },
    );
    const nodes = found.nodes.map((node) =>
      ['192.0.2.4', '192.0.2.5'].includes(node.ip!) ? { ...node, hop: 3 } : node,
    );
    const links = found.links.filter(({ sent }) => sent > 0);
    const paths = pathsOf({ 'fra-1': trace(hops, { multipath: { ...found, nodes, links } }) });

    expect(withPackets(paths).filter((text) => !text.includes('inferred'))).toEqual([
      'fra-1 > 198.51.100.1 2/2',
      '198.51.100.1 > 192.0.2.1 7/7',
      '198.51.100.1 > 192.0.2.2 5/6',
      '192.0.2.3 > 203.0.113.1 6/6',
    ]);
    const targets = new Set(paths.edges.map(({ to }) => to));
    expect(paths.nodes.filter(({ id, kind }) => kind !== 'probe' && !targets.has(id))).toEqual([]);
  });

  it('has the end of a broken way, and one node for the silence beyond', () => {
    const broken = [...diamond.slice(0, 4), '192.0.2.2 > *1 0/9', '*1 > *2 0/9', diamond[5]!];
    const paths = pathsOf({
      'fra-1': trace(hops, { multipath: multipath(broken, { '198.51.100.1': 'flow', '192.0.2.2': 'broken' }) }),
    });

    expect(endsOf(paths)).toEqual(['192.0.2.2 silent: fra-1', '203.0.113.1 reached: fra-1']);
    expect(paths.edges.filter(({ from }) => short(from) === '192.0.2.2')).toMatchObject([
      { to: 'silent:ip:192.0.2.2|', sent: 9, received: 0 },
    ]);
  });

  it('survives links of hostile agents', () => {
    const found = multipath(diamond);
    const links = [...found.links, { ...found.links[0]!, from: 600, to: 601 }, { ...found.links[3]!, from: 3, to: 1 }];
    const silent = found.nodes.map((node) => ({ ...node, ip: null, kind: 'silent' as const }));

    for (const nodes of [found.nodes, silent, []]) {
      const paths = pathsOf({ 'fra-1': trace(hops, { multipath: { ...found, nodes, links } }) });
      const ids = new Set(paths.nodes.map(({ id }) => id));
      for (const { from, to } of paths.edges)
        expect([ids.has(from), ids.has(to), from === to]).toEqual([true, true, false]);
    }
  });
});
