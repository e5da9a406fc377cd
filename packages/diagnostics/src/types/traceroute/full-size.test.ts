import { describe, expect, it } from '@jest/globals';
import { cases } from '@vantage/test-support/random/case-count';

import { FAKE_SOURCES, type FakeAnswer, type FakeSent } from '../../../test/fake-packets.ts';
import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, router, TARGET, traceOver, unreachable } from '../../../test/trace-network.ts';
import { parseTcp } from '../../sockets/wire/transport.ts';
import { MAX_FULL_SIZE_PACKETS, MAX_PACKETS } from './contract.ts';

const RUNS = cases(6);
const DISTANCE = 4;
/** Above the size of the trace's packets and of the small ones of the search, below full size. */
const LARGE_BYTES = 300;
const inTime = { inTime: true, budgetMs: 30_000 };

type Protocol = 'icmp' | 'udp' | 'tcp';
type Network = (sent: FakeSent) => readonly FakeAnswer[];

const bytesOf = ({ packet }: FakeSent): number => packet.length + 20;

/** The answer of the target: a closed port, which acknowledges the data of a SYN. */
function closed(sent: FakeSent, rttMs: number): FakeAnswer {
  if (sent.protocol === 'icmp') return arrived(sent, rttMs);
  if (sent.protocol === 'udp') return { ...unreachable(sent, 3, TARGET), rttMs };
  return tcpAnswer(sent, 4 | 16, bytesOf(sent) - 44, rttMs);
}

function tcpAnswer({ packet, identifier }: FakeSent, flags: number, dataBytes: number, rttMs: number): FakeAnswer {
  const { sequence } = parseTcp(packet)!;
  const data = Buffer.alloc(20);
  data.writeUInt16BE(80, 0);
  data.writeUInt16BE(identifier, 2);
  data.writeUInt32BE((sequence + 1 + dataBytes) >>> 0, 8);
  data[12] = 5 << 4;
  data[13] = flags;
  return { protocol: 'tcp', data, from: TARGET, hopLimit: 60, rttMs };
}

interface Sizes {
  /** Largest packets of each protocol that are not lost. */
  readonly carried?: Partial<Record<Protocol, number>>;
  /** Largest packet that the first router forwards. */
  readonly refusing?: number;
  readonly rttMs?: number;
  readonly answer?: (sent: FakeSent, rttMs: number) => FakeAnswer | undefined;
}

/** A path of four hops that loses large packets of some protocols behind its first router. */
function over({ carried = {}, refusing = 1_500, rttMs = 20, answer = closed }: Sizes): Network {
  return (sent) => {
    const bytes = bytesOf(sent);
    if (sent.ttl === 1) return [expired(sent, router(1), 5)];
    if (bytes > refusing) return [{ ...unreachable(sent, 4, router(1), refusing), rttMs: 5 }];
    if (bytes > (carried[sent.protocol] ?? 1_500)) return [];
    if (sent.ttl < DISTANCE) return [expired(sent, router(sent.ttl), rttMs)];
    return [answer(sent, rttMs) ?? []].flat();
  };
}

const fullSized = ({ sent }: Awaited<ReturnType<typeof traceOver>>['fake'], protocol: Protocol): readonly FakeSent[] =>
  sent.filter((one) => one.protocol === protocol && bytesOf(one) > LARGE_BYTES);

