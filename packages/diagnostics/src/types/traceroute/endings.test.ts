import { describe, expect, it } from '@jest/globals';

import { FAKE_SOURCES, fakePackets, type FakeAnswer, type FakeSent } from '../../../test/fake-packets.ts';
import { testContext } from '@vantage/test-support/context';
import {
  arrived,
  expired,
  ofTrace,
  params,
  path,
  router,
  TARGET,
  traceOver,
  unreachable,
  virtualTrace,
} from '../../../test/trace-network.ts';
import { inVirtualTime } from '@vantage/test-support/virtual-time';
import type { traceroute } from './contract.ts';
import { FULL_TTL } from './result-fields.ts';
import { runTraceroute } from './run.ts';

/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

/** Round-trip times of the packets with the full TTL to a silent target. */
const unanswered = [null, null, null, null, null, null];

const hopsBetween = (first: number, last: number): ((sent: FakeSent) => readonly FakeAnswer[] | undefined) => {
  return ({ ttl }) => (ttl >= first && ttl <= last ? [] : undefined);
};

describe('a trace by datagrams to a port that is refused in another name', () => {
  const other = '198.51.100.77';

  it('has reached a host that answers from another of its addresses', async () => {
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < 3) return [expired(sent, router(sent.ttl))];
        return [sent.protocol === 'icmp' ? arrived(sent, 3) : unreachable(sent, 3, other, 0, sent.ttl - 2)];
      },
      { protocol: 'udp' },
    );

    expect(outcome).toMatchObject({ result: 'success', error: null, reached: true, stopReason: 'completed' });
    expect(outcome.hops?.map(({ ip, icmp }) => [ip, icmp])).toEqual([
      [router(1), null],
      [router(2), null],
      [other, null],
    ]);
  });

  it('has reached one that answers no echo requests', async () => {
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < 3) return [expired(sent, router(sent.ttl))];
        return sent.protocol === 'icmp' ? [] : [unreachable(sent, 3, other, 0, sent.ttl - 2)];
      },
      { protocol: 'udp' },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
  });

  it.each([
    ['run out of hops there', (sent: FakeSent) => [sent.ttl === 3 ? expired(sent, router(3)) : arrived(sent, 9)]],
    ['are refused there too', (sent: FakeSent) => [unreachable(sent, 3, router(3), 0, sent.ttl - 2)]],
  ])('has not where echo requests %s: that is a packet filter', async (_what, echo) => {
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < 3) return [expired(sent, router(sent.ttl))];
        return sent.protocol === 'icmp' ? echo(sent) : [unreachable(sent, 3, router(3), 0, sent.ttl - 2)];
      },
      { protocol: 'udp', flows: 2 },
    );

    expect(outcome).toMatchObject({ result: 'failure', reached: false, stopReason: 'unreachable' });
    expect(outcome.error).toMatchObject({ code: 'port_unreachable', source: 'network' });
    expect(outcome.hops?.map(({ ip, icmp }) => [ip, icmp?.mark])).toEqual([
      [router(1), undefined],
      [router(2), undefined],
      [router(3), '!<3>'],
    ]);
  });

  it('has not where the probe itself refuses', async () => {
    const { outcome } = await traceOver((sent) => [unreachable(sent, 3, FAKE_SOURCES[4])], { protocol: 'udp' });

    expect(outcome).toMatchObject({ result: 'error', error: { source: 'probe' }, reached: false });
  });

  it.each([
    ['before', 1],
    ['after', 90],
  ])('has not where the same address says %s it that packets ran out of hops there', async (_order, rttMs) => {
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.ttl < 3) return [expired(sent, router(sent.ttl), sent.ttl === 2 ? rttMs : 1)];
        return [{ ...unreachable(sent, 3, router(2)), rttMs: 20 }];
      },
      { protocol: 'udp' },
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'failure', reached: false, stopReason: 'unreachable' });
    expect(outcome.error).toMatchObject({ code: 'port_unreachable', source: 'network' });
    expect(outcome.hops?.[2]).toMatchObject({ ip: router(2), icmp: { mark: '!<3>' } });
  });
});

describe('a trace whose packets do not leave the probe', () => {
  it.each([
    ['ENETUNREACH', 'network_unreachable'],
    ['EHOSTUNREACH', 'host_unreachable'],
    ['EPERM', 'administratively_prohibited'],
  ])('is an error of the probe, and ended nowhere: %s', async (errno, code) => {
    const { outcome } = await traceOver(() => {
      throw Object.assign(new Error('no'), { code: errno });
    });

    expect(outcome).toMatchObject({ result: 'error', error: { code, phase: 'request', source: 'probe' } });
    expect(outcome).toMatchObject({ hops: [], flows: [], stopReason: null, reached: false });
  });

  it('is one where no route gives it a source', async () => {
    const noRoute = Object.assign(new Error('no'), { code: 'ENETUNREACH' });
    const packets = { ...fakePackets(() => []), sourceFor: async () => Promise.reject(noRoute) };
    const outcome = await virtualTrace({ packets });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'network_unreachable', source: 'probe' } });
    expect(outcome.stopReason).toBeNull();
  });
});

