import { describe, expect, it } from '@jest/globals';

import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, path, router, TARGET, traceOver, unreachable } from '../../../test/trace-network.ts';
import { parseTcp } from '../../sockets/wire/transport.ts';
import { skip } from '@vantage/test-support/virtual-time';

const HOPS = 4;
const inTime = { inTime: true, budgetMs: 44_000 };
/** TTL of the packets that follow the trace. */
const FULL_TTL = 64;

type Answer = (sent: FakeSent) => readonly FakeAnswer[];

/** A path whose target answers small packets as the function says, and large ones always. */
function to(target: Answer): Answer {
  return (sent) =>
    sent.ttl < HOPS ? [expired(sent, router(sent.ttl))] : sent.packet.length > 200 ? [arrived(sent)] : target(sent);
}

function answered(sent: FakeSent): FakeAnswer {
  return sent.protocol === 'udp' ? { ...unreachable(sent, 3, TARGET), rttMs: 20 } : arrived(sent, 20);
}

/** Answers as a token bucket that others use up: one packet of the probe every `ms` milliseconds. */
function every(ms: number): Answer {
  let nextMs = 0;
  return (sent) => {
    if (performance.now() < nextMs) return [];
    nextMs = performance.now() + ms;
    return [answered(sent)];
  };
}

function losing(percent: number, seed: number): Answer {
  const next = numbers(seed);
  return (sent) => (next(100) < percent ? [] : [answered(sent)]);
}

const isOutOfOrder = (group: readonly (number | null)[]): boolean =>
  group.some((rtt, index) => rtt === null && group.slice(index).some((later) => later !== null));

