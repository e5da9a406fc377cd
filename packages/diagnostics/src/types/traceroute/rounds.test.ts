import { describe, expect, it } from '@jest/globals';
import { ruleErrors } from '@vantage/contract';

import {
  answerOfTarget,
  arrived,
  expired,
  ofTrace,
  path,
  router,
  TARGET,
  traceOver,
  unreachable,
  virtualTrace,
} from '../../../test/trace-network.ts';
import { FAKE_SOURCES, fakePackets, type FakeSent } from '../../../test/fake-packets.ts';
import { MAX_PACKETS, traceroute } from './contract.ts';
import { description } from './describe.ts';
import { FULL_TTL } from './result-fields.ts';

describe('rounds of a traceroute', () => {
  it('send one packet a second to each hop, and no more to the target', async () => {
    const sentAt: [ttl: number, atMs: number][] = [];
    const { outcome, partials } = await traceOver(
      path(5, ({ ttl, packet }) => {
        if (packet.length < 200) sentAt.push([ttl, performance.now()]);
        return undefined;
      }),
      { rounds: 10 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed', rounds: 10 });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([1, 2, 3, 4].map(router).concat(TARGET));
    for (const { hop, stats, rtts } of outcome.hops!) {
      expect(rtts).toHaveLength(10);
      expect(stats).toEqual({
        sent: 10,
        received: 10,
        loss: 0,
        rttMin: hop,
        rttAvg: hop,
        rttMax: hop,
        rttStdDev: 0,
        jitter: 0,
      });
    }
    const toTarget = sentAt.filter(([ttl]) => ttl === 5).map(([, atMs]) => atMs);
    expect(toTarget).toHaveLength(10);
    for (let i = 2; i < 10; i += 1) expect(toTarget[i]! - toTarget[i - 1]!).toBeCloseTo(1_000, -2);
    const seen = partials.map((state) => (state as typeof outcome).hops?.[4]?.stats?.sent ?? 0);
    expect(new Set(seen)).toEqual(new Set(Array.from({ length: 11 }, (_, count) => count)));
  });

  it.each([
    ['are an error of the probe whose next hop ceases to answer', FAKE_SOURCES[4], 'host_unreachable', 'error'],
    ['have a target that a router ceases to reach', router(1), null, 'success'],
  ] as const)('%s', async (_what, sender, code, result) => {
    let answered = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.packet.length < 200 && answered >= 4) return [unreachable(sent, 1, sender)];
        if (sent.ttl === 3) answered += 1;
        return undefined;
      }),
      { rounds: 12 },
    );

    expect({ result: outcome.result, code: outcome.error?.code ?? null }).toEqual({ result, code });
    expect(outcome.reached).toBe(true);
  });

  it('are an error of the probe if its next hop never answers, and its kernel reports only the first packets', async () => {
    let sent = 0;
    const { outcome } = await traceOver(
      (packet) => ((sent += 1) > 3 ? [] : [{ ...unreachable(packet, 1, FAKE_SOURCES[4]), rttMs: 3_100 }]),
      { queries: 3, maxHops: 30 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'host_unreachable', source: 'probe' } });
  });

  const noRoute = Object.assign(new Error('no'), { code: 'ENETUNREACH' });
  const unsent = (): never => {
    throw noRoute;
  };

  it.each([
    ['its kernel refuses to send', unsent],
    ['its next hop does not answer', (sent: FakeSent) => [unreachable(sent, 1, FAKE_SOURCES[4])]],
  ] as const)('lose no packets that do not leave the probe for some rounds because %s', async (_why, away) => {
    let toTarget = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.packet.length >= 200) return undefined;
        if (sent.ttl === 3) toTarget += 1;
        return toTarget > 4 && toTarget < 9 ? away(sent) : undefined;
      }),
      { rounds: 12 },
    );

    expect(outcome).toMatchObject({ result: 'success', rounds: 12 });
    expect(outcome.roundsLeftOut).toBeGreaterThanOrEqual(4);
    expect(outcome.hops?.map(({ ip, stats, icmp }) => [ip, stats?.loss, icmp])).toEqual([
      [router(1), 0, null],
      [router(2), 0, null],
      [TARGET, 0, null],
    ]);
  });

  it('are an error of a probe whose kernel ceases to send, with what they measured', async () => {
    let toTarget = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.ttl === 3) toTarget += 1;
        return toTarget > 4 && sent.packet.length < 200 ? unsent() : undefined;
      }),
      { rounds: 12 },
    );

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'network_unreachable', source: 'probe' } });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([router(1), router(2), TARGET]);
  });

  it('have a target that fell silent if only the last packet did not leave the probe', async () => {
    const forbidden = Object.assign(new Error('no'), { code: 'EPERM' });
    let toTarget = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.ttl < 3 || sent.packet.length >= 200) return undefined;
        if (sent.ttl === 3) toTarget += 1;
        if (toTarget === 12) throw forbidden;
        return toTarget > 4 ? [] : undefined;
      }),
      { rounds: 12 },
    );

    expect(outcome).toMatchObject({ result: 'success', error: null, reached: true });
    expect(outcome.hops?.[2]?.stats?.loss).toBeGreaterThan(0.3);
  });

  it('are no error of a probe whose next hop answers again', async () => {
    let full = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.ttl < 3 || sent.packet.length >= 200) return undefined;
        full += 1;
        if (full === 5) return [unreachable(sent, 1, FAKE_SOURCES[4])];
        return full > 10 ? [] : undefined;
      }),
      { rounds: 12 },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true });
  });

  it.each([
    ['are interrupted if the probe has another address since then', 'udp', '192.0.2.2', 'probe_interrupted', 'error'],
    ['of echo requests go on from another address over IPv4', 'icmp', '192.0.2.2', null, 'success'],
    ['end a target that fell silent', 'udp', FAKE_SOURCES[4], null, 'success'],
  ] as const)('%s', async (_what, protocol, later, code, result) => {
    let answered = 0;
    const isOver = (): boolean => answered >= 4;
    const fake = fakePackets(
      path(3, (sent) => {
        if (sent.ttl < 3 || sent.packet.length >= 200) return undefined;
        if (isOver()) return [];
        if (sent.ttl === 3) answered += 1;
        return [answerOfTarget(sent)];
      }),
      true,
    );
    const packets = { ...fake, sourceFor: async () => (isOver() ? later : FAKE_SOURCES[4]) };

    const outcome = await virtualTrace({ packets }, { protocol, rounds: 12 });

    expect({ result: outcome.result, code: outcome.error?.code ?? null }).toEqual({ result, code });
    expect(outcome.hops).toHaveLength(3);
  });

  it('count loss and spread of each hop', async () => {
    const sent = new Map<number, number>();
    const { outcome } = await traceOver(
      path(3, (one) => {
        if (one.packet.length >= 200) return undefined;
        const number = (sent.get(one.ttl) ?? 0) + 1;
        sent.set(one.ttl, number);
        if (one.ttl === 2) return number % 2 === 0 ? [] : undefined;
        return one.ttl === 3 ? [arrived(one, number % 2 === 0 ? 30 : 10)] : undefined;
      }),
      { rounds: 8 },
      { inTime: true },
    );

    expect(outcome.hops?.[1]?.stats).toMatchObject({ sent: 8, received: 4, loss: 0.5 });
    expect(outcome.hops?.[1]?.rtts).toEqual([2, null, 2, null, 2, null, 2, null]);
    expect(outcome.hops?.[2]?.stats).toMatchObject({ sent: 8, received: 8, loss: 0, rttMin: 10, rttMax: 30 });
    expect(outcome.hops?.[2]?.stats?.jitter).toBe(20);
    // Standard deviation of the sample (n - 1), as in mtr.
    expect(outcome.hops?.[2]?.stats?.rttStdDev).toBeCloseTo(10 * Math.sqrt(8 / 7), 2);
  });

  it('take turns among routers if the packets of a check do not suffice', async () => {
    const { outcome, fake } = await traceOver(path(25), { rounds: 60 }, { budgetMs: 90_000 });

    const sent = outcome.hops!.map(({ stats }) => stats!.sent);
    expect(sent.at(-1)).toBe(60);
    const ofRouters = sent.slice(0, -1);
    expect(Math.max(...ofRouters) - Math.min(...ofRouters)).toBeLessThanOrEqual(1);
    expect(Math.min(...ofRouters)).toBeGreaterThan(15);
    expect(fake.sent.length).toBeLessThanOrEqual(MAX_PACKETS);
    const rounds = ofTrace(fake).length;
    expect(rounds).toBeGreaterThan(MAX_PACKETS - 100);
  });

  it('reach a target that begins to answer during them', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      (one) => {
        if (one.ttl < 4) return [expired(one, router(one.ttl))];
        if (one.ttl !== 4 || one.packet.length >= 200) return [];
        count += 1;
        return count > 3 ? [arrived(one, 4)] : [];
      },
      { rounds: 10, maxHops: 8 },
    );

    expect(outcome).toMatchObject({
      result: 'success',
      reached: true,
      stopReason: 'completed',
      error: null,
      rounds: 10,
    });
    expect(outcome.hops?.[3]).toMatchObject({ ip: TARGET, stats: { received: 7 } });
    expect(outcome.hops).toHaveLength(4);
  });

  it('leave a reply after four seconds a lost packet', async () => {
    const { outcome } = await traceOver(
      path(3, (one) => (one.ttl === 1 && one.packet.length < 200 ? [expired(one, router(1), 4_500)] : undefined)),
      { rounds: 10 },
      { inTime: true },
    );

    expect(outcome.hops?.[0]?.rtts.slice(1)).toEqual(Array(9).fill(null));
    expect(outcome.hops?.[2]?.stats).toMatchObject({ sent: 10, received: 10 });
  });

  it.each(['udp', 'tcp'] as const)('know the replies by %s', async (protocol) => {
    const { outcome } = await traceOver(
      (one) => (one.ttl < 3 ? [expired(one, router(one.ttl))] : one.protocol === 'icmp' ? [arrived(one)] : []),
      { rounds: 5, protocol, maxHops: 6 },
      { inTime: true },
    );

    expect(outcome.hops?.slice(0, 2).map(({ stats }) => stats)).toMatchObject(
      [1, 2].map((rttMax) => ({ sent: 5, received: 5, rttMax })),
    );
  });

  it('are absent unless requested', async () => {
    const { outcome } = await traceOver(path(3));

    expect(outcome).not.toHaveProperty('rounds');
    expect(outcome.hops?.[0]).not.toHaveProperty('stats');
  });
});