describe('a trace that its limit ends', () => {
  it('has reached a target beyond the limit that answers the full TTL', async () => {
    const { outcome, fake } = await traceOver(path(30), { maxHops: 3 }, { inTime: true });

    expect(outcome).toMatchObject({
      result: 'success',
      error: null,
      reached: true,
      rt: 30,
      stopReason: 'hop_limit',
      fullTtl: { rtts: [30], icmp: null },
    });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([1, 2, 3].map(router));
    expect(outcome.flows).toMatchObject([{ reached: true, stopReason: 'hop_limit' }]);
    expect(ofTrace(fake).map(({ ttl }) => ttl)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 255]);
  });

  it('is a timeout where the target is silent and only the last packet did not leave the probe', async () => {
    let full = 0;
    const { outcome } = await traceOver((sent) => {
      if (sent.ttl === FULL_TTL) full += 1;
      if (full === 6) throw Object.assign(new Error('no'), { code: 'EPERM' });
      return sent.ttl < 9 ? [expired(sent, router(sent.ttl))] : [];
    });

    expect(full).toBe(6);
    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out' } });
  });

  it('is a timeout where the target is silent, and blames no hop', async () => {
    const { outcome } = await traceOver(
      path(99, ({ ttl }) => (ttl > 40 ? [] : undefined)),
      {},
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, stopReason: 'hop_limit' });
    expect(outcome.hops).toHaveLength(30);
    expect(outcome.fullTtl).toEqual({ rtts: unanswered, icmp: null });
  });

  it('says which router refuses the full TTL', async () => {
    const { outcome } = await traceOver(
      (sent) => [sent.ttl < 5 ? expired(sent, router(sent.ttl)) : unreachable(sent, 1, router(5))],
      { maxHops: 3 },
      { inTime: true },
    );

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: 'host_unreachable' },
      stopReason: 'unreachable',
      fullTtl: { icmp: { type: 3, code: 1, mark: '!H', from: router(5) } },
    });
  });
});

describe('a target that leaves packets unanswered', () => {
  it('is asked again after the second in which it limits its errors', async () => {
    let firstMs: number | undefined;
    const limited = (sent: FakeSent): readonly FakeAnswer[] | undefined => {
      if (sent.ttl < 4) return undefined;
      if (sent.ttl < 255) return [];
      firstMs ??= performance.now();
      return performance.now() - firstMs < 2_500 ? [] : [unreachable(sent, 3, TARGET, 0, 252)];
    };
    const { outcome, fake } = await traceOver(path(4, limited), { protocol: 'udp', queries: 1 }, { inTime: true });

    expect(outcome).toMatchObject({ result: 'success', reached: true });
    expect(ofTrace(fake).filter(({ ttl }) => ttl === 255)).toHaveLength(3);
  });

  it.each([
    [4, 20],
    [6, 20],
    [4, 150],
    [4, 300],
  ])(
    'is reached by %i traces at once, %i ms away, where it answers one echo request a second to all',
    async (count, rttMs) => {
      let nextMs = 0;
      const network = (sent: FakeSent): readonly FakeAnswer[] => {
        if (sent.ttl < 4) return [expired(sent, router(sent.ttl), sent.ttl)];
        if (performance.now() < nextMs) return [];
        nextMs = performance.now() + 1_000;
        return [arrived(sent, rttMs)];
      };
      const outcomes = await inVirtualTime(async () =>
        Promise.all(
          Array.from({ length: count }, async () =>
            runTraceroute(params(TARGET), testContext<typeof traceroute>({ packets: fakePackets(network, true) })),
          ),
        ),
      );

      expect(outcomes.map(({ result, reached }) => [result, reached])).toEqual(
        Array.from({ length: count }, () => ['success', true]),
      );
    },
  );

  it.each([
    [12, 300],
    [20, 150],
  ])(
    'is not silent for any of %i traces at once, %i ms away, of which it answers one packet a second',
    async (count, rttMs) => {
      let nextMs = 0;
      const packets = fakePackets((sent) => {
        if (sent.ttl < 4) return [expired(sent, router(sent.ttl), sent.ttl)];
        if (performance.now() < nextMs) return [];
        nextMs = performance.now() + 1_000;
        return [arrived(sent, rttMs)];
      }, true);
      const outcomes = await inVirtualTime(async () =>
        Promise.all(
          Array.from({ length: count }, async () =>
            runTraceroute(params(TARGET), testContext<typeof traceroute>({ packets })),
          ),
        ),
      );
      const unreached = outcomes.filter(({ reached }) => reached !== true);

      expect(unreached.length).toBeGreaterThan(0);
      expect(
        unreached.filter(({ fullTtl, echo }) => fullTtl?.answersOthers !== true && (echo?.received ?? 0) === 0),
      ).toEqual([]);
    },
  );

  it('is silent for a trace that begins when the answer to another one is over', async () => {
    const packets = fakePackets((sent) => {
      if (sent.ttl < 4) return [expired(sent, router(sent.ttl), sent.ttl)];
      return sent.identifier < 40_003 ? [arrived(sent, 20)] : [];
    }, true);
    const [first, second] = await inVirtualTime(async () => {
      const one = await runTraceroute(params(TARGET), testContext<typeof traceroute>({ packets }));
      return [one, await runTraceroute(params(TARGET), testContext<typeof traceroute>({ packets }))];
    });

    expect(first).toMatchObject({ reached: true });
    expect(second).toMatchObject({ reached: false, fullTtl: { rtts: unanswered, icmp: null } });
    expect(second.fullTtl).not.toHaveProperty('answersOthers');
  });

  it.each(['icmp', 'udp', 'tcp'] as const)('by %s and also answers echo requests is there', async (protocol) => {
    const deaf = (sent: FakeSent): readonly FakeAnswer[] | undefined =>
      sent.protocol === protocol && sent.ttl >= 4 && sent.ttl !== MTU_TTL ? [] : undefined;
    const { outcome } = await traceOver(path(4, deaf), { protocol }, { inTime: true });

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, pathMtu: null });
    expect(outcome.echo?.received).toBeGreaterThan(0);
  });

  it('of any kind has answered no echo request', async () => {
    const { outcome } = await traceOver(() => [], { protocol: 'udp' }, { inTime: true });

    expect(outcome.echo).toMatchObject({ received: 0 });
  });
});

