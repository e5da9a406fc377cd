import { afterAll, describe, expect, it } from '@jest/globals';
import { resultSchema, type ParamsOf } from '@vantage/contract';
import { Compile } from 'typebox/compile';

import type { PacketSocket, PacketSocketOptions, PacketSockets } from '../../sockets/packet-socket.ts';
import { createPacketSockets } from '../../sockets/packet-sockets.ts';
import { echoRequest } from '../../sockets/wire/icmp.ts';
import { testContext, type TestContextOptions } from '@vantage/test-support/context';
import {
  fakePackets,
  FAKE_SOURCES,
  type FakeAnswer,
  type FakePackets,
  type FakeSent,
} from '../../../test/fake-packets.ts';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { echoReplyTo, icmpError, ipPacket, withChecksum } from '../../../test/raw-packets.ts';
import { standStill } from '@vantage/test-support/stand-still';
import { inVirtualTime, skip } from '@vantage/test-support/virtual-time';
import { MAX_DUPLICATE_ROWS, ping } from './contract.ts';
import { runPing } from './run.ts';

type Options = Partial<ParamsOf<typeof ping>['options']>;

const TARGET = '198.51.100.7';
const ROUTER = '10.1.1.1';
const schema = Compile(resultSchema(ping));

const packets = createPacketSockets();
const { ipv4, ipv6 } = await packets.probePrivilege();
afterAll(() => packets.close());

function params(host: string, options: Options = {}): ParamsOf<typeof ping> {
  return { host, options: { count: 3, interval: 200, size: 56, ...options } };
}

/** Runs a ping with stub sockets in virtual time. */
function virtualPing(context: TestContextOptions<typeof ping>, options: Options = {}): ReturnType<typeof runPing> {
  return inVirtualTime(() => runPing(params(TARGET, options), testContext<typeof ping>(context)));
}

