import { isIPv6 } from 'node:net';

import type {
  Clock,
  PacketHeader,
  PacketSocketOptions,
  PacketSockets,
  ReceivedPacket,
} from '../src/sockets/packet-socket.ts';

/** A packet that a diagnostic sent. */
export interface FakeSent extends PacketSocketOptions {
  readonly identifier: number;
  readonly packet: Uint8Array;
  readonly destination: string;
  readonly ttl: number;
  readonly header?: PacketHeader | undefined;
}

/** Answer to a fake packet. `rttMs` is by the clock of the packet process. */
export interface FakeAnswer extends Omit<ReceivedPacket, 'receivedMs' | 'clock'> {
  readonly rttMs: number;
  /** `kernel` if absent. */
  readonly clock?: Clock;
}

export interface FakePackets extends PacketSockets {
  readonly sent: readonly FakeSent[];
  readonly openSockets: () => number;
  /** Ends the packet process. */
  readonly crash: () => void;
  /** Stops the packet process: nothing leaves, and what arrives is read, with its true time, when it runs again. */
  readonly stop: () => void;
  readonly resume: () => void;
}

export const FAKE_SOURCES = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;

/**
 * A packet socket with a simulated network.
 *
 * @param answer returns the answers to a packet; `send` rejects with what it throws
 * @param inTime true to deliver each answer after its `rttMs`; else all are delivered at once, in order
 */
export function fakePackets(
  answer: (sent: FakeSent, number: number) => readonly FakeAnswer[],
  inTime = false,
): FakePackets {
  const sent: FakeSent[] = [];
  const lost = new Set<(error: Error) => void>();
  let identifier = 40_000;
  let waiting: (() => void)[] | undefined;
  /** Acts now, or when the packet process runs again. */
  const whenRunning = (act: () => void): void => void (waiting === undefined ? act() : waiting.push(act));
  return {
    sent,
    openSockets: () => lost.size,
    stop: () => void (waiting ??= []),
    resume: () => {
      const acts = waiting ?? [];
      waiting = undefined;
      for (const act of acts) act();
    },
    crash: () => lost.forEach((listener) => listener(new Error('The test ended it.'))),
    sourceFor: async (destination) => {
      if (waiting !== undefined) await new Promise<void>(whenRunning);
      return FAKE_SOURCES[isIPv6(destination) ? 6 : 4];
    },
    open: async (options) => {
      identifier += 1;
      const own = options.identifier ?? identifier;
      let listener: (packet: ReceivedPacket) => void = () => undefined;
      let onLost: (error: Error) => void = () => undefined;
      const tell = (error: Error): void => onLost(error);
      lost.add(tell);
      return {
        identifier: own,
        send: async (packet, destination, ttl, header) => {
          if (waiting !== undefined) await new Promise<void>(whenRunning);
          const one = { ...options, identifier: own, packet, destination, ttl, header };
          sent.push(one);
          const answers = answer(one, sent.length);
          const sentMs = performance.now();
          const arrive = ({ rttMs, clock = 'kernel', ...rest }: FakeAnswer): void =>
            whenRunning(() => {
              const receivedMs = clock === 'kernel' ? sentMs + rttMs : Math.max(sentMs + rttMs, performance.now());
              listener({ ...rest, clock, receivedMs });
            });
          if (inTime) for (const one of answers) setTimeout(() => arrive(one), one.rttMs);
          else setImmediate(() => answers.forEach(arrive));
          return sentMs;
        },
        onPacket: (given) => void (listener = given),
        onLost: (given) => void (onLost = given),
        close: () => {
          listener = () => undefined;
          lost.delete(tell);
        },
      };
    },
  };
}