describe('a gap of silent hops', () => {
  it.each([
    ['five hops', 4, 8, 11],
    ['eight hops', 3, 10, 12],
    ['the first five hops', 1, 5, 9],
    ['the first twenty hops', 1, 20, 21],
  ])('of %s is no end of the path', async (_what, first, last, length) => {
    const { outcome } = await traceOver(path(length, hopsBetween(first, last)), {}, { inTime: true });
    const truth = Array.from({ length }, (_, index) => {
      const hop = index + 1;
      if (hop === length) return TARGET;
      return hop >= first && hop <= last ? null : router(hop);
    });

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual(truth);
    expect(outcome.hops?.every(({ rtts }) => rtts.length === 3)).toBe(true);
  });

  it('is crossed where the target beyond it is silent too', async () => {
    const silent = ({ ttl }: FakeSent): readonly FakeAnswer[] | undefined =>
      (ttl >= 4 && ttl <= 8) || ttl > 11 ? [] : undefined;
    const { outcome } = await traceOver(path(99, silent), {}, { inTime: true });

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, stopReason: 'gap_limit' });
    expect(outcome.hops?.map(({ ip }) => ip).slice(8, 12)).toEqual([router(9), router(10), router(11), null]);
    expect(outcome.hops).toHaveLength(16);
  });
});