describe('the packets that follow a trace with loss at the target', () => {
  it.each([
    [{ flows: 8 }, 'icmp'],
    [{ flows: 8 }, 'udp'],
    [{ rounds: 10 }, 'icmp'],
    [{ flows: 'all' }, 'udp'],
  ] as const)('have the order of a limit behind one: %j by %s', async (options, protocol) => {
    for (const ms of [200, 1_000, 3_000]) {
      const { outcome } = await traceOver(to(every(ms)), { ...options, protocol }, inTime);
      const groups = outcome.spaced?.groups ?? [];

      expect(groups.filter(isOutOfOrder)).toEqual([]);
      // A limit is recognised before all groups are sent, which would take answers from other probes.
      expect(groups.length).toBeLessThanOrEqual(8);
    }
  });

  it.each([
    [{ flows: 8 }, 'icmp'],
    [{ flows: 8 }, 'udp'],
    [{ rounds: 20 }, 'icmp'],
  ] as const)('have another order behind loss: %j by %s', async (options, protocol) => {
    const proved: boolean[] = [];
    for (const seed of [1, 2, 3, 4]) {
      const { outcome } = await traceOver(to(losing(40, seed)), { ...options, protocol }, inTime);
      proved.push((outcome.spaced?.groups ?? []).filter(isOutOfOrder).length >= 2);
    }

    expect(proved).toEqual([true, true, true, true]);
  });

  it('are not sent without loss, whatever answers were not awaited', async () => {
    for (const rttMs of [1, 40, 300]) {
      const network: Answer = (sent) => path(HOPS)(sent).map((answer) => ({ ...answer, rttMs }));
      const { outcome } = await traceOver(network, { flows: 8 }, inTime);

      expect(outcome.spaced).toBeUndefined();
    }
  });

  it('wait until other probes have asked a target that answers few', async () => {
    const firstAt = async (target: Answer): Promise<number> => {
      const times: number[] = [];
      const note: Answer = (sent) => {
        if (sent.ttl === FULL_TTL && sent.packet.length < 200) times.push(performance.now());
        return to(target)(sent);
      };
      const { outcome } = await traceOver(note, { flows: 8 }, inTime);
      const sent = outcome.spaced?.sent ?? 0;
      return times.at(-sent)! - Math.max(0, times.at(-sent - 1) ?? 0);
    };

    expect(await firstAt(every(1_000))).toBeGreaterThan(7_000);
  });

  it('follow a single lost packet to the target’s hop', async () => {
    let number = 0;
    const { outcome } = await traceOver(
      to((sent) => ((number += 1) === 1 ? [] : [answered(sent)])),
      {},
      inTime,
    );

    expect(outcome.spaced).toMatchObject({ sent: 24, received: 24 });
  });

  it('follow a lost packet that does not count at the target’s hop, if a later one was answered', async () => {
    const lost: number[] = [];
    const network: Answer = (sent) => {
      const isLost = [2, HOPS + 3].includes(sent.ttl) && !lost.includes(sent.ttl);
      if (isLost) lost.push(sent.ttl);
      return isLost ? [] : to((one) => [answered(one)])(sent);
    };
    const { outcome } = await traceOver(network, {}, inTime);

    expect(outcome.hops?.at(-1)?.rtts).toEqual([20, 20, 20]);
    expect(outcome.spaced).toMatchObject({ sent: 24, received: 24 });
  });

  it('prove loss if a trace with three packets for each hop misses one', async () => {
    const proved: boolean[] = [];
    for (let seed = 1; seed <= 12; seed += 1) {
      const { outcome } = await traceOver(to(losing(30, seed)), {}, inTime);
      const isLossy = outcome.hops?.at(-1)?.rtts.includes(null) === true;
      if (isLossy) proved.push((outcome.spaced?.groups ?? []).filter(isOutOfOrder).length >= 2);
    }

    expect(proved.length).toBeGreaterThan(4);
    expect(proved).not.toContain(false);
  });

  describe('at a probe that stalls', () => {
    /** The target loses the second of every four packets; the probe stalls after those that `isAfter` chooses. */
    const stalledFor = async (milliseconds: number, isAfter: (count: number) => boolean) => {
      let [count, lost] = [0, 0];
      const network: Answer = (sent) => {
        if (sent.ttl !== FULL_TTL || sent.packet.length > 200) {
          const isLost = sent.ttl === HOPS && (lost += 1) === 1;
          return isLost ? [] : to((one) => [answered(one)])(sent);
        }
        count += 1;
        if (isAfter(count)) setTimeout(() => skip(milliseconds), 100);
        return count % 4 === 2 ? [] : [answered(sent)];
      };
      const { outcome } = await traceOver(network, {}, inTime);
      return { groups: outcome.spaced?.groups, sent: count };
    };
    const lossy = [20, null, 20, 20];

    it('briefly and often count like others', async () => {
      const { groups = [], sent } = await stalledFor(150, (count) => count % 4 === 0);

      expect(sent).toBeGreaterThan(4);
      expect(groups).toEqual(Array.from({ length: sent / 4 }, () => lossy));
    });

    it('for seconds are left out if an answer may have been missed', async () => {
      const { groups = [], sent } = await stalledFor(3_000, (count) => count === 4);

      expect(sent).toBeGreaterThan(4);
      expect(groups).toEqual(Array.from({ length: sent / 4 - 1 }, () => lossy));
    });
  });

  it('do not follow rounds behind a limit that answers the first packets and then one a second', async () => {
    let [left, nextMs] = [6, 0];
    const target: Answer = (sent) => {
      if (left === 0 && performance.now() < nextMs) return [];
      left = Math.max(0, left - 1);
      nextMs = performance.now() + 900;
      return [answered(sent)];
    };
    const { outcome } = await traceOver(to(target), { rounds: 5 }, inTime);

    expect(outcome.hops?.at(-1)?.rtts).toEqual([20, 20, 20, 20, 20]);
    expect(outcome.spaced).toBeUndefined();
  });

  it('do not follow a limit that answers the first packets, more than count at the target’s hop', async () => {
    let left = 4;
    const target: Answer = (sent) => ((left -= 1) < 0 ? [] : [answered(sent)]);
    const { outcome } = await traceOver(to(target), {}, inTime);

    expect(outcome.hops?.at(-1)?.rtts).toHaveLength(3);
    expect(outcome.spaced).toBeUndefined();
  });

  it('have packets left after a search for all paths that uses up those of the check', async () => {
    const next = numbers(5);
    const wide: Answer = (sent) => {
      if (sent.ttl > 2 && next(100) < 30) return [];
      return sent.ttl > 6 ? [answered(sent)] : [expired(sent, `10.${sent.ttl}.${(sent.identifier * 7_919) % 199}.1`)];
    };
    const { outcome, fake } = await traceOver(wide, { flows: 'all', protocol: 'udp' }, inTime);

    expect(outcome.multipath?.complete).toBe(false);
    expect((outcome.spaced?.groups ?? []).filter(isOutOfOrder).length).toBeGreaterThanOrEqual(2);
    expect(fake.sent.length).toBeLessThanOrEqual(640);
  });

  describe('are single SYNs to a port that accepts connections', () => {
    const synAck = ({ packet, identifier }: FakeSent): FakeAnswer => {
      const data = Buffer.alloc(20);
      data.writeUInt16BE(80, 0);
      data.writeUInt16BE(identifier, 2);
      data.writeUInt32BE((parseTcp(packet)!.sequence + 1) >>> 0, 8);
      data[12] = 5 << 4;
      data[13] = 2 | 16;
      return { protocol: 'tcp', data, from: TARGET, hopLimit: 60, rttMs: 20 };
    };

    it.each([
      ['all, after none was lost', [], 12],
      ['all, after a single one was lost', [3], 20],
      ['two lost ones, which prove loss', [1, 2], 9],
    ])('up to %s', async (_reason, lost, most) => {
      let after = 0;
      let isFirst = true;
      const target: Answer = (sent) => {
        if (sent.ttl === FULL_TTL) return lost.includes((after += 1)) ? [] : [synAck(sent)];
        const isLost = sent.ttl === HOPS && isFirst;
        isFirst &&= !isLost;
        return isLost ? [] : [synAck(sent)];
      };
      const { outcome } = await traceOver(to(target), { protocol: 'tcp' }, inTime);
      const { groups = [], sent = 0, received = 0, handshakes } = outcome.spaced ?? {};

      expect(handshakes).toBe(true);
      expect(sent - received).toBe(lost.length);
      expect(sent).toBeLessThanOrEqual(most);
      expect(groups).toHaveLength(Math.ceil(sent / 2));
    });
  });
});