/** Runs a ping in virtual time over a simulated network. */
async function pingOver(
  answer: (sent: FakeSent, number: number) => readonly FakeAnswer[],
  { hide = false, abandoned, ...options }: Options & { hide?: boolean; abandoned?: AbortSignal } = {},
): Promise<{ outcome: Awaited<ReturnType<typeof runPing>>; fake: FakePackets; partials: readonly object[] }> {
  const fake = fakePackets(answer);
  const partials: object[] = [];
  const outcome = await virtualPing(
    {
      packets: fake,
      abandoned,
      showPrivateAddresses: !hide,
      isPrivateAddress: (address) => address.startsWith('10.'),
      emitPartial: (fields) => partials.push(fields),
    },
    options,
  );
  const final = { ...outcome, startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z' };
  expect([...schema.Errors(final)]).toEqual([]);
  return { outcome, fake, partials };
}

function reply(
  sent: FakeSent,
  rttMs: number,
  change: (packet: Uint8Array) => Uint8Array | void = () => undefined,
): FakeAnswer {
  const reply = echoReplyTo(4, sent.packet);
  const data = change(reply) ?? reply;
  return { protocol: 'icmp', data, from: sent.destination, hopLimit: 57, rttMs };
}

function refusal(sent: FakeSent, type: number, code: number, from: string, mtu = 0): FakeAnswer {
  const quoted = ipPacket(FAKE_SOURCES[4], sent.destination, 1, sent.packet);
  return { protocol: 'icmp', data: icmpError(4, type, code, quoted, mtu), from, hopLimit: 60, rttMs: 3 };
}

describe('ping', () => {
  it('measures each packet and sums them up', async () => {
    const { outcome, fake } = await pingOver((sent, number) => [reply(sent, number * 10)]);

    expect(outcome).toMatchObject({
      result: 'success',
      error: null,
      resolvedIp: TARGET,
      rt: 20,
      rttMin: 10,
      rttAvg: 20,
      rttMax: 30,
      rttStdDev: 8.165,
      jitter: 10,
      pingCount: 3,
      pingCompleted: 3,
      loss: 0,
      anomalies: { duplicates: 0, late: 0, reordered: 0, corrupted: 0 },
      clock: 'kernel',
    });
    expect(outcome.packets).toEqual([
      { seq: 1, rtt: 10, ttl: 57, from: TARGET, duplicate: false },
      { seq: 2, rtt: 20, ttl: 57, from: TARGET, duplicate: false },
      { seq: 3, rtt: 30, ttl: 57, from: TARGET, duplicate: false },
    ]);
    expect(fake.openSockets()).toBe(0);
  });

  it('sends as many packets as asked, of the size and TTL asked, all to the pinned address', async () => {
    const { fake } = await pingOver((sent) => [reply(sent, 1)], { count: 5, size: 100, ttl: 9 });

    expect(fake.sent.map(({ packet, ttl, destination }) => [packet.length, ttl, destination])).toEqual(
      Array.from({ length: 5 }, () => [108, 9, TARGET]),
    );
    expect(Buffer.from(fake.sent[0]!.packet).toString('latin1')).toContain('vantage-test');
  });

  it.each([
    ['TTL', { ttl: 3 }],
    ['size', { size: 1_400 }],
    ['DSCP', { dscp: 46 }],
  ])('asks a target that is silent to a chosen %s by ordinary packets', async (_what, options) => {
    const isOrdinary = ({ packet, ttl, header }: FakeSent): boolean =>
      packet.length === 64 && ttl === 64 && (header?.dscp ?? 0) === 0;
    const { outcome, fake } = await pingOver((sent) => (isOrdinary(sent) ? [reply(sent, 20)] : []), options);
    const gone = await pingOver(() => [], options);

    expect(fake.sent.map(isOrdinary)).toEqual([false, false, false, true, true, true]);
    expect(outcome).toMatchObject({ result: 'timeout', pingCount: 3, loss: 1, ordinary: { sent: 3, received: 3 } });
    expect(gone.outcome).toMatchObject({ result: 'timeout', loss: 1, ordinary: { sent: 3, received: 0 } });
  });

  it('asks a target by ordinary packets if a router refuses those with a DSCP', async () => {
    const { outcome } = await pingOver(
      (sent) => [(sent.header?.dscp ?? 0) === 0 ? reply(sent, 20) : refusal(sent, 3, 13, ROUTER)],
      { dscp: 46 },
    );

    expect(outcome).toMatchObject({ result: 'failure', loss: 1, ordinary: { sent: 3, received: 3 } });
    expect(outcome.error?.code).toBe('administratively_prohibited');
  });

  it('sends no ordinary packets if its own are, if any is answered, or if errors tell why', async () => {
    const [ordinary, answered, expired, tooBig] = [
      await pingOver(() => []),
      await pingOver((sent, number) => (number === 1 ? [reply(sent, 20)] : []), { size: 1_400 }),
      await pingOver((sent) => [refusal(sent, 11, 0, ROUTER)], { ttl: 3 }),
      await pingOver((sent) => [refusal(sent, 3, 4, ROUTER)], { size: 1_400 }),
    ];

    for (const { outcome, fake } of [ordinary, answered, expired, tooBig]) {
      expect(outcome).not.toHaveProperty('ordinary');
      expect(fake.sent).toHaveLength(3);
    }
  });

  it('sends no packet more when no client follows it, and awaits those under way', async () => {
    const left = new AbortController();
    const { outcome, fake } = await pingOver(
      (sent, number) => {
        if (number === 3) left.abort();
        return [reply(sent, 150)];
      },
      { count: 16, endWithStream: true, abandoned: left.signal },
    );

    expect(fake.sent).toHaveLength(3);
    expect(outcome).toMatchObject({ result: 'success', pingCount: 3, loss: 0, packetsEnded: 'stream_closed' });
  });

  it('sends one packet if no client follows it from the start, and all without such a sign', async () => {
    const [none, all] = [AbortSignal.abort(), new AbortController().signal];
    const options = { count: 5, endWithStream: true };
    const left = await pingOver((sent) => [reply(sent, 1)], { ...options, abandoned: none });
    const followed = await pingOver((sent) => [reply(sent, 1)], { ...options, abandoned: all });

    expect(left.outcome).toMatchObject({ result: 'success', pingCount: 1, packetsEnded: 'stream_closed' });
    expect(followed.outcome).toMatchObject({ pingCount: 5 });
    expect(followed.outcome).not.toHaveProperty('packetsEnded');
  });

  it.each([0, 1, 15, 16, 1_472])('works with %i bytes of payload', async (size) => {
    const { outcome, fake } = await pingOver((sent) => [reply(sent, 1)], { size, count: 2 });

    expect(outcome).toMatchObject({ result: 'success', loss: 0 });
    expect(fake.sent[0]!.packet).toHaveLength(8 + size);
  });

  it('uses random bytes that differ from check to check', async () => {
    const payloads = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const { fake } = await pingOver((sent) => [reply(sent, 1)], { count: 1 });
      payloads.add(Buffer.from(fake.sent[0]!.packet.subarray(8, 24)).toString('hex'));
    }

    expect(payloads.size).toBe(3);
  });

  it('claims the clock of the kernel only where it timed every reply', async () => {
    const { outcome } = await pingOver((sent, number) => [
      { ...reply(sent, 1), clock: number === 2 ? 'process' : 'kernel' },
    ]);
    const { outcome: silent } = await pingOver(() => [], { count: 1 });

    expect(outcome.clock).toBe('process');
    expect(silent.clock).toBeNull();
  });

  it('keeps a lost packet as a row without RTT', async () => {
    const { outcome } = await pingOver((sent, number) => (number === 2 ? [] : [reply(sent, 4)]));

    expect(outcome).toMatchObject({ result: 'success', pingCount: 3, pingCompleted: 2, loss: 0.333 });
    expect(outcome.packets?.[1]).toEqual({ seq: 2, rtt: null, ttl: null, from: null, duplicate: false });
  });

  it('lists a duplicate and counts it in nothing else', async () => {
    const { outcome } = await pingOver((sent, number) =>
      number === 1 ? [reply(sent, 4), reply(sent, 9)] : [reply(sent, 4)],
    );

    expect(outcome).toMatchObject({ rttMax: 4, pingCompleted: 3, anomalies: { duplicates: 1 } });
    expect(outcome.packets?.map(({ seq, rtt, duplicate }) => [seq, rtt, duplicate])).toEqual([
      [1, 4, false],
      [1, 9, true],
      [2, 4, false],
      [3, 4, false],
    ]);
  });

  it('counts duplicates that it does not list', async () => {
    const { outcome } = await pingOver((sent, number) =>
      Array.from({ length: number === 1 ? 50 : 1 }, (_, index) => reply(sent, 5 + index)),
    );

    expect(outcome).toMatchObject({ pingCount: 3, pingCompleted: 3, anomalies: { duplicates: 49, late: 0 } });
    expect(outcome.packets).toHaveLength(3 + MAX_DUPLICATE_ROWS);
  });

  it('counts replies in another order', async () => {
    const kept: FakeAnswer[] = [];
    const { outcome } = await pingOver((sent, number) => {
      if (number > 1) return [reply(sent, 2), ...kept.splice(0)];
      kept.push(reply(sent, 30));
      return [];
    });

    expect(outcome).toMatchObject({ pingCompleted: 3, anomalies: { reordered: 1 } });
  });

  it('takes a reply after four seconds for a loss, and says that it was late', async () => {
    const { outcome } = await pingOver((sent, number) => [reply(sent, number === 1 ? 4_001 : 5)]);

    expect(outcome).toMatchObject({ pingCompleted: 2, rttMax: 5, anomalies: { late: 1 } });
    expect(outcome.packets?.[0]).toMatchObject({ seq: 1, rtt: null });
  });

  it.each([
    ['a wrong checksum', (packet: Uint8Array) => void (packet[2]! ^= 0xff)],
    ['a damaged payload', (packet: Uint8Array) => void (packet[50]! ^= 0xff)],
  ])('takes a reply with %s for a loss, and says that it was corrupted', async (_reason, damage) => {
    const { outcome } = await pingOver((sent, number) => [reply(sent, 5, number === 1 ? damage : undefined)]);

    expect(outcome).toMatchObject({ pingCompleted: 2, anomalies: { corrupted: 1 } });
  });

  it.each([
    ['damaged', (packet: Uint8Array) => void (packet[50]! ^= 0xff)],
    ['have a wrong checksum', (packet: Uint8Array) => void (packet[2]! ^= 0xff)],
    ['have more bytes', (packet: Uint8Array) => withChecksum(4, Uint8Array.of(...packet, 0, 0))],
  ])('does not say that nothing was answered if all replies %s', async (_reason, damage) => {
    const { outcome } = await pingOver((sent) => [reply(sent, 5, damage)]);

    expect(outcome).toMatchObject({
      result: 'timeout',
      error: {
        code: 'timed_out',
        message: 'Every reply that came in time was damaged, or of another length than what was sent.',
      },
      pingCompleted: 0,
      anomalies: { corrupted: 3 },
    });
  });

  it('counts no reply to somebody else who uses the same identifier', async () => {
    const { outcome } = await pingOver((sent) => {
      const foreign = echoRequest(4, sent.identifier, 1, Buffer.alloc(56, 0x55));
      return [{ ...reply(sent, 5), data: echoReplyTo(4, foreign) }];
    });

    expect(outcome).toMatchObject({
      result: 'timeout',
      error: { code: 'timed_out' },
      pingCount: 3,
      pingCompleted: 0,
      loss: 1,
      rt: null,
      rttMin: null,
      rttAvg: null,
      rttMax: null,
      jitter: null,
      anomalies: { corrupted: 0 },
    });
  });

  it.each([
    ['no route', 3, 0, 'network_unreachable'],
    ['no host', 3, 1, 'host_unreachable'],
    ['a filter', 3, 13, 'administratively_prohibited'],
    ['too few hops', 11, 0, 'time_exceeded'],
    ['a small link', 3, 4, 'packet_too_big'],
    ['a bad header', 12, 0, 'icmp_error'],
  ] as const)('fails when a router says of every packet: %s', async (_reason, type, code, failure) => {
    const { outcome, fake } = await pingOver((sent) => [refusal(sent, type, code, '203.0.113.9', code === 4 ? 68 : 0)]);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: failure, source: 'network' }, pingCompleted: 0 });
    expect(outcome.error?.message).toContain('203.0.113.9');
    expect(outcome).toMatchObject({ pingCount: 3, loss: 1 });
    expect(outcome.packets?.map(({ rtt, from, icmp }) => [rtt, from, icmp])).toEqual(
      Array.from({ length: 3 }, () => [null, '203.0.113.9', { type, code, from: '203.0.113.9' }]),
    );
    expect(fake.sent).toHaveLength(3);
  });

  it.each([
    ['the first packet', [1]],
    ['the second packet', [2]],
    ['all packets but the last', [1, 2, 3]],
    ['all packets but the first', [2, 3, 4]],
  ])('sends every packet and counts what is answered when an ICMP error comes about %s', async (_reason, refused) => {
    const { outcome, fake } = await pingOver(
      (sent, number) => (refused.includes(number) ? [refusal(sent, 3, 1, '203.0.113.9')] : [reply(sent, 5)]),
      { count: 4 },
    );

    expect(outcome).toMatchObject({
      result: 'success',
      error: null,
      pingCount: 4,
      pingCompleted: 4 - refused.length,
      loss: refused.length / 4,
    });
    const rows = outcome.packets?.filter(({ icmp }) => icmp?.type === 3);
    expect(rows?.map(({ seq, ttl, from }) => [seq, ttl, from])).toEqual(refused.map((seq) => [seq, 60, '203.0.113.9']));
    expect(fake.sent).toHaveLength(4);
  });

  it('awaits the replies under way when an ICMP error about a later packet comes first', async () => {
    const kept: FakeAnswer[] = [];
    const { outcome } = await pingOver((sent, number) => {
      if (number === 1) kept.push(reply(sent, 300));
      if (number === 2) return [refusal(sent, 3, 1, '203.0.113.9')];
      return number === 3 ? [...kept, reply(sent, 5)] : [];
    });

    expect(outcome).toMatchObject({ result: 'success', pingCompleted: 2, loss: 0.333 });
  });

  it('says the same whichever comes first, the reply to a packet or an ICMP error about it', async () => {
    const answers = (sent: FakeSent): FakeAnswer[] => [reply(sent, 5), refusal(sent, 3, 1, '203.0.113.9')];
    const replyFirst = await pingOver((sent) => answers(sent), { count: 1 });
    const errorFirst = await pingOver((sent) => answers(sent).toReversed(), { count: 1 });

    expect(replyFirst.outcome).toMatchObject({ result: 'success', loss: 0 });
    expect(errorFirst.outcome).toMatchObject({ result: 'success', loss: 0 });
  });

  it('tells what most ICMP errors say, and keeps each with its packet', async () => {
    const { outcome } = await pingOver((sent, number) => [
      number === 1 ? refusal(sent, 3, 0, '203.0.113.8') : refusal(sent, 3, 13, '203.0.113.9'),
    ]);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'administratively_prohibited' } });
    expect(outcome.packets?.map(({ icmp }) => icmp)).toEqual([
      { type: 3, code: 0, from: '203.0.113.8' },
      { type: 3, code: 13, from: '203.0.113.9' },
      { type: 3, code: 13, from: '203.0.113.9' },
    ]);
  });

  it('fails with the ICMP error when the other packets are lost in silence', async () => {
    const { outcome } = await pingOver((sent, number) => (number === 2 ? [refusal(sent, 3, 1, '203.0.113.9')] : []));

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'host_unreachable' }, pingCount: 3, loss: 1 });
  });

  it('counts an echo reply whose code is not zero', async () => {
    const { outcome } = await pingOver((sent) => {
      const answer = reply(sent, 5, (packet) => void (packet[1] = 3));
      return [{ ...answer, data: withChecksum(4, Uint8Array.from(answer.data)) }];
    });

    expect(outcome).toMatchObject({ result: 'success', pingCompleted: 3, anomalies: { corrupted: 0 } });
  });

  it('takes a packet that its own link does not carry for no answer of the network', async () => {
    const { outcome } = await pingOver(() => {
      throw Object.assign(new Error('no'), { code: 'EMSGSIZE' });
    });

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'packet_too_big', phase: 'request', source: 'probe' },
      pingCount: 0,
    });
  });

  it('names the MTU of the link that is too small', async () => {
    const { outcome } = await pingOver((sent) => [refusal(sent, 3, 4, '203.0.113.9', 1_280)], { size: 1_400 });

    expect(outcome.error).toMatchObject({ code: 'packet_too_big', message: expect.stringContaining('1280') });
  });

  it('does not believe that a packet is too big for a link that carries it', async () => {
    const { outcome } = await pingOver((sent) => [refusal(sent, 3, 4, '203.0.113.9', 1_300)]);

    expect(outcome).toMatchObject({
      result: 'failure',
      error: {
        code: 'icmp_error',
        message:
          '203.0.113.9 said that the packet is too big for the next link, which carries 1300 bytes, although it has only 84 (ICMP type 3 code 4).',
      },
    });
  });

  it('keeps the address of a private router to itself', async () => {
    const { outcome } = await pingOver((sent) => [refusal(sent, 3, 1, ROUTER)], { hide: true });

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'host_unreachable' } });
    expect(outcome.packets?.[0]?.icmp).toEqual({ type: 3, code: 1, from: null, private: true });
    expect(JSON.stringify(outcome)).not.toContain(ROUTER);
    expect(outcome.error?.message).toContain('A router with a private address');
  });

  it('remains a success when an error follows a reply', async () => {
    const { outcome } = await pingOver((sent, number) =>
      number === 1 ? [reply(sent, 2)] : [refusal(sent, 3, 1, '203.0.113.9')],
    );

    expect(outcome).toMatchObject({ result: 'success', error: null, pingCompleted: 1 });
  });

  it('does not believe an error about somebody else’s packet', async () => {
    const { outcome } = await pingOver((sent) => {
      const other = { ...sent, packet: echoRequest(4, sent.identifier, 1, Buffer.alloc(56, 0x55)) };
      return [
        refusal(other, 3, 1, '203.0.113.9'),
        refusal({ ...sent, destination: '192.0.2.200' }, 3, 1, '203.0.113.9'),
        reply(sent, 3),
      ];
    });

    expect(outcome).toMatchObject({ result: 'success', loss: 0 });
  });

  it('believes an error that quotes eight bytes, by their checksum', async () => {
    const cut = (sent: FakeSent): FakeSent => ({ ...sent, packet: sent.packet.slice(0, 8) });
    const forged = (sent: FakeSent): FakeSent => {
      const { packet } = cut(sent);
      packet[2]! ^= 0x11;
      return { ...sent, packet };
    };
    const believed = await pingOver((sent) => [refusal(cut(sent), 3, 1, '203.0.113.9')]);
    const ignored = await pingOver((sent) => [refusal(forged(sent), 3, 1, '203.0.113.9'), reply(sent, 1)]);

    expect(believed.outcome.error?.code).toBe('host_unreachable');
    expect(ignored.outcome.result).toBe('success');
  });

  it.each([
    ['ENETUNREACH', 'network_unreachable'],
    ['EHOSTUNREACH', 'host_unreachable'],
    ['EPERM', 'administratively_prohibited'],
  ])('is an error of the probe where its kernel does not send: %s', async (errno, code) => {
    const { outcome } = await pingOver(() => {
      throw Object.assign(new Error('no'), { code: errno });
    });

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code, phase: 'request', source: 'probe' },
      pingCount: 0,
      loss: null,
    });
  });

  it('is an error of the probe where its next hop does not answer on the link', async () => {
    const { outcome } = await pingOver((sent) => [refusal(sent, 3, 1, FAKE_SOURCES[4])]);

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'host_unreachable', source: 'probe' } });
    expect(outcome.packets?.[0]?.icmp).toMatchObject({ from: FAKE_SOURCES[4], own: true });
    expect(outcome.error?.message).toContain('next hop');
    expect(outcome.error?.message).not.toContain('outer');
  });

  it('is an error of the probe, with what it measured, where its next hop ceases to answer', async () => {
    const { outcome } = await pingOver(
      (sent, number) => (number <= 2 ? [reply(sent, 3)] : number === 3 ? [] : [refusal(sent, 3, 1, FAKE_SOURCES[4])]),
      { count: 4 },
    );

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'host_unreachable', source: 'probe' },
      pingCount: 4,
      pingCompleted: 2,
    });
  });

  it('is a success without what did not leave the probe where its next hop answers again', async () => {
    const { outcome } = await pingOver(
      (sent, number) =>
        number === 2
          ? []
          : number === 3
            ? [refusal(sent, 3, 1, FAKE_SOURCES[4])]
            : number === 5
              ? []
              : [reply(sent, 3)],
      { count: 6 },
    );

    expect(outcome).toMatchObject({
      result: 'success',
      error: null,
      pingCount: 4,
      pingCompleted: 3,
      packetsLeftOut: 2,
    });
    expect(outcome.packets?.map(({ seq }) => seq)).toEqual([1, 4, 5, 6]);
  });

  it.each([
    ['up to 55 s before and 1 s after a next hop that does not answer', 1, 9, 11],
    ['up to 1 s before and after a packet that its firewall refuses', 13, 3, 2],
  ])('leaves out silence %s', async (_what, code, packetsLeftOut, first) => {
    const { outcome } = await pingOver(
      (sent, number) => {
        if (number === 1 || number === 16) return [reply(sent, 3)];
        return number === 9 ? [refusal(sent, 3, code, FAKE_SOURCES[4])] : [];
      },
      { count: 16, interval: 700 },
    );

    expect(outcome).toMatchObject({ result: 'success', packetsLeftOut, pingCompleted: 2 });
    expect(outcome.packets?.[1]?.seq).toBe(first);
  });

  it('is a success with loss where a router refuses some packets', async () => {
    const { outcome } = await pingOver((sent, number) =>
      number === 1 ? [reply(sent, 3)] : [refusal(sent, 3, 1, '192.0.2.254')],
    );

    expect(outcome).toMatchObject({ result: 'success', error: null, pingCompleted: 1 });
  });

  it('is an error of the probe where its own firewall refuses', async () => {
    const { outcome } = await pingOver((sent) => [refusal(sent, 3, 13, FAKE_SOURCES[4])]);

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'administratively_prohibited', source: 'probe' },
    });
  });

  it('is an error of the probe where its kernel sends to no broadcast address', async () => {
    const { outcome } = await pingOver(() => {
      throw Object.assign(new Error('EACCES: Permission denied'), { code: 'EACCES' });
    });

    expect(outcome).toMatchObject({ result: 'error', error: { source: 'probe' }, pingCompleted: 0 });
    expect(outcome.error?.message).toContain('the packet was not sent');
  });

  it('ends as an error of the probe when the packet process dies', async () => {
    const fake = fakePackets(() => {
      setImmediate(() => fake.crash());
      return [];
    });
    const outcome = await virtualPing({ packets: fake });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } });
  });

  it('keeps what it measured when the packet process dies in the middle, and is no success', async () => {
    const fake = fakePackets((sent, number) => {
      if (number === 2) setImmediate(() => setImmediate(() => fake.crash()));
      return [reply(sent, 3)];
    });
    const outcome = await virtualPing({ packets: fake }, { count: 6 });

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'probe_interrupted', source: 'probe' },
      pingCount: 2,
      pingCompleted: 2,
      rttAvg: 3,
    });
    expect(outcome.packets?.map(({ seq, rtt }) => [seq, rtt])).toEqual([
      [1, 3],
      [2, 3],
    ]);
  });

  it('fails with what the kernel says when it no longer sends, and keeps what it measured', async () => {
    const { outcome } = await pingOver(
      (sent, number) => {
        if (number > 1) throw Object.assign(new Error('no'), { code: 'ENETUNREACH' });
        return [reply(sent, 3)];
      },
      { count: 6 },
    );

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'network_unreachable', phase: 'request', source: 'probe' },
      pingCount: 1,
      pingCompleted: 1,
      rttAvg: 3,
    });
  });

  it('ends as an error of the probe when the packet process stops answering after a reply', async () => {
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const hanging: PacketSockets = {
      ...fake,
      open: async (options) => {
        const socket = await fake.open(options);
        const send: PacketSocket['send'] = (...sent) =>
          fake.sent.length === 0 ? socket.send(...sent) : new Promise(() => undefined);
        return { ...socket, send };
      },
    };
    const outcome = await virtualPing({ packets: hanging });

    expect(outcome).toMatchObject({
      result: 'error',
      error: { code: 'probe_interrupted', source: 'probe' },
      pingCompleted: 1,
    });
  });

  it('loses nothing while the packet process stands still, and states for how long', async () => {
    for (const atMs of [0, 1, 450, 900]) {
      const fake: FakePackets = fakePackets((sent, number) => {
        if (number === 1) {
          setTimeout(fake.stop, atMs);
          setTimeout(fake.resume, atMs + 4_000);
        }
        return [reply(sent, 100)];
      }, true);
      const outcome = await virtualPing({ packets: fake }, { count: 8 });

      expect(outcome).toMatchObject({ result: 'success', pingCount: 8, pingCompleted: 8, loss: 0, rttMax: 100 });
      expect(outcome.stalled).toBeGreaterThan(3_600);
    }
  });

  it('leaves out packets whose replies are lost while the machine stands still', async () => {
    const fake: FakePackets = fakePackets((sent, number) => {
      if (number === 3) {
        setTimeout(fake.stop, 10);
        setTimeout(fake.resume, 3_500);
      }
      return number === 3 ? [] : [reply(sent, 5)];
    }, true);
    const outcome = await virtualPing({ packets: fake }, { count: 8 });

    expect(outcome).toMatchObject({ result: 'success', pingCount: 7, pingCompleted: 7, loss: 0, packetsLeftOut: 1 });
    expect(outcome.packets!.map(({ seq }) => seq)).toEqual([1, 2, 4, 5, 6, 7, 8]);
  });

  it('says nothing about a target of which every reply may be unread', async () => {
    const fake = fakePackets((_, number) => {
      if (number === 3) setTimeout(() => skip(2_500), 10);
      return [];
    }, true);
    const outcome = await virtualPing({ packets: fake });

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' }, packetsLeftOut: 3 });
  });

  it('leaves out a reply whose time it took after a stall', async () => {
    const fake: FakePackets = fakePackets((sent, number) => {
      if (number === 1) setTimeout(fake.stop, 1);
      if (number === 1) setTimeout(fake.resume, 2_500);
      return [{ ...reply(sent, 100), clock: 'process' }];
    }, true);
    const outcome = await virtualPing({ packets: fake }, { count: 3 });

    expect(outcome).toMatchObject({ result: 'success', rttMax: 100, packetsLeftOut: 1, pingCount: 2, loss: 0 });
  });

  it('counts a reply that is handed on before the time at which its request was sent', async () => {
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const open: PacketSockets['open'] = async (options) => {
      const socket = await fake.open(options);
      const send: PacketSocket['send'] = async (...packet) => {
        const sentMs = await socket.send(...packet);
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
        return sentMs;
      };
      return { ...socket, send };
    };
    const outcome = await virtualPing({ packets: { ...fake, open } }, { count: 1 });

    expect(outcome).toMatchObject({ result: 'success', rt: 1, pingCompleted: 1, anomalies: { late: 0 } });
  });

  it('calls nothing lost that the packet process has yet to read', async () => {
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const unread: (() => void)[] = [];
    const behind: PacketSockets = {
      open: async (options) => {
        const socket = await fake.open(options);
        const onPacket: PacketSocket['onPacket'] = (listener) =>
          socket.onPacket((packet) => unread.push(() => listener(packet)));
        return { ...socket, onPacket };
      },
      sourceFor: async (destination) => {
        for (const read of unread.splice(0)) read();
        return fake.sourceFor(destination);
      },
    };
    const outcome = await virtualPing({ packets: behind });

    expect(outcome).toMatchObject({ result: 'success', pingCompleted: 3, loss: 0 });
  });

  it('ends in time with what it has when the packet process answers nothing any more', async () => {
    const fake = fakePackets((sent, number) => (number === 1 ? [reply(sent, 1)] : []));
    const packets: PacketSockets = { ...fake, sourceFor: () => new Promise(() => undefined) };
    const outcome = await virtualPing({ packets, signal: new AbortController().signal });

    // Replies to the two other packets may be unread.
    expect(outcome).toMatchObject({ result: 'success', pingCount: 1, pingCompleted: 1, packetsLeftOut: 2 });
  });

  it('ends with its signal when no packet socket is opened, and closes one that comes too late', async () => {
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const stop = new AbortController();
    const opening = Promise.withResolvers<void>();
    const open = async (options: PacketSocketOptions): Promise<PacketSocket> => {
      setImmediate(() => stop.abort());
      await opening.promise;
      return fake.open(options);
    };
    const context = testContext<typeof ping>({ packets: { ...fake, open }, signal: stop.signal });
    const outcome = await runPing(params(TARGET), context);
    opening.resolve();
    await new Promise((resolve) => setImmediate(resolve));

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' }, resolvedIp: TARGET });
    expect(fake.openSockets()).toBe(0);
  });

  it('sends nothing after its time', async () => {
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const { signal } = new AbortController();
    const outcome = await virtualPing({ packets: fake, budgetMs: 400, signal }, { interval: 1_000 });

    expect(outcome).toMatchObject({ result: 'success', pingCount: 1 });
    expect(fake.sent).toHaveLength(1);
  });

  it.each([0, 600])('calls nothing lost whose reply had no time to come: %i ms', async (budgetMs) => {
    const { signal } = new AbortController();
    const packets = fakePackets(() => []);
    const outcome = await virtualPing({ packets, budgetMs, signal }, { count: 1 });

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'probe_timeout' }, pingCount: 0, loss: null });
  });

  it('counts the packets that had the time if the last one had not', async () => {
    const { signal } = new AbortController();
    const packets = fakePackets((sent, number) => (number === 1 ? [reply(sent, 1)] : []));
    const outcome = await virtualPing({ packets, budgetMs: 1_350, signal }, { count: 3, interval: 500 });

    expect(outcome).toMatchObject({ result: 'success', pingCount: 2, pingCompleted: 1, loss: 0.5 });
  });

  it('sends no packets in a bunch after a stall of the machine', async () => {
    const sentMs: number[] = [];
    const { outcome } = await pingOver(
      (sent, number) => {
        sentMs.push(performance.now());
        if (number === 2) skip(3_000);
        return [reply(sent, 1)];
      },
      { count: 6, interval: 200 },
    );
    const gaps = sentMs.slice(1).map((ms, index) => ms - sentMs[index]!);

    expect(outcome).toMatchObject({ result: 'success', pingCount: 6 });
    expect(gaps.filter((ms) => ms < 100)).toEqual([]);
  });

  it.each([0, 7])('believes no reply of another sender when %i bytes are too few to know its own', async (size) => {
    const { outcome } = await pingOver((sent) => [{ ...reply(sent, 5), from: '203.0.113.9' }], { size });

    expect(outcome).toMatchObject({ result: 'timeout', pingCompleted: 0 });
  });

  it('starts its sequence at random where its payload is too short to know its own', async () => {
    const firsts = new Set<number>();
    for (let round = 0; round < 4; round += 1) {
      const { outcome, fake } = await pingOver((sent) => [reply(sent, 1)], { size: 0 });
      const sequences = fake.sent.map(({ packet }) => Buffer.from(packet).readUInt16BE(6));
      firsts.add(sequences[0]!);

      expect(sequences.map((sequence) => (sequence - sequences[0]!) & 0xffff)).toEqual([0, 1, 2]);
      expect(outcome.packets?.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    }

    expect(firsts.size).toBeGreaterThan(1);
  });

  it('takes a reply with a payload to a request without one for somebody else’s', async () => {
    const { outcome } = await pingOver(
      (sent) => {
        const sequence = Buffer.from(sent.packet).readUInt16BE(6);
        const foreign = echoRequest(4, sent.identifier, sequence, Buffer.alloc(56, 0x55));
        return [{ ...reply(sent, 5), data: echoReplyTo(4, foreign) }];
      },
      { size: 0 },
    );

    expect(outcome).toMatchObject({ result: 'timeout', anomalies: { corrupted: 0 } });
  });

  it('shows what it has while it runs', async () => {
    const { partials } = await pingOver((sent) => [reply(sent, 1)]);

    expect(partials.length).toBeGreaterThanOrEqual(2);
    expect(partials[0]).toMatchObject({ pingCount: 1 });
    expect(partials).toContainEqual(expect.objectContaining({ pingCount: 2, pingCompleted: 2 }));
  });

  it('calls no packet lost that may still be answered', async () => {
    const shown: Parameters<NonNullable<TestContextOptions<typeof ping>['emitPartial']>>[0][] = [];
    await virtualPing({
      packets: fakePackets((sent) => [reply(sent, 300)], true),
      emitPartial: (fields) => void shown.push(fields),
    });

    expect(shown).toContainEqual(expect.objectContaining({ pingCount: 2, pingCompleted: 0, packets: [], loss: null }));
    expect(shown).toContainEqual(expect.objectContaining({ pingCount: 2, pingCompleted: 1, loss: 0 }));
    expect(shown.filter(({ loss }) => (loss ?? 0) > 0)).toEqual([]);
  });

  it('says which capability is missing', async () => {
    const unavailable = await runPing(params(TARGET), testContext<typeof ping>());
    const refusing = {
      ...fakePackets(() => []),
      open: () => Promise.reject(Object.assign(new Error('no'), { code: 'EPERM' })),
    };
    const refused = await runPing(params(TARGET), testContext<typeof ping>({ packets: refusing }));

    for (const outcome of [unavailable, refused]) {
      expect(outcome).toMatchObject({
        result: 'error',
        error: { code: 'capability_missing', source: 'probe' },
        resolvedIp: TARGET,
        pingCount: 0,
      });
    }
  });

  it('takes a packet process that ends as the check begins for an interruption', async () => {
    const dying = {
      ...fakePackets(() => []),
      open: () => Promise.reject(Object.assign(new Error('ESRCH: It ended.'), { code: 'ESRCH' })),
    };
    const outcome = await runPing(params(TARGET), testContext<typeof ping>({ packets: dying }));

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } });
  });

  it('sends nothing to a target that is not admitted', async () => {
    const fake = fakePackets(() => []);
    const context = testContext<typeof ping>({ packets: fake, refused: [TARGET] });
    const outcome = await runPing(params(TARGET), context);

    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' } });
    expect(context.admissions).toEqual([{ host: TARGET, purpose: 'icmp', family: undefined }]);
    expect(fake.sent).toEqual([]);
  });

  it('ends soon after its signal, with what it has', async () => {
    const stop = new AbortController();
    const fake = fakePackets((sent) => [reply(sent, 1)]);
    const emitPartial: TestContextOptions<typeof ping>['emitPartial'] = ({ pingCompleted }) => {
      if (pingCompleted === 1) stop.abort();
    };
    const outcome = await virtualPing(
      { packets: fake, signal: stop.signal, emitPartial },
      { count: 16, interval: 700 },
    );

    expect(outcome).toMatchObject({ result: 'success', pingCount: 1 });
  });

  itNeeding(ipv4, process.env['CI'])('measures the loopback over IPv4', async () => {
    const outcome = await runPing(params('127.0.0.1'), testContext<typeof ping>({ packets }));

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '127.0.0.1', pingCompleted: 3, loss: 0 });
    expect(outcome.packets?.every(({ ttl, from }) => ttl === 64 && from === '127.0.0.1')).toBe(true);
  });

  itNeeding(ipv4, process.env['CI'])('finds the replies that came while the machine stood still', async () => {
    const open = async (options: PacketSocketOptions): Promise<PacketSocket> => {
      const socket = await packets.open(options);
      let count = 0;
      const send: PacketSocket['send'] = (...sent) => {
        count += 1;
        // Longer than any wait after the first reply.
        if (count === 2) setImmediate(() => standStill(1_200));
        return socket.send(...sent);
      };
      return { ...socket, send };
    };
    const context = testContext<typeof ping>({ packets: { ...packets, open } });
    const outcome = await runPing(params('127.0.0.1', { count: 2 }), context);

    expect(outcome).toMatchObject({ result: 'success', error: null, pingCount: 2, pingCompleted: 2 });
  });

  itNeeding(ipv4, process.env['CI'])('keeps a hundred checks of one target apart', async () => {
    const checks = Array.from({ length: 100 }, () =>
      runPing(params('127.0.0.1', { count: 2 }), testContext<typeof ping>({ packets })),
    );
    for (const outcome of await Promise.all(checks)) {
      expect(outcome).toMatchObject({ pingCount: 2, pingCompleted: 2, anomalies: { duplicates: 0, corrupted: 0 } });
    }
  });

  itNeeding(ipv4 ?? ipv6 ?? ipv6Missing(), process.env['CI'])('measures the loopback over IPv6', async () => {
    const outcome = await runPing(params('::1', { size: 0 }), testContext<typeof ping>({ packets }));

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1', pingCompleted: 3, loss: 0 });
  });
});
