import { expect } from '@jest/globals';
import { resultSchema, type ParamsOf } from '@vantage/contract';
import { Compile } from 'typebox/compile';

import { traceroute } from '../src/types/traceroute/contract.ts';
import { runTraceroute } from '../src/types/traceroute/run.ts';
import { testContext, type TestContextOptions } from '@vantage/test-support/context';
import { FAKE_SOURCES, fakePackets, type FakeAnswer, type FakePackets, type FakeSent } from './fake-packets.ts';
import { echoReplyTo, icmpError, ipPacket, protocolNumber, timeExceeded } from './raw-packets.ts';
import { inVirtualTime } from '@vantage/test-support/virtual-time';

type Options = Partial<ParamsOf<typeof traceroute>['options']>;
type Network = (sent: FakeSent) => readonly FakeAnswer[];

export const TARGET = '198.51.100.7';
const schema = Compile(resultSchema(traceroute));

export const router = (hop: number): string => `203.0.113.${hop}`;

export function params(host: string, options: Options = {}): ParamsOf<typeof traceroute> {
  return { host, options: { protocol: 'icmp', maxHops: 30, queries: 3, flows: 1, ...options } };
}

/** Runs a traceroute over simulated packet sockets, with a clock that advances without waiting. */
export function virtualTrace(
  context: TestContextOptions<typeof traceroute>,
  options: Options = {},
): ReturnType<typeof runTraceroute> {
  return inVirtualTime(() => runTraceroute(params(TARGET, options), testContext<typeof traceroute>(context)));
}

/** Traces over a simulated network; with `inTime`, each answer arrives after its round-trip time. */
export async function traceOver(
  network: Network,
  options: Options = {},
  more: TestContextOptions<typeof traceroute> & { readonly inTime?: boolean } = {},
): Promise<{
  outcome: Awaited<ReturnType<typeof runTraceroute>>;
  fake: FakePackets;
  partials: readonly object[];
  admissions: readonly object[];
}> {
  const { inTime = false, ...own } = more;
  const fake = fakePackets(network, inTime);
  const admissions: object[] = [];
  const partials: object[] = [];
  const { admit } = testContext();
  const context: TestContextOptions<typeof traceroute> = {
    packets: fake,
    admit: (request, signal) => {
      admissions.push(request);
      return admit(request, signal);
    },
    emitPartial: (fields) => partials.push(fields),
    ...own,
  };
  const outcome = await virtualTrace(context, options);
  const final = { ...outcome, startedAt: null, finishedAt: '2026-01-01T00:00:00.000Z' };
  expect([...schema.Errors(final)]).toEqual([]);
  expect(fake.openSockets()).toBe(0);
  return { outcome, fake, partials, admissions };
}

export function expired(sent: FakeSent, from: string, rttMs = sent.ttl): FakeAnswer {
  const data = timeExceeded(4, FAKE_SOURCES[4], sent.destination, protocolNumber(4, sent.protocol), sent.packet);
  return { protocol: 'icmp', data, from, hopLimit: 60, rttMs };
}

export function unreachable(sent: FakeSent, code: number, from: string, word = 0, hopLimit = 1): FakeAnswer {
  const number = protocolNumber(4, sent.protocol);
  const quoted = ipPacket(FAKE_SOURCES[4], sent.destination, number, sent.packet, hopLimit);
  return { protocol: 'icmp', data: icmpError(4, 3, code, quoted, word), from, hopLimit: 60, rttMs: sent.ttl };
}

export function arrived(sent: FakeSent, rttMs = sent.ttl): FakeAnswer {
  return { protocol: 'icmp', data: echoReplyTo(4, sent.packet), from: sent.destination, hopLimit: 60, rttMs };
}

/** The target’s answer to a packet of any protocol. */
export function answerOfTarget(sent: FakeSent, tcpFlags = 0x12): FakeAnswer {
  if (sent.protocol === 'icmp') return arrived(sent, 20);
  if (sent.protocol === 'udp') return { ...unreachable(sent, 3, TARGET), rttMs: 20 };
  const syn = Buffer.from(sent.packet);
  const data = Buffer.alloc(20);
  syn.copy(data, 0, 2, 4);
  syn.copy(data, 2, 0, 2);
  data.writeUInt32BE((syn.readUInt32BE(4) + 1) >>> 0, 8);
  data[13] = tcpFlags;
  return { protocol: 'tcp', data, from: TARGET, hopLimit: 60, rttMs: 20 };
}

/** Sent packets shorter than 200 bytes: not the large ones that ask for sizes. */
export function ofTrace({ sent }: FakePackets): readonly FakeSent[] {
  return sent.filter(({ packet }) => packet.length < 200);
}

/** A linear path with this number of hops to the target. */
export function path(
  length: number,
  answer: (sent: FakeSent) => readonly FakeAnswer[] | undefined = () => undefined,
): Network {
  return (sent) => answer(sent) ?? [sent.ttl < length ? expired(sent, router(sent.ttl)) : arrived(sent, length)];
}
