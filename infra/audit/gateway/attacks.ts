import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { encodeMessage } from '@vantage/agent-loop';
import { probeOfToken } from '@vantage/contract';

import { createAgentKey } from '../../../apps/coordinator/test/agent-key.ts';
import { admit, anyAddress, drained, identify, open } from './connect.ts';

/** What the attacker knows. */
export interface Target {
  /** Address of the WebSocket. */
  readonly url: string;
  /** Token of an agent that the attacker has stolen, for its first connection. */
  readonly token: string;
  /** Of attacks from one address. */
  readonly address: string;
}

/** What somebody can do to a gateway, again and again until the process ends. */
export interface GatewayAttack {
  readonly name: string;
  /** True: all from one address, so that its limit holds. */
  readonly isOneAddress: boolean;
  readonly run: (target: Target) => Promise<unknown>;
}

/** A probe that belongs to others. */
export const VICTIM = 'bystander';
const AT_ONCE = 20;
const CONNECTIONS = 500;
const ANSWERS_MS = 10_000;

export const gatewayAttacks: readonly GatewayAttack[] = [
  {
    name: 'unknown agents, each from another address',
    isOneAddress: false,
    run: ({ url }) => repeat(() => identify(url, anyAddress(), createAgentKey(`unknown-${randomUUID()}`))),
  },
  {
    name: 'tokens guessed from one address',
    isOneAddress: true,
    run: ({ url, address }) => repeat(() => identify(url, address, createAgentKey(VICTIM), { token: guessedToken() })),
  },
  {
    name: 'a used token, from other addresses',
    isOneAddress: false,
    run: async (target) => {
      await steal(target);
      const { url, token } = target;
      await repeat(() => identify(url, anyAddress(), createAgentKey(probeOfToken(token)!), { token }));
    },
  },
  {
    name: 'the id of another probe, from one address',
    isOneAddress: true,
    run: ({ url, address }) => repeat(() => identify(url, address, createAgentKey(VICTIM))),
  },
  {
    name: 'a proof of another challenge, from one address',
    isOneAddress: true,
    run: ({ url, address }) => {
      const key = createAgentKey(VICTIM);
      const replayed = key.prove(1, randomBytes(32).toString('base64url'));
      return repeat(() => identify(url, address, key, { replayed }));
    },
  },
  {
    name: 'messages above the limit',
    isOneAddress: false,
    run: ({ url }) =>
      repeat(async () => {
        const socket = open(url, anyAddress());
        await once(socket, 'message');
        socket.send(Buffer.alloc(4 * 1_048_576, 'x'));
        await once(socket, 'close');
      }),
  },
  {
    name: 'results without end',
    isOneAddress: false,
    run: async (target) => {
      const { socket } = await steal(target);
      // Does not compress.
      const data = JSON.stringify({ x: randomBytes(20_000).toString('base64') });
      for (let seq = 1; ; seq += 1) {
        const check = randomBytes(16).toString('base64url');
        socket.send(encodeMessage({ t: 'result', seq, check, kind: 'final', data }));
        if (seq % 50 === 0) await drained(socket);
      }
    },
  },
  {
    name: 'questions whose answers are not read',
    isOneAddress: false,
    run: async (target) => {
      const { socket } = await steal(target);
      socket.pause();
      for (let id = 1; socket.readyState === socket.OPEN; id += 1) {
        socket.send(encodeMessage({ t: 'time', id }));
        if (id % 1_000 === 0) await drained(socket);
      }
      await sleep(2 ** 31 - 1);
    },
  },
  {
    name: 'pieces of screenshots that are never ended',
    isOneAddress: false,
    run: async (target) => {
      const { socket } = await steal(target);
      for (let seq = 1; ; seq += 1) {
        const piece = Buffer.alloc(32 * 1_024, 'x');
        piece[0] = 2;
        piece.writeUInt32BE(seq, 1);
        piece.writeUInt32BE(Math.ceil(seq / 8), 5);
        socket.send(piece);
        if (seq % 50 === 0) await drained(socket);
      }
    },
  },
  {
    name: 'handshakes that are not ended',
    isOneAddress: false,
    run: ({ url }) =>
      repeat(async () => {
        const { hostname, port } = new URL(url);
        const socket = connectTcp(Number(port), hostname);
        await once(socket, 'connect');
        // Half of a TLS handshake, or of a request for a WebSocket.
        socket.write(
          Math.random() < 0.5 ? Buffer.from('16030100050100000100', 'hex') : 'GET /agent HTTP/1.1\r\nHost: x\r\n',
        );
        await Promise.race([once(socket, 'close'), sleep(ANSWERS_MS)]);
        socket.destroy();
      }, CONNECTIONS),
  },
  {
    name: 'connections that never identify themselves',
    isOneAddress: false,
    run: ({ url }) =>
      repeat(async () => {
        await once(open(url, anyAddress()), 'close');
      }, CONNECTIONS),
  },
];

/** Never resolves. */
async function repeat(act: () => Promise<unknown>, times = AT_ONCE): Promise<void> {
  const worker = async (): Promise<void> => {
    for (;;) await act().catch(() => sleep(10));
  };
  await Promise.all(Array.from({ length: times }, worker));
}

function steal({ url, token }: Target): ReturnType<typeof admit> {
  return admit(url, createAgentKey(probeOfToken(token)!), token);
}

function guessedToken(): string {
  return `vt1_${VICTIM}_${randomBytes(32).toString('base64url')}`;
}
