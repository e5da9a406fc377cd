import { describe, expect, it } from '@jest/globals';

import { FAKE_SOURCES, fakePackets, type FakeAnswer, type FakeSent } from '../../../test/fake-packets.ts';
import type { PacketSockets } from '../../sockets/packet-socket.ts';
import { icmpError, ipPacket, protocolNumber } from '../../../test/raw-packets.ts';
import {
  arrived,
  expired,
  ofTrace,
  path,
  router,
  TARGET,
  traceOver,
  unreachable,
} from '../../../test/trace-network.ts';

describe('the packets of a traceroute', () => {
  it('begin at the first hop that was asked for', async () => {
    const { outcome, fake } = await traceOver(path(7), { firstHop: 4 });

    expect(Math.min(...ofTrace(fake).map(({ ttl }) => ttl))).toBe(4);
    expect(outcome).toMatchObject({ result: 'success', firstHop: 4, stopReason: 'completed' });
    expect(outcome.hops?.map(({ hop, ip }) => [hop, ip])).toEqual([
      [4, router(4)],
      [5, router(5)],
      [6, router(6)],
      [7, TARGET],
    ]);
    expect(outcome.flows?.[0]?.hops).toEqual([[], [], [], ...Array.from({ length: 4 }, () => [0, 0, 0])]);
  });

  it('show a target that is nearer at the first hop', async () => {
    const { outcome } = await traceOver(path(2), { firstHop: 4 });

    expect(outcome).toMatchObject({ result: 'success', hops: [{ hop: 4, ip: TARGET, rtts: [2, 2, 2] }] });
  });

  it('begin there in each round', async () => {
    const { outcome, fake } = await traceOver(path(5), { firstHop: 3, rounds: 4 }, { inTime: true });

    expect(ofTrace(fake).filter(({ ttl }) => ttl < 3)).toEqual([]);
    expect(outcome.hops?.map(({ hop, stats }) => [hop, stats?.sent])).toEqual([
      [3, 4],
      [4, 4],
      [5, 4],
    ]);
  });

  it('say that five silent hops follow the first, without a claim about those before', async () => {
    const { outcome } = await traceOver(() => [], { firstHop: 8 });

    expect(outcome).toMatchObject({ result: 'timeout', stopReason: 'gap_limit' });
    expect(outcome.hops?.map(({ hop }) => hop)).toEqual([8, 9, 10, 11, 12]);
  });

  it('have the size, DSCP and source ports that were asked for', async () => {
    const closed = (sent: FakeSent): readonly FakeAnswer[] => [
      sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, TARGET),
    ];
    const asked = { protocol: 'udp', size: 900, dscp: 46, sourcePort: 5_000, flows: 2 } as const;
    const { outcome, fake } = await traceOver(closed, asked);
    const sent = fake.sent.filter(({ protocol }) => protocol === 'udp');
    const { protocol: _protocol, flows: _flows, ...shown } = asked;

    expect(outcome).toMatchObject({ result: 'success', ...shown });
    expect(new Set(sent.map(({ packet }) => packet.length))).toEqual(new Set([880]));
    expect(new Set(sent.map(({ identifier }) => identifier))).toEqual(new Set([5_000, 5_001]));
    // All packets, including those of the path MTU search.
    expect(new Set(fake.sent.map(({ header }) => header?.dscp))).toEqual(new Set([46]));
  });

  it('have the DSCP in the search for a filter of the port too', async () => {
    const refusing = (sent: FakeSent): readonly FakeAnswer[] => [
      sent.ttl < 3 ? expired(sent, router(sent.ttl)) : unreachable(sent, 3, router(3)),
    ];
    const { fake } = await traceOver(refusing, { protocol: 'udp', dscp: 46 });
    const requests = fake.sent.filter(({ protocol, ttl }) => protocol === 'icmp' && ttl === 3);

    expect(requests.map(({ header }) => header?.dscp)).toEqual([46, 46, 46]);
  });

  it.each<[string, Parameters<typeof traceOver>[1], (sent: FakeSent) => boolean]>([
    ['a DSCP', { dscp: 46 }, ({ header }) => header?.dscp === 46],
    ['a DSCP by udp', { protocol: 'udp', dscp: 46 }, ({ header }) => header?.dscp === 46],
    ['a small size', { size: 400 }, ({ packet }) => packet.length > 100],
  ])('are followed by ordinary echo requests if the path drops packets with %s', async (_what, options, isDropped) => {
    const network = path(4, (sent) => (isDropped(sent) && sent.ttl > 2 ? [] : undefined));
    const { outcome } = await traceOver(network, options, { inTime: true });

    expect(outcome).toMatchObject({ result: 'timeout', reached: false, ordinary: { sent: 1, received: 1 } });
    expect(outcome.echo?.received ?? 0).toBe(0);
  });

  it('are followed by ordinary echo requests if a router refuses those with a DSCP, and not those of a size', async () => {
    const refusing = (code: number) =>
      path(4, (sent) => (sent.ttl > 2 && sent.header?.dscp === 46 ? [unreachable(sent, code, router(2))] : undefined));
    const [forbidden, tooBig] = [
      await traceOver(refusing(13), { dscp: 46 }, { inTime: true }),
      await traceOver(refusing(4), { dscp: 46, size: 1_400 }, { inTime: true }),
    ];

    expect(forbidden.outcome).toMatchObject({ result: 'failure', reached: false, ordinary: { sent: 1, received: 1 } });
    expect(tooBig.outcome).toMatchObject({ error: { code: 'packet_too_big' } });
    expect(tooBig.outcome.ordinary).toBeUndefined();
  });

  it('are followed by ordinary ones only if their size or DSCP may be the cause of silence', async () => {
    const deaf = (sent: FakeSent): readonly FakeAnswer[] => (sent.ttl > 2 ? [] : [expired(sent, router(sent.ttl))]);
    const outcomes = [
      await traceOver(deaf, {}, { inTime: true }),
      await traceOver(path(3), { dscp: 46 }, { inTime: true }),
      await traceOver(deaf, { dscp: 46 }, { inTime: true }),
    ];

    expect(outcomes.map(({ outcome }) => outcome.ordinary)).toEqual([undefined, undefined, { sent: 3, received: 0 }]);
  });

  it('have no such fields in the result if none were asked for', async () => {
    const { outcome } = await traceOver(path(3));

    expect(Object.keys(outcome)).not.toEqual(expect.arrayContaining(['dscp']));
    expect([outcome.firstHop, outcome.size, outcome.sourcePort]).toEqual([undefined, undefined, undefined]);
  });

  it('wait for no other check with the same source port', async () => {
    const idle = fakePackets(() => []);
    const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
    const packets: PacketSockets = {
      ...idle,
      open: (wanted) => (wanted.identifier === 5_000 ? Promise.reject(inUse) : idle.open(wanted)),
    };
    const { outcome } = await traceOver(path(3), { protocol: 'tcp', sourcePort: 5_000 }, { packets });

    expect(outcome.error).toMatchObject({
      code: 'probe_busy',
      source: 'probe',
      message: expect.stringContaining('5000'),
    });
    expect(outcome.sourcePort).toBe(5_000);
  });
});

