import { describe, expect, it } from '@jest/globals';

import type { Traceroute } from '../../netlab/test-lab.ts';
import { PROBES } from '../addresses.ts';
import { caseOf } from '../compile.ts';
import type { Passage } from '../log.ts';
import type { CaseRun } from '../run-cases.ts';
import { router, routers, type Scenario } from '../scenario.ts';
import { verifyCase } from './verify-case.ts';

type Hop = NonNullable<Traceroute['hops']>[number];
type Change = (traced: Traceroute, hops: Hop[]) => object;

const ENDED_MS = 1_000;

/**
 * A run over three routers in which every packet is answered after two milliseconds per hop, and the result is
 * correct.
 */
function trueRun(scenario: Scenario, change: Change = (traced) => traced): CaseRun {
  const of = caseOf(scenario, 0, 4, 'udp');
  const shares = PROBES.map((_, probe) => {
    const trail = [of.entries[0]![probe]!];
    while (trail.length < 4) trail.push(of.places[trail.at(-1)!]!.next[0]!);
    const addresses = trail.map((node) => of.places[node]!.addresses[0]!);
    const passages = [1, 2, 3, 4].flatMap((ttl) => [0, 1, 2].map((number) => passage(trail, addresses, ttl, number)));
    const hops = addresses.map((ip, index) => hopOf(index + 1, ip));
    const traced = {
      result: 'success',
      rt: 8,
      error: null,
      reached: true,
      resolvedIp: of.address,
    } as unknown as Traceroute;
    const correct = { ...traced, hops, stopReason: 'completed', pathMtu: 1_500, loop: null } as Traceroute;
    return {
      probe,
      outcome: change(correct, hops) as CaseRun['shares'][number]['outcome'],
      endedMs: ENDED_MS,
      passages,
    };
  });
  return { of, shares };
}

function passage(trail: readonly number[], addresses: readonly string[], ttl: number, number: number): Passage {
  const what = ttl === 4 ? ('reply' as const) : ('exceeded' as const);
  return {
    atMs: number,
    protocol: 17,
    conversation: '40000>33434',
    label: 0,
    number,
    ttl,
    bytes: 60,
    trail: trail.slice(0, ttl),
    fate: ttl === 4 ? 'arrived' : 'expired',
    answers: [{ atMs: number + ttl * 2, from: addresses[ttl - 1]!, what, isSound: true }],
  };
}

function hopOf(hop: number, ip: string): Hop {
  const rtts = [hop * 2 + 0.1, hop * 2 + 0.2, hop * 2 + 0.1];
  const who = { ip, private: false, hostname: null, hostnameVerified: null, asn: null, asName: null };
  return { hop, ...who, latency: rtts[0]!, rtts, responders: [{ ...who, rtts }], mpls: [], icmp: null };
}

const plain: Scenario = { name: 'plain', path: routers(3) };
const withHop = (hops: readonly Hop[], at: number, hop: Partial<Hop>): readonly Hop[] =>
  hops.map((one, index) => (index === at ? { ...one, ...hop } : one));

const silentHop: Partial<Hop> = { ip: null, latency: null, rtts: [null, null, null], responders: [] };

describe('the judge', () => {
  it('has nothing against the truth', () => {
    expect(verifyCase(trueRun(plain))).toEqual([]);
  });

  it.each<[reason: string, kind: string, change: Change]>([
    [
      'a router that did not answer',
      'hop',
      (traced, hops) => ({ ...traced, hops: withHop(hops, 1, hopOf(2, '62.0.0.77')) }),
    ],
    ['a hop that is left out', 'hop', (traced, hops) => ({ ...traced, hops: hops.toSpliced(1, 1) })],
    ['a router that is not shown', 'hop', (traced, hops) => ({ ...traced, hops: withHop(hops, 1, silentHop) })],
    ['answers called lost', 'loss', (traced, hops) => ({ ...traced, hops: withHop(hops, 1, silentHop) })],
    [
      'a round trip that is too short',
      'rtt',
      (traced, hops) => ({ ...traced, hops: withHop(hops, 1, { ...hopOf(1, hops[1]!.ip!), hop: 2 }) }),
    ],
    [
      'rows behind the target',
      'hop',
      (traced, hops) => ({ ...traced, hops: [...hops, { ...hops[3]!, ...silentHop, hop: 5 }] }),
    ],
    ['a target that is not reached', 'reached', (traced) => ({ ...traced, reached: false })],
    ['another reason to stop', 'stop', (traced) => ({ ...traced, stopReason: 'gap_limit' })],
    ['another path MTU', 'mtu', (traced) => ({ ...traced, pathMtu: 1_400 })],
    [
      'a failure where there is none',
      'accusation',
      (traced) => ({
        ...traced,
        result: 'timeout',
        error: { code: 'timed_out', phase: 'response', source: 'network', message: '' },
      }),
    ],
    [
      'a failure where there is none, by the verdict',
      'verdict',
      (traced) => ({
        ...traced,
        result: 'timeout',
        error: { code: 'timed_out', phase: 'response', source: 'network', message: '' },
      }),
    ],
    [
      'routers in another order',
      'link',
      (traced, hops) => ({ ...traced, hops: [hops[0]!, hopOf(2, hops[2]!.ip!), hopOf(3, hops[1]!.ip!), hops[3]!] }),
    ],
  ])('sees %s', (_, kind, change) => {
    expect(verifyCase(trueRun(plain, change)).map((complaint) => complaint.kind)).toContain(kind);
  });

  it('misses the finding that has to be there', () => {
    const broken: Scenario = { ...plain, truth: { finds: [{ code: 'path_loss', hop: 2 }], verdicts: ['degraded'] } };

    expect(verifyCase(trueRun(broken)).map(({ kind }) => kind)).toEqual(['missed', 'verdict']);
  });

  it('sees a finding that names another place', () => {
    const refused: Scenario = {
      name: 'refused',
      path: [...routers(2), router()],
      truth: { may: [{ code: 'path_mtu_small', hop: 3 }] },
    };
    const complaints = verifyCase(trueRun(refused, (traced) => ({ ...traced, pathMtu: 1_400 })));

    expect(complaints.map(({ kind }) => kind)).toContain('place');
  });
});