describe.each(['udp', 'tcp'] as const)('packets of %s in full size', (protocol) => {
  it.each<[string, Sizes, object]>([
    ['arrive', {}, { pathMtu: 1_500, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: true } }],
    [
      'arrive though a filter drops large echo requests',
      { carried: { icmp: 1_000 } },
      { pathMtu: 1_000, mtuBlackHole: 1_001, fullSize: { bytes: 1_500, arrives: true } },
    ],
    [
      'vanish as echo requests do',
      { carried: { icmp: 1_300, udp: 1_300, tcp: 1_300 } },
      { pathMtu: 1_300, mtuBlackHole: 1_301, fullSize: { bytes: 1_500, arrives: false } },
    ],
    [
      'vanish though echo requests of this size are answered',
      { carried: { udp: 1_300, tcp: 1_300 } },
      { pathMtu: 1_500, mtuBlackHole: null, fullSize: { bytes: 1_500, arrives: false } },
    ],
    [
      'arrive in the size that a router reports',
      { refusing: 1_400 },
      { pathMtu: 1_400, mtuBlackHole: null, fullSize: { bytes: 1_400, arrives: true } },
    ],
    [
      'vanish beyond a router that reports a larger size',
      { refusing: 1_400, carried: { icmp: 1_300, udp: 1_300, tcp: 1_300 } },
      { pathMtu: 1_300, mtuBlackHole: 1_301, fullSize: { bytes: 1_400, arrives: false } },
    ],
    [
      'get the report of a router that echo requests do not reach',
      { refusing: 1_400, carried: { icmp: 0 } },
      { pathMtu: 1_400, mtuBlackHole: null, fullSize: { bytes: 1_400, arrives: true } },
    ],
  ])('%s', async (_reason, sizes, fields) => {
    for (const rttMs of [2, 200, 1_000]) {
      const { outcome, fake } = await traceOver(over({ ...sizes, rttMs }), { protocol }, inTime);

      expect(outcome).toMatchObject({ reached: true, ...fields });
      expect(fullSized(fake, protocol).length).toBeLessThanOrEqual(MAX_FULL_SIZE_PACKETS);
    }
  });

  it.each([{ flows: 'all' as const }, { flows: 4 }, { rounds: 3 }])('are sent by %j too', async (options) => {
    const large = { carried: { [protocol]: 1_300 } };
    const { outcome, fake } = await traceOver(over(large), { protocol, ...options }, { ...inTime, budgetMs: 40_000 });

    expect(outcome.fullSize).toEqual({ bytes: 1_500, arrives: false });
    expect(fake.sent.length).toBeLessThanOrEqual(MAX_PACKETS);
  });

  it('are one if the target answers it, of the flow that reached it', async () => {
    const { fake } = await traceOver(over({}), { protocol, flows: 2 }, inTime);

    const ports = fake.sent.filter((one) => one.protocol === protocol && bytesOf(one) <= LARGE_BYTES);
    expect(fullSized(fake, protocol)).toHaveLength(1);
    expect(ports.map(({ identifier }) => identifier)).toContain(fullSized(fake, protocol)[0]!.identifier);
  });

  /** Three paths behind the first router, one of which carries packets of up to this size. */
  const ways = (seed: number, carried: number, answer: Sizes['answer'] = closed): Network => {
    const next = numbers(seed * 7_919);
    const chosen = new Map<string, number>();
    return (sent) => {
      const key = `${sent.protocol} ${sent.identifier}`;
      const way = chosen.get(key) ?? next(3);
      chosen.set(key, way);
      if (sent.ttl > 2 && way === 0 && bytesOf(sent) > carried) return [];
      return sent.ttl === 2 ? [expired(sent, router(20 + way), 10)] : over({ answer })(sent);
    };
  };

  it.each([{ flows: 'all' as const }, { flows: 16, queries: 1 }])(
    'are sent over each way, and vanish if one does not carry them: %j',
    async (options) => {
      for (let seed = 1; seed <= RUNS / 2; seed += 1) {
        const { outcome, fake } = await traceOver(ways(seed, 1_300), { protocol, ...options }, inTime);

        expect({ seed, fullSize: outcome.fullSize }).toEqual({ seed, fullSize: { bytes: 1_500, arrives: false } });
        expect(fullSized(fake, protocol).length).toBeLessThanOrEqual(MAX_FULL_SIZE_PACKETS);
      }
      const { outcome, fake } = await traceOver(ways(1, 1_500), { protocol, ...options }, inTime);
      expect(outcome.fullSize).toEqual({ bytes: 1_500, arrives: true });
      expect(new Set(fullSized(fake, protocol).map(({ identifier }) => identifier)).size).toBe(3);
    },
  );

  it.each([0.5, 1])(
    'do not vanish on any of several ways if the target answers %d packets a second',
    async (perSecond) => {
      for (let seed = 1; seed <= RUNS / 2; seed += 1) {
        let tokens = seed;
        let lastMs: number | undefined;
        const limited = (sent: FakeSent, rttMs: number): FakeAnswer | undefined => {
          const now = performance.now();
          tokens = Math.min(6, tokens + ((now - (lastMs ?? now)) * perSecond) / 1_000);
          lastMs = now;
          if (tokens < 1) return undefined;
          tokens -= 1;
          return closed(sent, rttMs);
        };
        const { outcome } = await traceOver(ways(seed, 1_500, limited), { protocol, flows: 'all' }, inTime);

        expect({ seed, arrives: outcome.fullSize?.arrives ?? true }).toEqual({ seed, arrives: true });
      }
    },
  );

  it('prove nothing if a router refuses them for another reason', async () => {
    const filter: Network = (sent) =>
      sent.protocol === protocol && bytesOf(sent) > 1_000 ? [unreachable(sent, 13, router(2))] : over({})(sent);
    const { outcome } = await traceOver(filter, { protocol }, inTime);

    expect(outcome).toMatchObject({ reached: true, pathMtu: 1_500 });
    expect(outcome.fullSize).toBeUndefined();
  });

  it('prove nothing in too little time', async () => {
    const large = { carried: { [protocol]: 1_300 } };
    const { outcome } = await traceOver(over(large), { protocol }, { ...inTime, budgetMs: 5_000 });

    expect(outcome.reached).toBe(true);
    expect(outcome.fullSize).toBeUndefined();
  });

  it.each([0.25, 0.5, 1, 2])('do not vanish if the target answers %d packets a second', async (perSecond) => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const next = numbers(seed * 7_919);
      let tokens = 1 + (seed % 9);
      let lastMs: number | undefined;
      const limited = (sent: FakeSent, rttMs: number): FakeAnswer | undefined => {
        const now = performance.now();
        tokens = Math.min(1 + (seed % 9), tokens + ((now - (lastMs ?? now)) * perSecond) / 1_000);
        lastMs = now;
        // Other probes share the limit.
        if (tokens < 1 || next(100) < (seed % 4) * 20) return undefined;
        tokens -= 1;
        return closed(sent, rttMs);
      };
      const { outcome } = await traceOver(over({ answer: limited }), { protocol }, inTime);

      expect({ seed, arrives: outcome.fullSize?.arrives ?? true }).toEqual({ seed, arrives: true });
    }
  });

  it.each([10, 30, 50, 70])('do not vanish on a path that loses %i %%', async (percent) => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const next = numbers(seed * 104_729 + percent);
      const { outcome } = await traceOver((sent) => (next(100) < percent ? [] : over({})(sent)), { protocol }, inTime);

      expect({ seed, arrives: outcome.fullSize?.arrives ?? true }).toEqual({ seed, arrives: true });
    }
  });
});

