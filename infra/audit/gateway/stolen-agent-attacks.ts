import { randomBytes } from 'node:crypto';

import { encodeMessage } from '@vantage/agent-loop';
import { MAX_GATEWAY_MESSAGE_BYTES, probeOfToken } from '@vantage/contract';

import { createAgentKey } from '../../../apps/coordinator/test/agent-key.ts';
import {
  anyCheck,
  beReady,
  flood,
  forever,
  pour,
  repeat,
  statusMessage,
  steal,
  type GatewayAttack,
  type AttackedGateway,
} from './attack.ts';
import { admit, drained } from './connect.ts';

/** Attacks by the owner of a stolen agent's key after the gateway has admitted it. */
export const stolenAgentAttacks: readonly GatewayAttack[] = [
  {
    name: 'results without end',
    isOneAddress: false,
    run: floodResults,
  },
  {
    name: 'twenty stolen agents with results without end',
    isOneAddress: false,
    agents: 20,
    run: (target) =>
      Promise.all([target.token, ...target.moreTokens].map((token) => floodResults({ ...target, token }))),
  },
  {
    name: 'pongs and pings without end',
    isOneAddress: false,
    run: (target) =>
      pour(target, (socket, number) => {
        if (number % 2 === 0) socket.pong('x'.repeat(125));
        else socket.ping('x'.repeat(125));
      }),
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
      await forever();
    },
  },
  {
    name: 'results whose acknowledgements are not read',
    isOneAddress: false,
    run: async (target) => {
      const { socket } = await steal(target);
      socket.pause();
      for (let seq = 1; socket.readyState === socket.OPEN; seq += 1) {
        socket.send(encodeMessage({ t: 'result', seq, check: anyCheck(), kind: 'partial', data: '{}' }));
        if (seq % 1_000 === 0) await drained(socket);
      }
      await forever();
    },
  },
  {
    name: 'jobs that are answered and never acknowledged',
    isOneAddress: false,
    getsJobs: true,
    run: async (target) => {
      let seq = 0;
      const { socket } = await steal(target, (message) => {
        if (message.t !== 'job') return;
        const answer = { t: 'result', check: message.id, kind: 'final', data: '{}' } as const;
        for (let copy = 0; copy < 10; copy += 1) socket.send(encodeMessage({ ...answer, seq: (seq += 1) }));
      });
      beReady(socket);
      await forever();
    },
  },
  {
    name: 'jobs acknowledged that were never given',
    isOneAddress: false,
    run: (target) => flood(target, () => encodeMessage({ t: 'done', job: anyCheck() })),
  },
  {
    name: 'a status that changes without end',
    isOneAddress: false,
    run: (target) => flood(target, (number) => statusMessage([`Reason ${number}`])),
  },
  {
    name: 'small messages that inflate to the limit',
    isOneAddress: false,
    run: (target) => {
      const bomb = encodeMessage({ t: 'time', id: 1, x: 'x'.repeat(MAX_GATEWAY_MESSAGE_BYTES - 100) });
      return flood(target, () => bomb);
    },
  },
  {
    name: 'a stolen agent that connects again and again',
    isOneAddress: false,
    run: async ({ url, token }) => {
      const key = createAgentKey(probeOfToken(token)!);
      let counter = 0;
      await repeat(async () => {
        const { socket } = await admit(url, key, token, undefined, (counter += 1));
        beReady(socket);
      });
    },
  },
  {
    name: 'pieces of screenshots that are never ended',
    isOneAddress: false,
    run: (target) =>
      flood(target, (seq) => {
        const piece = Buffer.alloc(32 * 1_024, 'x');
        piece[0] = 2;
        piece.writeUInt32BE(seq, 1);
        piece.writeUInt32BE(Math.ceil(seq / 8), 5);
        return piece;
      }),
  },
];

function floodResults(target: AttackedGateway): Promise<void> {
  // Random, so that compression saves only what base64 adds, a quarter of the text.
  const data = JSON.stringify({ x: randomBytes(20_000).toString('base64') });
  return flood(target, (seq) => encodeMessage({ t: 'result', seq, check: anyCheck(), kind: 'final', data }));
}
