import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { probeOfToken } from '@vantage/contract';

import { createAgentKey } from '../../../apps/coordinator/test/agent-key.ts';
import { repeat, steal, type GatewayAttack } from './attack.ts';
import { anyAddress, identify, open } from './connect.ts';
import { stolenAgentAttacks } from './stolen-agent-attacks.ts';

/** Id of a probe of another operator. */
export const VICTIM = 'bystander';
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
  ...stolenAgentAttacks,
];

function guessedToken(): string {
  return `vt1_${VICTIM}_${randomBytes(32).toString('base64url')}`;
}