describe('rounds in which a router refuses packets to a target that answered others', () => {
  /** A path on which the router at `hop` refuses, in some rounds, the packets that go beyond it. */
  const refusing = (hop: number, code: number, isRefused: (number: number) => boolean) => {
    const sent = new Map<number, number>();
    return path(4, (one) => {
      if (one.packet.length >= 200 || one.ttl <= hop) return undefined;
      const number = (sent.get(one.ttl) ?? 0) + 1;
      sent.set(one.ttl, number);
      return isRefused(number) ? [unreachable(one, code, router(hop))] : undefined;
    });
  };
  const lost = (count: number): null[] => Array<null>(count).fill(null);

  it.each([
    [1, '!H'],
    [0, '!N'],
    [13, '!X'],
  ])('count these as lost, and keep the error: code %i', async (code, mark) => {
    const { outcome, partials } = await traceOver(
      refusing(3, code, (number) => number > 5),
      { rounds: 12 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed', rt: 4 });
    const target = outcome.hops!.at(-1)!;
    expect(target).toMatchObject({
      ip: TARGET,
      latency: 4,
      rtts: [...Array<number>(5).fill(4), ...lost(7)],
      stats: { sent: 12, received: 5, loss: 0.583, rttMin: 4, rttMax: 4 },
      icmp: { mark, from: router(3), count: 7 },
    });
    expect(target.responders.map(({ ip }) => ip)).toEqual([TARGET]);
    expect(outcome.flows?.[0]?.hops[3]).toEqual([...Array<number>(5).fill(0), ...lost(7)]);
    const live = partials.map((state) => (state as typeof outcome).hops?.[3]);
    expect(live.filter((row) => row !== undefined && row.ip !== TARGET)).toEqual([]);
    expect(Math.min(...live.map((row) => row?.stats?.received ?? 0).slice(-3))).toBe(5);
  });

  it('count the target again when it comes back', async () => {
    const { outcome } = await traceOver(
      refusing(3, 1, (number) => number > 4 && number < 8),
      { rounds: 10 },
      { inTime: true },
    );

    expect(outcome.hops?.at(-1)?.rtts).toEqual([4, 4, 4, 4, ...lost(3), 4, 4, 4]);
    expect(outcome.hops?.at(-1)).toMatchObject({ stats: { sent: 10, received: 7 }, icmp: { count: 3 } });
  });

  it('do not count the error of a router at another hop', async () => {
    const { outcome } = await traceOver(
      refusing(2, 10, (number) => number > 5),
      { rounds: 12 },
      { inTime: true },
    );

    for (const [hop, ip] of [
      [3, router(3)],
      [4, TARGET],
    ] as const) {
      const row = outcome.hops![hop - 1]!;
      expect(row).toMatchObject({ ip, stats: { sent: 12, received: 5 }, icmp: { from: router(2), count: 7 } });
      expect(row.responders).toHaveLength(1);
    }
    expect(outcome.hops?.[1]).toMatchObject({ stats: { sent: 12, received: 12 }, icmp: null });
  });
});

describe('rounds over a balancer that takes two ways in turn', () => {
  /** Hop 1 balances packets over two paths. If `isDead`, the first router of the second path passes nothing on. */
  const inTurn = (length: number, isDead: boolean) => {
    let turn = 0;
    return path(length, (one) => {
      if (one.ttl === 1) return undefined;
      turn += 1;
      if (isDead && turn % 2 === 0 && one.ttl > 2) return [];
      return one.ttl < length ? [expired(one, router(10 * one.ttl + (turn % 2)))] : undefined;
    });
  };

  it.each([5, 6, 7, 8])('show both routers of each hop, %i hops', async (length) => {
    const { outcome } = await traceOver(inTurn(length, false), { rounds: 20 }, { inTime: true });

    for (const { responders } of outcome.hops!.slice(1, -1)) {
      expect(Math.min(...responders.map(({ rtts }) => rtts.length))).toBeGreaterThanOrEqual(3);
      expect(responders).toHaveLength(2);
    }
  });

  it.each([5, 6, 7, 8])('lose packets at all hops if one way is dead, %i hops', async (length) => {
    const { outcome } = await traceOver(inTurn(length, true), { rounds: 20, maxHops: 12 }, { inTime: true });

    expect(outcome.hops).toHaveLength(length);
    for (const { stats } of outcome.hops!.slice(2)) {
      expect(stats!.received).toBeGreaterThanOrEqual(3);
      expect(stats!.sent - stats!.received).toBeGreaterThanOrEqual(3);
    }
  });
});

describe('rounds over a path that becomes longer or shorter', () => {
  /** A path whose target moves to another hop at some round; each hop gets one packet a round. */
  const moving = (lengthIn: (round: number) => number) => {
    let round = 0;
    return path(0, (one) => {
      if (one.packet.length >= 200) return [];
      if (one.ttl === 1) round += 1;
      const length = lengthIn(Math.max(1, round));
      return [one.ttl < length ? expired(one, router(one.ttl)) : arrived(one, length)];
    });
  };
  const rows = ({ hops = [] }: Awaited<ReturnType<typeof traceOver>>['outcome']) =>
    hops.map(({ responders, stats }) => [
      responders.map(({ ip }) => (ip === TARGET ? 'target' : ip)).join(' '),
      `${stats!.received}/${stats!.sent}`,
    ]);

  it('follow the target to a hop that is farther', async () => {
    const { outcome } = await traceOver(
      moving((round) => (round < 5 ? 3 : 5)),
      { rounds: 12 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(rows(outcome)).toEqual([
      [router(1), '12/12'],
      [router(2), '12/12'],
      [`${router(3)} target`, '12/12'],
      [router(4), '7/7'],
      ['target', '6/6'],
    ]);
    expect(outcome.targetHops).toEqual([
      { hop: 3, round: 1, sent: 4, received: 4 },
      { hop: 5, round: 7, sent: 6, received: 6 },
    ]);
  });

  it('follow the target to a hop that is nearer, and ask no hop beyond it', async () => {
    const { outcome } = await traceOver(
      moving((round) => (round < 5 ? 5 : 3)),
      { rounds: 12 },
      { inTime: true },
    );

    expect(rows(outcome)).toEqual([
      [router(1), '12/12'],
      [router(2), '12/12'],
      [`target ${router(3)}`, '12/12'],
      [`${router(4)} target`, '5/5'],
      ['target', '5/5'],
    ]);
    expect(outcome.targetHops).toEqual([
      { hop: 5, round: 1, sent: 4, received: 4 },
      { hop: 3, round: 5, sent: 8, received: 8 },
    ]);
  });

  it('show the routers of a circle into which the packets get, and none of their answers as the target’s', async () => {
    let round = 0;
    const circleIn = (rounds: readonly number[]) =>
      traceOver(
        path(0, (one) => {
          if (one.packet.length >= 200) return [];
          if (one.ttl === 1) round += 1;
          if (one.ttl < 3) return [expired(one, router(one.ttl))];
          return [rounds.includes(round) ? expired(one, router(1 + ((one.ttl - 1) % 2))) : arrived(one, 3)];
        }),
        { rounds: 12 },
        { inTime: true },
      );

    const { outcome: last } = await circleIn([6, 7, 8, 9, 10, 11, 12]);
    expect(rows(last).slice(2, 5)).toEqual([
      [`${router(1)} target`, '12/12'],
      [router(2), '6/6'],
      [router(1), '5/5'],
    ]);
    expect(last.targetHops).toBeUndefined();
    round = 0;
    const { outcome: some } = await circleIn([6, 7, 8]);
    expect(rows(some).slice(2)).toEqual([
      [`target ${router(1)}`, '12/12'],
      [router(2), '2/2'],
      [router(1), '1/1'],
    ]);
    expect(some.targetHops).toBeUndefined();
  });

  it('find a target whose router refused it at first', async () => {
    let round = 0;
    const { outcome } = await traceOver(
      (one) => {
        if (one.packet.length >= 200) return [];
        if (one.ttl === 1) round += 1;
        if (one.ttl < 3 || (round > 4 && one.ttl === 3)) return [expired(one, router(one.ttl))];
        return [round > 4 ? arrived(one, 4) : unreachable(one, 1, router(3))];
      },
      { rounds: 12 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, error: null });
    expect(rows(outcome).slice(2)).toEqual([
      [router(3), '12/12'],
      ['target', '7/7'],
    ]);
    expect(outcome.targetHops).toEqual([{ hop: 4, round: 6, sent: 7, received: 7 }]);
  });

  it('count the target once where it answers at the first hop of several in a round', async () => {
    let round = 0;
    const { outcome } = await traceOver(
      (one) => {
        if (one.packet.length >= 200) return [];
        if (one.ttl === 1) round += 1;
        if (one.ttl < 3) return [expired(one, router(one.ttl))];
        // The first answer at the target's own hop is missing.
        return round < 4 || (round === 4 && one.ttl === 3) ? [] : [arrived(one, 3)];
      },
      { rounds: 10, maxHops: 8 },
      { inTime: true },
    );

    expect(rows(outcome)).toEqual([
      [router(1), '10/10'],
      [router(2), '10/10'],
      ['target', '6/10'],
    ]);
    expect(outcome.targetHops).toEqual([{ hop: 3, round: 4, sent: 7, received: 6 }]);
  });

  it('take no silence and no refusal for a change of its length', async () => {
    const sent = new Map<number, number>();
    const { outcome } = await traceOver(
      path(4, (one) => {
        if (one.packet.length >= 200 || one.ttl < 3) return undefined;
        const number = (sent.get(one.ttl) ?? 0) + 1;
        sent.set(one.ttl, number);
        if (number > 8 || number < 3) return undefined;
        return number % 2 === 0 ? [] : [unreachable(one, 1, router(2))];
      }),
      { rounds: 12 },
      { inTime: true },
    );

    expect(outcome.hops).toHaveLength(4);
    expect(outcome.hops?.[3]).toMatchObject({ stats: { sent: 12, received: 6 }, icmp: { count: 3 } });
    expect(outcome.targetHops).toBeUndefined();
  });
});

describe('rounds after a trace in which the target answered packets with the full TTL alone', () => {
  /** Three routers, and a target at `length` that answers no other packet of the first round. */
  const afterwards = (length: number, isAnswered: (round: number, ttl: number) => boolean = () => true) => {
    let round = 0;
    return path(length, (one) => {
      if (one.packet.length >= 200) return [];
      if (one.ttl === 1) round += 1;
      if (one.ttl < 4) return undefined;
      const isFirst = round === 1 && one.ttl !== FULL_TTL;
      return one.ttl < length || isFirst || !isAnswered(round, one.ttl) ? [] : [arrived(one, length)];
    });
  };
  const trace = async (network: ReturnType<typeof afterwards>, rounds: number) =>
    (await traceOver(network, { rounds, queries: 1, maxHops: 12 }, { inTime: true })).outcome;
  const shown = ({ hops = [] }: Awaited<ReturnType<typeof trace>>): readonly unknown[] =>
    hops.slice(3).map(({ ip, rtts }) => [ip, rtts.map((rtt) => (rtt === null ? '*' : '.')).join('')]);

  it('show the row of the target', async () => {
    const outcome = await trace(afterwards(4), 10);

    expect(outcome).toMatchObject({ result: 'success', stopReason: 'completed', fullTtl: { rtts: [4] } });
    expect(shown(outcome)).toEqual([[TARGET, '*.........']]);
    expect(outcome.targetHops).toEqual([{ hop: 4, round: 2, sent: 9, received: 9 }]);
  });

  it('find it behind silent routers, a hop farther each round', async () => {
    expect(shown(await trace(afterwards(6), 10))).toEqual([
      [null, '**********'],
      [null, '*********'],
      [TARGET, '*.......'],
    ]);
  });

  it('leave it where it answered first if chance explains that it left packets to a nearer hop unanswered', async () => {
    const isAnswered = (round: number, ttl: number): boolean => (ttl === 4 ? round > 6 : round !== 2);
    const outcome = await trace(
      afterwards(4, (round, ttl) => ttl === FULL_TTL || isAnswered(round, ttl)),
      12,
    );

    expect(shown(outcome)).toEqual([[TARGET, '******......']]);
    expect(outcome.targetHops).toEqual([{ hop: 4, round: 3, sent: 10, received: 6 }]);
  });

  it('ask no hop far behind the last one that answered', async () => {
    const outcome = await trace(
      afterwards(4, (_, ttl) => ttl === FULL_TTL),
      12,
    );

    expect(outcome).toMatchObject({ reached: true, stopReason: 'gap_limit' });
    expect(outcome.hops?.map(({ rtts }) => rtts.length)).toEqual([12, 12, 12, 12, 11, 10, 9, 8]);
  });
});

describe('rounds that no client follows any more', () => {
  const trace = (abandoned: AbortSignal, network = path(4)) =>
    traceOver(network, { rounds: 20, endWithStream: true }, { inTime: true, abandoned });

  it('are not sent, and the answers under way still count', async () => {
    const abandon = new AbortController();
    let third = 0;
    const network = path(4, ({ ttl, packet }) => {
      third += ttl === 2 && packet.length < 200 ? 1 : 0;
      if (third === 3) abandon.abort();
      return undefined;
    });
    const { outcome, fake } = await trace(abandon.signal, network);
    const sent = ofTrace(fake).filter(({ ttl }) => ttl <= 4).length;

    expect(outcome).toMatchObject({ result: 'success', roundsEnded: 'stream_closed' });
    expect(outcome.hops?.map(({ stats }) => stats?.sent)).toEqual([3, 3, 2, 2]);
    expect(outcome.hops?.map(({ stats }) => stats?.loss)).toEqual([0, 0, 0, 0]);
    expect(sent).toBe(10);
  });

  it('are not begun if that is known before', async () => {
    const { outcome } = await trace(AbortSignal.abort());

    expect(outcome).toMatchObject({ rounds: 1, roundsEnded: 'stream_closed' });
  });

  it('end with the trace if it is the only round', async () => {
    const { outcome } = await traceOver(path(4), { rounds: 1 }, { inTime: true, abandoned: AbortSignal.abort() });

    expect(outcome).toMatchObject({ result: 'success', rounds: 1 });
    expect(outcome.roundsEnded).toBeUndefined();
  });

  it('run on without such a sign', async () => {
    const { outcome } = await trace(new AbortController().signal);

    expect(outcome.rounds).toBe(20);
    expect(outcome.roundsEnded).toBeUndefined();
  });

  it('are needed for the option, which is named', () => {
    const found = ruleErrors(traceroute, {
      host: 'a',
      options: { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1, endWithStream: true },
    });

    expect(found).toEqual([{ path: '/options/endWithStream', message: 'needs rounds, which it ends' }]);
  });
});

describe('the text of rounds', () => {
  it('has the columns of mtr', async () => {
    const { outcome } = await traceOver(
      path(3, (one) => (one.ttl === 2 && one.packet.length < 200 ? [] : undefined)),
      { rounds: 4 },
      { inTime: true },
    );
    const [head, first, second] = description.details!(outcome);

    expect(head?.trim().split(/ +/)).toEqual(['Loss%', 'Snt', 'Avg', 'Best', 'Wrst', 'StDev', 'Jttr']);
    expect(first?.trim().split(/ +/)).toEqual([
      '1',
      '0.0%',
      '4',
      '1.0',
      '1.0',
      '1.0',
      '0.0',
      '0.0',
      router(1),
      'reply',
      'TTL',
      '60',
    ]);
    expect(second).toMatch(/^ 2 {2}100\.0% .* \*$/);
    expect(description.line(outcome)).toContain('4 rounds');
  });
});

describe('the bounds of rounds', () => {
  const options = { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1 } as const;

  it('count as packets, up to those of a check', () => {
    const packets = (rounds: number): number =>
      traceroute.traffic({ host: 'a', options: { ...options, rounds } }).packets;

    expect(packets(1)).toBe(30 + 6 + 40 + 48);
    expect(packets(10)).toBe(30 * 10 + 6 + 40 + 48);
    expect(packets(60)).toBe(MAX_PACKETS);
  });

  it('lengthen the time of the check by a second each', () => {
    expect(traceroute.budgetMs({ host: 'a', options: { ...options, rounds: 60 } })).toBe(90_000);
  });

  it('refuse several flows by the name of the field', () => {
    const errors = ruleErrors(traceroute, { host: 'a', options: { ...options, flows: 2, rounds: 2 } });

    expect(errors.map(({ path: of }) => of)).toEqual(['/options/flows']);
  });
});