describe('what answers late', () => {
  it.each([
    ['a target after 2.9 s', 2_900],
    ['a target after 3.5 s', 3_500],
  ])('counts: %s', async (_what, rttMs) => {
    const { outcome } = await traceOver(
      path(4, (sent) => (sent.ttl >= 4 ? [arrived(sent, rttMs)] : undefined)),
      {},
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, rt: rttMs, stopReason: 'completed' });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([router(1), router(2), router(3), TARGET]);
  });

  it('counts: a whole path behind a slow first link', async () => {
    const { outcome } = await traceOver(
      (sent) => [sent.ttl < 12 ? expired(sent, router(sent.ttl), 2_900) : arrived(sent, 2_900)],
      {},
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', stopReason: 'completed' });
    expect(outcome.hops?.flatMap(({ rtts }) => rtts)).toEqual(Array.from({ length: 36 }, () => 2_900));
  });

  it.each([900, 1_500])('counts: a router after %i ms before quick ones', async (rttMs) => {
    const { outcome } = await traceOver(
      path(6, (sent) => (sent.ttl === 3 ? [expired(sent, router(3), rttMs)] : undefined)),
      {},
      { inTime: true },
    );

    expect(outcome.hops?.[2]).toMatchObject({ ip: router(3), rtts: [rttMs, rttMs, rttMs] });
  });

  it('is not waited for where nothing is missing', async () => {
    const startedMs = performance.now();
    const { outcome } = await traceOver(path(8), {}, { inTime: true });

    expect(outcome.hops).toHaveLength(8);
    // A trace that awaits a missing answer takes at least a second.
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});

describe('a router that refuses a packet and passes others on', () => {
  it('does not end the path, and is named as the sender', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      path(7, (sent) => {
        if (sent.ttl !== 5 || sent.packet.length > 200) return undefined;
        count += 1;
        return count === 1 ? [unreachable(sent, 1, router(3))] : undefined;
      }),
      {},
      { inTime: true },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(outcome.hops).toHaveLength(7);
    expect(outcome.hops?.[4]).toMatchObject({ ip: router(5), icmp: { mark: '!H', from: router(3), count: 1 } });
    expect(outcome.hops?.[4]?.responders.map(({ ip }) => ip)).toEqual([router(5)]);
    expect(outcome.hops?.[4]?.rtts.filter((rtt) => rtt === null)).toHaveLength(1);
    expect(outcome.hops?.[4]?.replies?.map(({ responder, type }) => [responder, type])).toEqual([
      [null, 3],
      [0, 11],
    ]);
  });
});

describe('a target that limits its errors', () => {
  /** Answers the first six datagrams, as Linux does, and quotes them with their remaining TTL. */
  const limiting = (distance: number): ((sent: FakeSent) => readonly FakeAnswer[]) => {
    let answered = 0;
    return (sent) => {
      if (sent.protocol !== 'udp') return [];
      if (sent.ttl < distance) return [expired(sent, router(sent.ttl))];
      answered += 1;
      return answered > 6 ? [] : [unreachable(sent, 3, TARGET, 0, sent.ttl - distance + 1)];
    };
  };

  it.each([1, 4, 8])('has no hops beyond it, with %i flows', async (flows) => {
    const { outcome } = await traceOver(limiting(6), { protocol: 'udp', flows, maxHops: 12 }, { inTime: true });

    expect(outcome).toMatchObject({ result: 'success', reached: true, stopReason: 'completed' });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([...[1, 2, 3, 4, 5].map(router), TARGET]);
    for (const { hops = [] } of outcome.flows ?? []) expect(hops.length).toBeLessThanOrEqual(6);
  });

  it.each([1, 3])('is where it quotes one hop left, if all of %i packets that end there are lost', async (queries) => {
    let lost = 0;
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.protocol !== 'udp') return [];
        if (sent.ttl === 6 && (lost += 1) <= queries) return [];
        return [sent.ttl < 6 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET, 0, sent.ttl - 5)];
      },
      { protocol: 'udp', queries },
      { inTime: true },
    );

    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([...[1, 2, 3, 4, 5].map(router), TARGET]);
  });

  it('is where it quotes one hop left, if it answers one datagram in five seconds', async () => {
    let answeredMs = -Infinity;
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.protocol !== 'udp') return [];
        if (sent.ttl < 6) return [expired(sent, router(sent.ttl))];
        if (sent.ttl === 6 || performance.now() - answeredMs < 5_000) return [];
        answeredMs = performance.now();
        return [unreachable(sent, 3, TARGET, 0, sent.ttl - 5)];
      },
      { protocol: 'udp' },
      { inTime: true },
    );

    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([...[1, 2, 3, 4, 5].map(router), TARGET]);
  });
});

describe('a target behind a tunnel that copies the TTL of the packets outwards', () => {
  /** Hops 3 and 4 are silent routers of the tunnel, which take nothing from the TTL of the packet inside. */
  const tunnelled = (sent: FakeSent): readonly FakeAnswer[] => {
    if (sent.protocol !== 'udp' || sent.ttl === 3 || sent.ttl === 4) return [];
    return [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET, 0, sent.ttl - 3)];
  };

  it.each([
    ['one flow', {}],
    ['one packet per hop', { queries: 1 }],
    ['few hops', { maxHops: 5 }],
    ['few hops and one packet per hop', { maxHops: 5, queries: 1 }],
    ['several flows', { flows: 16, queries: 1 }],
    ['all flows', { flows: 'all' }],
    ['rounds', { rounds: 8 }],
  ] as const)('is at the first hop that it answers, without loss: %s', async (_name, options) => {
    const more = { inTime: true, budgetMs: 30_000 };
    const { outcome } = await traceOver(tunnelled, { protocol: 'udp', ...options }, more);

    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([router(1), router(2), null, null, TARGET]);
    expect(outcome.hops?.[4]?.rtts).not.toContain(null);
    expect(outcome).toMatchObject({ result: 'success', reached: true });
  });
});
