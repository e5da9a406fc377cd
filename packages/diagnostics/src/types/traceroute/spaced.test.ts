import { describe, expect, it } from '@jest/globals';

import type { FakeAnswer, FakeSent } from '../../../test/fake-packets.ts';
import { numbers } from '../../../test/numbers.ts';
import { arrived, expired, path, router, TARGET, traceOver, unreachable } from '../../../test/trace-network.ts';
import { parseTcp } from '../../sockets/wire/transport.ts';

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

/** Answers as a token bucket that others use up: one packet of the probe every so often. */
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

  it('are single SYNs to a port that accepts connections', async () => {
    let count = 0;
    const synAck = ({ packet, identifier }: FakeSent): FakeAnswer => {
      const data = Buffer.alloc(20);
      data.writeUInt16BE(80, 0);
      data.writeUInt16BE(identifier, 2);
      data.writeUInt32BE((parseTcp(packet)!.sequence + 1) >>> 0, 8);
      data[12] = 5 << 4;
      data[13] = 2 | 16;
      return { protocol: 'tcp', data, from: TARGET, hopLimit: 60, rttMs: 20 };
    };
    const target: Answer = (sent) => ((count += 1) % 3 === 0 ? [] : [synAck(sent)]);
    const { outcome } = await traceOver(to(target), { flows: 8, protocol: 'tcp' }, inTime);

    expect(outcome.spaced).toMatchObject({ handshakes: true, sent: 10 });
    expect(outcome.spaced?.groups.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 1));
  });
});
