import { afterAll, describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES } from '@vantage/contract';

import { createPacketSockets } from '../../sockets/packet-sockets.ts';
import { testContext } from '@vantage/test-support/context';
import {
  FAKE_SOURCES,
  fakePackets,
  type FakeAnswer,
  type FakePackets,
  type FakeSent,
} from '../../../test/fake-packets.ts';
import { itNeeding } from '@vantage/test-support/needs';
import {
  answerOfTarget,
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
import { icmpError, ipPacket } from '../../../test/raw-packets.ts';
import { inVirtualTime, skip } from '@vantage/test-support/virtual-time';
import type { traceroute } from './contract.ts';
import { runTraceroute } from './run.ts';

const packets = createPacketSockets();
const { ipv4 } = await packets.probePrivilege();
afterAll(() => packets.close());

/** TTL of the echo requests of the path MTU search. */
const MTU_TTL = 64;

describe('traceroute', () => {
  it('finds the hops in their order, and stops at the target', async () => {
    const { outcome, fake, admissions } = await traceOver(path(7));

    expect(outcome).toMatchObject({
      result: 'success',
      rt: 7,
      resolvedIp: TARGET,
      error: null,
      reached: true,
      protocol: 'icmp',
      loop: null,
    });
    expect(outcome.hops?.map(({ hop, ip, latency, rtts }) => [hop, ip, latency, rtts])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((hop) => [hop, router(hop), hop, [hop, hop, hop]]),
      [7, TARGET, 7, [7, 7, 7]],
    ]);
    expect(outcome.hops?.[0]).toMatchObject({
      private: false,
      hostname: null,
      asn: null,
      asName: null,
      mpls: [],
      icmp: null,
    });
    expect(ofTrace(fake).every(({ ttl }) => ttl <= 7 + 5)).toBe(true);
    expect(fake.sent.every(({ destination }) => destination === TARGET)).toBe(true);
    expect(admissions).toEqual([{ host: TARGET, family: undefined, purpose: 'icmp' }]);
  });

  it('keeps silent hops in their place', async () => {
    const { outcome } = await traceOver(path(5, ({ ttl }) => (ttl === 2 || ttl === 3 ? [] : undefined)));

    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([router(1), null, null, router(4), TARGET]);
    expect(outcome.hops?.[1]).toMatchObject({
      private: false,
      latency: null,
      rtts: [null, null, null],
      responders: [],
    });
  });

  it('knows the answers behind address translation that changes the quoted checksums', async () => {
    const translated = (sent: FakeSent): FakeAnswer => {
      const quoted = ipPacket(FAKE_SOURCES[4], sent.destination, 17, sent.packet.slice(0, 8), 1);
      quoted[27]! ^= 0x12;
      return {
        protocol: 'icmp',
        data: icmpError(4, 11, 0, quoted),
        from: router(sent.ttl),
        hopLimit: 60,
        rttMs: sent.ttl,
      };
    };
    const { outcome } = await traceOver(
      (sent) => {
        if (sent.protocol === 'icmp') return [];
        if (sent.ttl === 1 || sent.ttl === 9) return [expired(sent, router(sent.ttl))];
        return [sent.ttl < 10 ? translated(sent) : { ...unreachable(sent, 3, TARGET), rttMs: 10 }];
      },
      { protocol: 'udp', queries: 10 },
      { inTime: true },
    );

    expect(outcome.hops?.map(({ ip, rtts }) => [ip, new Set(rtts)])).toEqual([
      ...Array.from({ length: 9 }, (_, index) => [router(index + 1), new Set([index + 1])]),
      [TARGET, new Set([10])],
    ]);
  });

  it('takes the median of what was answered', async () => {
    const rtts = [9, 2, 4];
    const { outcome } = await traceOver(
      path(2, (sent) => (sent.ttl === 1 ? [expired(sent, router(1), rtts.shift() ?? 0)] : undefined)),
    );

    expect(outcome.hops?.[0]).toMatchObject({ rtts: [9, 2, 4], latency: 4 });
  });

  it('costs one wait in a network that is silent from the start', async () => {
    const { outcome, fake } = await traceOver(() => []);

    expect(outcome).toMatchObject({
      result: 'timeout',
      error: { code: 'timed_out' },
      reached: false,
      rt: null,
      pathMtu: null,
    });
    expect(outcome).toMatchObject({
      stopReason: 'gap_limit',
      fullTtl: { rtts: [null, null, null, null, null, null], icmp: null },
    });
    expect(outcome.hops).toHaveLength(5);
    // The packets: three for each of five hops, one for each further hop, six with the full TTL.
    expect(ofTrace(fake)).toHaveLength(15 + 25 + 6);
  });

  it('shows five silent hops after the last one that answered, and has asked all of them', async () => {
    const { outcome, fake } = await traceOver(
      path(99, ({ ttl }) => (ttl > 4 ? [] : undefined)),
      { queries: 1 },
    );

    expect(outcome).toMatchObject({ result: 'timeout', reached: false });
    expect(outcome.error?.message).toContain('4');
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([
      router(1),
      router(2),
      router(3),
      router(4),
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(outcome).toMatchObject({
      stopReason: 'gap_limit',
      fullTtl: { rtts: [null, null, null, null, null, null], icmp: null },
    });
    const asked = ofTrace(fake).map(({ ttl }) => ttl);
    expect(asked.filter((ttl) => ttl <= 30).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
  });

  it('has no more than sixteen packets under way, answered or not', async () => {
    const rttMs = 300;
    const sentAtMs: number[] = [];
    const { fake } = await traceOver(() => [], { queries: 10 }, { budgetMs: 2_300 });
    await traceOver(
      (sent) => {
        if (sent.packet.length < 200) sentAtMs.push(performance.now());
        return [sent.ttl < 30 ? expired(sent, router(sent.ttl), rttMs) : arrived(sent, rttMs)];
      },
      { queries: 10 },
      { inTime: true },
    );
    const underWay = sentAtMs.map((ms, index) => sentAtMs.slice(0, index + 1).filter((at) => at > ms - rttMs).length);

    expect(ofTrace(fake).length).toBeLessThanOrEqual(16);
    expect(sentAtMs.length).toBeGreaterThanOrEqual(300);
    expect(Math.max(...underWay)).toBe(16);
  });

  it('takes no hop for silent whose answer came while the machine stood still', async () => {
    const { outcome } = await traceOver(
      (sent) => {
        // Advances the clock after all packets were sent and before the first answer is read.
        if (sent.ttl === 1) setImmediate(() => skip(3_000));
        return path(5)(sent);
      },
      { maxHops: 5, queries: 1 },
    );

    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([router(1), router(2), router(3), router(4), TARGET]);
  });

  it('stops in a circle, and says so', async () => {
    const { outcome, fake } = await traceOver((sent) => [
      expired(sent, sent.ttl < 3 ? router(sent.ttl) : router(3 + (sent.ttl % 2))),
    ]);

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, loop: { start: 3, length: 2 } });
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([1, 2, 4, 3, 4, 3].map(router));
    expect(outcome).toMatchObject({ stopReason: 'loop', fullTtl: { rtts: [null], icmp: null } });
    expect(Math.max(...ofTrace(fake).map(({ ttl }) => (ttl === 255 ? 0 : ttl)))).toBeLessThanOrEqual(11);
  });

  it.each([
    ['no route', 0, 'network_unreachable', '!N'],
    ['no host', 1, 'host_unreachable', '!H'],
    ['a filter', 13, 'administratively_prohibited', '!X'],
    ['a port, in the name of the target', 3, 'port_unreachable', '!<3>'],
  ] as const)('ends where a router refuses: %s', async (_reason, code, failure, mark) => {
    const { outcome } = await traceOver((sent) => [
      sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, code, router(3)),
    ]);

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: failure, source: 'network' },
      reached: false,
      rt: null,
      stopReason: 'unreachable',
      fullTtl: null,
    });
    expect(outcome.hops).toHaveLength(3);
    expect(outcome.hops?.[2]).toMatchObject({
      ip: router(3),
      icmp: { type: 3, code, mark, from: router(3) },
      rtts: [3, expect.any(Number), expect.any(Number)],
    });
  });

  it.each([
    ['icmp', 'failure', { code: 'administratively_prohibited', source: 'target' }],
    // No service of the target expects the datagram or the SYN: any answer proves the arrival.
    ['udp', 'success', null],
    ['tcp', 'success', null],
  ] as const)('has arrived when the target itself refuses, by %s', async (protocol, result, error) => {
    const { outcome } = await traceOver(
      (sent) => [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 13, TARGET)],
      { protocol },
    );

    expect(outcome).toMatchObject({ result, error, reached: true, stopReason: 'completed' });
    expect(outcome.hops?.at(-1)).toMatchObject({ ip: TARGET, icmp: { mark: '!X', from: TARGET } });
  });

  it.each(['icmp', 'udp', 'tcp'] as const)(
    'has not arrived if a load balancer, NAT or firewall at the address of the target says that the host is away, by %s',
    async (protocol) => {
      const { outcome } = await traceOver(
        (sent) => [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 1, TARGET)],
        { protocol },
      );

      expect(outcome).toMatchObject({
        result: 'failure',
        error: { code: 'host_unreachable', source: 'target' },
        reached: false,
        rt: null,
        stopReason: 'unreachable',
      });
      expect(outcome.hops?.at(-1)).toMatchObject({ ip: TARGET, icmp: { mark: '!H', from: TARGET } });
    },
  );

  it.each([
    [0, 'network_unreachable'],
    [2, 'host_unreachable'],
    [3, 'host_unreachable'],
    [5, null],
  ])(
    'has not arrived over IPv6 if the target’s address finds no route, scope or host: code %i, %s',
    async (code, failure) => {
      const target = '2001:db8::7';
      const network = ({ packet }: FakeSent): readonly FakeAnswer[] => {
        const data = icmpError(6, 1, code, ipPacket(FAKE_SOURCES[6], target, 17, packet));
        return [{ protocol: 'icmp', data, from: target, hopLimit: 60, rttMs: 5 }];
      };
      const context = testContext<typeof traceroute>({ packets: fakePackets(network) });
      const outcome = await inVirtualTime(() => runTraceroute(params(target, { protocol: 'udp' }), context));

      const reached = failure === null;
      expect(outcome).toMatchObject({
        result: reached ? 'success' : 'failure',
        reached,
        error: reached ? null : { code: failure, source: 'target' },
      });
    },
  );

  it('has the round trip of the hosts that answer behind such a load balancer, not of its errors', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      (sent) => [
        sent.ttl < 3
          ? expired(sent, router(sent.ttl))
          : (count += 1) % 3 === 0
            ? answerOfTarget(sent, 0x12)
            : { ...unreachable(sent, 1, TARGET), rttMs: 3_000 },
      ],
      { protocol: 'tcp' },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, state: 'open' });
    expect(outcome.rt).toBeLessThan(1_000);
  });

  it.each([
    ['open if any SYN is accepted', [0x12, 0x14], 'open'],
    ['closed if all are reset', [0x14], 'closed'],
    ['closed if others are acknowledged without SYN', [0x10, 0x14], 'closed'],
  ])('knows the port as %s', async (_when, flags, state) => {
    let count = 0;
    const { outcome } = await traceOver(
      (sent) => [
        sent.ttl < 3 ? expired(sent, router(sent.ttl)) : answerOfTarget(sent, flags[(count += 1) % flags.length]),
      ],
      { protocol: 'tcp' },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true, state, port: 80 });
  });

  it('knows no state of a port that acknowledges SYNs without its own, as for another connection', async () => {
    const { outcome } = await traceOver(
      (sent) => [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : answerOfTarget(sent, 0x10)],
      { protocol: 'tcp' },
    );

    expect(outcome).toMatchObject({ result: 'success', reached: true });
    expect(outcome).not.toHaveProperty('state');
  });

  it('names the address that answers echo requests in place of the target', async () => {
    const answer = (sent: FakeSent): FakeAnswer => ({ ...arrived(sent, 9), from: '198.51.100.77' });
    const other = await traceOver((sent) => [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : answer(sent)]);
    const own = await traceOver(path(3));

    expect(other.outcome).toMatchObject({ result: 'success', reached: true, answeredFrom: ['198.51.100.77'] });
    expect(own.outcome).not.toHaveProperty('answeredFrom');
  });

  it('knows no state of a port by icmp', async () => {
    expect((await traceOver(path(3))).outcome).not.toHaveProperty('state');
  });

  it('is refused by a filter if the target answers echo requests by port unreachable', async () => {
    const { outcome } = await traceOver((sent) => [
      sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET),
    ]);

    expect(outcome).toMatchObject({ result: 'failure', reached: true, error: { code: 'port_unreachable' } });
    expect(outcome.error?.message).toBe(
      'The target said that the packets are refused, as packet filters do (ICMP type 3 code 3).',
    );
    expect(outcome.hops?.at(-1)?.icmp).toEqual({ type: 3, code: 3, mark: '!<3>', from: TARGET, count: 3 });
  });

  it('learns the path MTU from routers that refuse what is too big', async () => {
    const { outcome } = await traceOver(
      path(3, (sent) => (sent.packet.length + 20 > 1_300 ? [unreachable(sent, 4, router(2), 1_300)] : undefined)),
    );

    expect(outcome.pathMtu).toBe(1_300);
  });

  it('learns the path MTU over more routers than any path has steps', async () => {
    const steps = [1_492, 1_480, 1_460, 1_440, 1_420, 1_400];
    const { outcome } = await traceOver(
      path(8, (sent) => {
        const at = steps.findIndex((mtu) => sent.packet.length + 20 > mtu);
        return at === -1 ? undefined : [unreachable(sent, 4, router(at + 1), steps[at])];
      }),
    );

    expect(outcome).toMatchObject({ pathMtu: 1_400, mtuBlackHole: null });
    expect(outcome.hops!.map(({ nextMtu }) => nextMtu)).toEqual([...steps, undefined, undefined]);
  });

  it('knows which of the routers of a hop reported an MTU', async () => {
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.packet.length + 20 > 1_300) return [unreachable(sent, 4, router(12), 1_300)];
        return sent.ttl === 2 && sent.identifier % 4 === 0 ? [expired(sent, router(12))] : undefined;
      }),
      { flows: 16 },
    );

    const { responders, nextMtu } = outcome.hops![1]!;
    expect(responders.map((one) => [one.ip, one.nextMtu])).toEqual([
      [router(2), undefined],
      [router(12), 1_300],
    ]);
    expect(nextMtu).toBe(1_300);
  });

  it('has no MTU of a link that does not explain why the packet was refused', async () => {
    const { outcome } = await traceOver(
      path(3, (sent) => (sent.packet.length + 20 > 1_300 ? [unreachable(sent, 4, router(2), 9_000)] : undefined)),
    );

    expect(outcome.hops!.map(({ nextMtu }) => nextMtu)).toEqual([undefined, undefined, undefined]);
  });

  it.each(['udp', 'tcp'] as const)(
    'learns by %s what a router says it carries, though no echo comes',
    async (protocol) => {
      const { outcome } = await traceOver(
        (sent) => {
          if (sent.packet.length + 20 > 1_400) return [unreachable(sent, 4, router(2), 1_400)];
          if (sent.protocol === 'icmp') return [];
          return [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET)];
        },
        { protocol },
      );

      expect(outcome).toMatchObject({ reached: true, pathMtu: 1_400, mtuBlackHole: null });
    },
  );

  it('tries the usual sizes where a router does not say what it carries', async () => {
    const { outcome } = await traceOver(
      path(3, (sent) => (sent.packet.length + 20 > 1_300 ? [unreachable(sent, 4, router(2), 0)] : undefined)),
    );

    expect(outcome).toMatchObject({ pathMtu: 1_280, mtuBlackHole: null });
  });

  it('finds a black hole to the byte, and says that it is one', async () => {
    const { outcome } = await traceOver(path(3, (sent) => (sent.packet.length + 20 > 1_300 ? [] : undefined)));

    expect(outcome).toMatchObject({ result: 'success', pathMtu: 1_300, mtuBlackHole: 1_301 });
  });

  it('finds a black hole although the probe stands still in the middle of the search', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.packet.length + 20 > 1_300) return [];
        if (sent.ttl !== MTU_TTL) return undefined;
        count += 1;
        if (count % 4 !== 2) return undefined;
        setImmediate(() => skip(3_000));
        return [];
      }),
    );

    expect(outcome).toMatchObject({ result: 'success', pathMtu: 1_300, mtuBlackHole: 1_301 });
  });

  it('takes the loss of a large packet for no black hole', async () => {
    let large = 0;
    const { outcome } = await traceOver(
      path(3, (sent) => (sent.packet.length > 1_400 && (large += 1) < 3 ? [] : undefined)),
    );

    expect(outcome).toMatchObject({ pathMtu: 1_500, mtuBlackHole: null });
  });

  it('learns the MTU of its own link, below which the kernel lets something through', async () => {
    const refusing = (sent: FakeSent): readonly FakeAnswer[] => {
      if (sent.packet.length + 20 <= 1_412) return path(3)(sent);
      throw Object.assign(new Error('EMSGSIZE: Message too long'), { code: 'EMSGSIZE' });
    };
    const { outcome } = await traceOver(refusing);

    expect(outcome).toMatchObject({ result: 'success', pathMtu: 1_412 });
  });

  it.each([
    ['another target', '198.51.100.9', (packet: Uint8Array) => packet],
    ['another payload', TARGET, (packet: Uint8Array) => packet.map((byte, at) => (at < 8 ? byte : byte ^ 0x55))],
    [
      'another checksum',
      TARGET,
      (packet: Uint8Array) => packet.map((byte, at) => (at === 2 ? byte ^ 0x55 : byte)).slice(0, 8),
    ],
  ])('takes no MTU from an error about a packet of %s', async (_of, destination, change) => {
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.packet.length < 200) return undefined;
        const quoted = ipPacket(FAKE_SOURCES[4], destination, 1, change(sent.packet));
        const data = icmpError(4, 3, 4, quoted, 1_300);
        return [{ protocol: 'icmp', data, from: router(2), hopLimit: 60, rttMs: 1 }, arrived(sent, 3)];
      }),
    );

    expect(outcome.pathMtu).toBe(1_500);
  });

  it('sends no more than 640 packets, those that ask for the path MTU among them', async () => {
    // The target is as far as `maxHops` allows, so that packets with every TTL are needed.
    const { outcome, fake } = await traceOver(
      (sent) => [sent.ttl < 64 ? expired(sent, router(sent.ttl), 1) : arrived(sent, 1)],
      { maxHops: 64, queries: 10 },
    );

    expect(outcome).toMatchObject({ reached: true, pathMtu: null });
    expect(fake.sent).toHaveLength(640);
  });

  it('says which clock timed the answers', async () => {
    const { outcome } = await traceOver(
      path(3, (sent) => (sent.ttl === 2 ? [{ ...expired(sent, router(2)), clock: 'process' }] : undefined)),
    );

    expect(outcome.clock).toBe('process');
    expect((await traceOver(path(3))).outcome.clock).toBe('kernel');
  });

  it('asks with datagrams to one port, and knows a closed one for the target', async () => {
    const { outcome, fake, admissions } = await traceOver(
      (sent) => {
        if (sent.protocol === 'icmp') return [];
        return [sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET)];
      },
      { protocol: 'udp' },
    );
    const ports = fake.sent
      .filter(({ protocol }) => protocol === 'udp')
      .map(({ packet }) => Buffer.from(packet).readUInt32BE(0));

    expect(outcome).toMatchObject({ result: 'success', protocol: 'udp', reached: true });
    expect(outcome.hops?.map(({ ip, icmp }) => [ip, icmp])).toEqual([
      [router(1), null],
      [router(2), null],
      [TARGET, null],
    ]);
    expect(new Set(ports).size).toBe(1);
    expect(ports[0]! & 0xffff).toBe(33_434);
    expect(admissions).toEqual([{ host: TARGET, family: undefined, purpose: 'udp', port: 33_434 }]);
  });

  it('shows the routers of several flows at one hop', async () => {
    const routers = new Map<number, string>();
    const { outcome } = await traceOver(
      path(3, (sent) => {
        if (sent.ttl !== 2) return undefined;
        if (!routers.has(sent.identifier)) routers.set(sent.identifier, router(20 + (routers.size % 2)));
        return [expired(sent, routers.get(sent.identifier)!)];
      }),
      { flows: 4 },
    );

    expect(outcome.hops?.[1]?.responders.map(({ ip, rtts }) => [ip, rtts.length])).toEqual([
      [router(20), 6],
      [router(21), 6],
    ]);
    expect(outcome.hops?.[1]?.rtts).toHaveLength(12);
    expect(outcome.hops?.[0]?.responders).toHaveLength(1);
  });

  it('says of each flow which router answered which of its packets', async () => {
    const branchOf = (sent: FakeSent): number => sent.identifier % 2;
    const { outcome } = await traceOver(
      path(4, (sent) => {
        if (sent.ttl !== 2 && sent.ttl !== 3) return undefined;
        return [expired(sent, router(sent.ttl * 10 + branchOf(sent)))];
      }),
      { flows: 4, queries: 2 },
    );
    const named = outcome.flows?.map(({ hops }) =>
      hops.map((indices, at) => [
        ...new Set(indices.map((index) => (index === null ? null : outcome.hops?.[at]?.responders[index]?.ip))),
      ]),
    );

    expect(outcome).toMatchObject({ stopReason: 'completed', fullTtl: null });
    expect(outcome.flows?.map(({ reached, stopReason }) => [reached, stopReason])).toEqual(
      Array.from({ length: 4 }, () => [true, 'completed']),
    );
    expect(outcome.flows?.[0]?.hops.map(({ length }) => length)).toEqual([2, 2, 2, 2]);
    for (const [index, hops] of named?.entries() ?? []) {
      // The fake assigns consecutive identifiers.
      const branch = (40_001 + index + 1) % 2;
      expect([[router(20 + branch)], [router(30 + branch)]]).toEqual(hops.slice(1, 3));
    }
  });

  it('keeps private hops to itself, but not their times', async () => {
    const asked: string[] = [];
    const { outcome, partials } = await traceOver(
      path(3, (sent) => (sent.ttl === 1 ? [expired(sent, '10.0.0.1')] : undefined)),
      {},
      {
        showPrivateAddresses: false,
        isPrivateAddress: (address) => address.startsWith('10.'),
        names: { reverse: async (address) => (asked.push(address), ['name.example']), forward: async () => [] },
      },
    );

    expect(outcome.hops?.[0]).toMatchObject({ ip: null, private: true, hostname: null, rtts: [1, 1, 1], latency: 1 });
    expect(JSON.stringify([outcome, partials])).not.toContain('10.0.0.1');
    expect(asked).not.toContain('10.0.0.1');
  });

  it('names the hops, each address asked for once, and waits for no name for long', async () => {
    const asked: string[] = [];
    const { outcome } = await traceOver(
      path(3),
      {},
      {
        names: {
          reverse: (address) => {
            asked.push(address);
            return address === router(1) ? new Promise(() => undefined) : Promise.resolve(['evil\u202ename.example']);
          },
          forward: async () => [],
        },
      },
    );

    expect(outcome.hops?.map(({ hostname }) => hostname)).toEqual([
      null,
      'evil\\u{202e}name.example',
      'evil\\u{202e}name.example',
    ]);
    expect(asked.toSorted()).toEqual([TARGET, router(1), router(2)].toSorted());
  });

  it('calls a name verified where it leads back to the address, and unverified where it does not', async () => {
    const { outcome } = await traceOver(
      path(4),
      {},
      {
        names: {
          reverse: async (address) => (address === router(3) ? [] : [`${address}.example`]),
          forward: (name) => {
            if (name.startsWith(router(2))) return new Promise(() => undefined);
            return Promise.resolve(name.startsWith(router(1)) ? ['192.0.2.77', router(1)] : ['192.0.2.77']);
          },
        },
      },
    );

    expect(outcome.hops?.map(({ hostname, hostnameVerified }) => [hostname, hostnameVerified])).toEqual([
      [`${router(1)}.example`, true],
      [`${router(2)}.example`, null],
      [null, null],
      [`${TARGET}.example`, false],
    ]);
  });

  it('shows hops as they come', async () => {
    const { partials } = await traceOver(path(20));
    const hopsShown = partials.map((partial) =>
      'hops' in partial && Array.isArray(partial.hops) ? partial.hops.length : 0,
    );

    expect(partials[0]).toMatchObject({ protocol: 'icmp', reached: false });
    expect(hopsShown[0]).toBeLessThan(20);
    expect(new Set(hopsShown).size).toBeGreaterThan(2);
    expect(hopsShown).toEqual(hopsShown.toSorted((a, b) => a - b));
    expect(partials.at(-1)).toMatchObject({ reached: true });
  });

  it('fits a result even when every packet meets another router', async () => {
    let count = 0;
    const { outcome } = await traceOver(
      (sent) => [expired(sent, `203.0.${(count += 1) >> 8}.${count & 255}`)],
      { maxHops: 40, queries: 1, flows: 16 },
      { names: { reverse: async () => ['n'.repeat(250)], forward: async () => [] } },
    );

    expect(outcome.hops).toHaveLength(40);
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(MAX_RESULT_BYTES);
  });

  it('keeps what it has when the packet process dies', async () => {
    const fake: FakePackets = fakePackets((sent) => {
      if (sent.ttl === 2) setImmediate(() => fake.crash());
      return sent.ttl === 1 ? [expired(sent, router(1))] : [];
    });
    const outcome = await virtualTrace({ packets: fake });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' } });
    expect(outcome.hops?.[0]).toMatchObject({ ip: router(1) });
    // Packets to the second hop were under way: they are not lost.
    expect(outcome.hops).toHaveLength(1);
  });

  it('is interrupted by the end of the packet process even after the target answered, and keeps what it has', async () => {
    const fake: FakePackets = fakePackets((sent) => {
      if (sent.ttl < 3) return [expired(sent, router(sent.ttl))];
      if (sent.ttl === 3 && sent.packet.length < 200) setImmediate(() => setImmediate(() => fake.crash()));
      return sent.ttl === 3 ? [arrived(sent, 3)] : [];
    });
    const outcome = await virtualTrace({ packets: fake }, { queries: 10 });

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'probe_interrupted' },
      reached: true,
      hops: [{ ip: router(1) }, { ip: router(2) }, { ip: TARGET }],
    });
  });

  it('keeps the place of a first hop that is still awaited', async () => {
    const { outcome, partials } = await traceOver(
      path(4, ({ ttl }) => (ttl === 1 ? [] : undefined)),
      { queries: 1 },
    );
    const first = partials.map((partial) => ('hops' in partial ? partial.hops : [])) as (typeof outcome.hops)[];

    expect(first[0]?.slice(0, 2)).toMatchObject([
      { hop: 1, ip: null, rtts: [], latency: null },
      { hop: 2, ip: router(2), rtts: [2] },
    ]);
    expect(outcome.hops?.map(({ ip }) => ip)).toEqual([null, router(2), router(3), TARGET]);
  });

  it('counts what was still awaited at its end as not answered', async () => {
    const aborted = new AbortController();
    const { outcome } = await traceOver(
      path(9, ({ ttl }) => {
        if (ttl === 3) setImmediate(() => setImmediate(() => aborted.abort()));
        return ttl === 2 ? undefined : [];
      }),
      { queries: 1 },
      { signal: aborted.signal },
    );

    expect(outcome.hops?.slice(0, 3).map(({ ip, rtts }) => [ip, rtts])).toEqual([
      [null, [null]],
      [router(2), [2]],
      [null, [null]],
    ]);
  });

  it.each(['open', 'sourceFor'] as const)(
    'waits for a packet process that hangs at %s no longer than asked',
    async (step) => {
      const aborted = new AbortController();
      const fake = fakePackets(() => []);
      const hanging = (): Promise<never> => {
        setImmediate(() => aborted.abort());
        return new Promise(() => undefined);
      };
      const outcome = await virtualTrace({ packets: { ...fake, [step]: hanging }, signal: aborted.signal });

      expect(outcome).toMatchObject({ result: 'error', error: { source: 'probe', phase: 'exec' }, hops: [] });
      expect(fake.openSockets()).toBe(0);
    },
  );

  it('closes a socket that is opened after the end', async () => {
    const aborted = new AbortController();
    const fake = fakePackets(() => []);
    const opening = Promise.withResolvers<void>();
    const open: typeof fake.open = async (wanted) => {
      setImmediate(() => aborted.abort());
      await opening.promise;
      return fake.open(wanted);
    };
    await runTraceroute(
      params(TARGET),
      testContext<typeof traceroute>({ packets: { ...fake, open }, signal: aborted.signal }),
    );
    opening.resolve();
    await new Promise((resolve) => setImmediate(resolve));

    expect(fake.openSockets()).toBe(0);
  });

  it.each([53, 123, 1_900, 11_211])('sends no datagrams to port %i, for any client', async (port) => {
    const { outcome, fake, admissions } = await traceOver(() => [], { protocol: 'udp', port });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' }, hops: [] });
    expect(fake.sent).toEqual([]);
    expect(admissions).toEqual([]);
  });

  it('says which capability is missing', async () => {
    const outcome = await runTraceroute(params(TARGET), testContext<typeof traceroute>());

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'capability_missing' }, hops: [], reached: false });
  });

  itNeeding(ipv4, process.env['CI'])('reaches the loopback in one hop by each protocol', async () => {
    for (const protocol of ['icmp', 'udp', 'tcp'] as const) {
      const context = testContext<typeof traceroute>({ packets });
      const outcome = await runTraceroute(params('127.0.0.1', { protocol, port: 1 }), context);

      expect(outcome).toMatchObject({ result: 'success', reached: true, hops: [{ hop: 1, ip: '127.0.0.1' }] });
      expect(outcome.hops?.[0]?.rtts.every((rtt) => rtt !== null)).toBe(true);
    }
  });
});