describe('packets in full size', () => {
  it.each([1_500, 1_300])('prove nothing if datagrams that show no number answer, up to %i bytes', async (udp) => {
    const reply = (sent: FakeSent, rttMs: number): FakeAnswer => {
      if (sent.protocol !== 'udp') return arrived(sent, rttMs);
      const data = Buffer.alloc(12);
      data.writeUInt16BE(33_434, 0);
      data.writeUInt16BE(sent.identifier, 2);
      return { protocol: 'udp', data, from: TARGET, hopLimit: 60, rttMs };
    };
    const { outcome } = await traceOver(over({ answer: reply, carried: { udp } }), { protocol: 'udp' }, inTime);

    expect(outcome).toMatchObject({ reached: true, pathMtu: 1_500 });
    expect(outcome.fullSize).toBeUndefined();
  });

  it('are known by a SYN-ACK that does not acknowledge their data', async () => {
    const open = (sent: FakeSent, rttMs: number): FakeAnswer =>
      sent.protocol === 'tcp' ? tcpAnswer(sent, 2 | 16, 0, rttMs) : arrived(sent, rttMs);
    const { outcome, fake } = await traceOver(over({ answer: open }), { protocol: 'tcp' }, inTime);

    expect(outcome.fullSize).toEqual({ bytes: 1_500, arrives: true });
    expect(fullSized(fake, 'tcp').map(({ packet }) => packet.length)).toEqual([1_480]);
  });

  it.each([{}, { protocol: 'udp', size: 900 }] as const)('are not sent with %j', async (options) => {
    const { outcome, fake } = await traceOver(over({}), options, inTime);

    expect(outcome.fullSize).toBeUndefined();
    expect(fullSized(fake, 'udp').filter((one) => bytesOf(one) !== 900)).toEqual([]);
  });

  it('are not sent to a target that is not reached', async () => {
    const { fake } = await traceOver(over({ answer: () => undefined }), { protocol: 'udp' }, inTime);

    expect(fullSized(fake, 'udp')).toEqual([]);
  });

  it('have a checksum over their data', async () => {
    const { fake } = await traceOver(over({}), { protocol: 'tcp' }, inTime);
    const [{ packet }] = fullSized(fake, 'tcp') as [FakeSent];
    const sum = (bytes: Uint8Array): number =>
      bytes.reduce((total, byte, at) => total + (at % 2 === 0 ? byte << 8 : byte), 0);
    const addresses = [FAKE_SOURCES[4], TARGET].flatMap((address) => address.split('.').map(Number));
    const total = sum(Uint8Array.from([...addresses, 0, 6, packet.length >> 8, packet.length & 255])) + sum(packet);

    expect(((total & 0xffff) + (total >>> 16) + 0) % 0xffff).toBe(0);
  });
});