describe('the replies of a hop', () => {
  const quoting = (sent: FakeSent, hopLimit: number, dscp: number, source: string = FAKE_SOURCES[4]): Uint8Array => {
    const quoted = ipPacket(source, sent.destination, protocolNumber(4, sent.protocol), sent.packet, hopLimit);
    quoted[1] = dscp << 2;
    return icmpError(4, 11, 0, quoted);
  };

  it('are listed once if they are alike, with what their headers have', async () => {
    const network = path(3, (sent) => {
      if (sent.ttl !== 2) return undefined;
      const data = quoting(sent, 3, 10, '192.0.2.200');
      return [{ protocol: 'icmp', data, from: router(2), hopLimit: 250, rttMs: 2 }];
    });
    const { outcome, partials } = await traceOver(network, { dscp: 46 });

    expect(outcome.hops?.map(({ replies, packets }) => [replies, packets])).toEqual([
      [[{ responder: 0, ttl: 60, type: 11, code: 0, quotedTtl: 1, quotedDscp: 0 }], [0, 0, 0]],
      [[{ responder: 0, ttl: 250, type: 11, code: 0, quotedTtl: 3, quotedDscp: 10, rewritten: ['source'] }], [0, 0, 0]],
      [[{ responder: 0, ttl: 60 }], [0, 0, 0]],
    ]);
    expect(JSON.stringify(partials)).not.toContain('replies');
  });

  it('are counted if they come twice, or when the packet counts as lost', async () => {
    const twice = path(3, (sent) =>
      sent.ttl === 2 ? [expired(sent, router(2)), expired(sent, router(2), 3)] : undefined,
    );
    const late = path(3, (sent) => (sent.ttl === 3 ? [arrived(sent, sent.packet[7]! > 4 ? 4_500 : 5)] : undefined));
    const [doubled, delayed] = [
      await traceOver(twice, { rounds: 3 }, { inTime: true }),
      await traceOver(late, { rounds: 12 }, { inTime: true }),
    ];

    expect(doubled.outcome.hops?.map(({ duplicates }) => duplicates)).toEqual([undefined, 3, undefined]);
    expect(delayed.outcome.hops?.[2]?.late).toBeGreaterThan(0);
    expect(delayed.outcome.hops?.[2]?.stats?.received).toBeLessThan(12);
  });

  it('are counted up to the bound of the field, however many a target sends', async () => {
    const flooding = path(3, (sent) =>
      sent.ttl === 2 ? Array.from({ length: 400 }, () => expired(sent, router(2))) : undefined,
    );
    const { outcome } = await traceOver(flooding);

    expect(outcome.hops?.map(({ duplicates }) => duplicates)).toEqual([undefined, 640, undefined]);
  });
});
