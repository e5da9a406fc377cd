import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { decodeFrame, encodeMessage } from '@vantage/agent-loop';
import { GATEWAY_PING_MS, type GatewayMessage } from '@vantage/contract';
import { WebSocket } from 'ws';

import { enrol, makeKey, prove, type SimulatedKey } from './simulated-keys.ts';

/** Enrolled agents that send large results of a check that does not exist, as fast as the gateway reads. */
const [, , redisUrl = '', url = '', prefix = '', count = '1'] = process.argv;

const MOST_WAITING_BYTES = 1_048_576;
/** Random, so that compression saves only what base64 adds, a quarter of the text. */
const data = JSON.stringify({ x: randomBytes(20_000).toString('base64') });

function connect(agent: SimulatedKey): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/agent`, { perMessageDeflate: false });
  socket.on('message', (payload: Buffer, isBinary) => {
    const frame = decodeFrame(payload, isBinary);
    if (frame.kind !== 'message') return;
    const message = frame.message as GatewayMessage;
    if (message.t === 'challenge') {
      const proof = prove(agent, url, message.nonce, 1);
      socket.send(encodeMessage({ t: 'hello', v: 1, proof, instance: randomUUID(), release: '0', credit: 20 }));
    } else if (message.t === 'welcome') resolve(socket);
  });
  socket.on('error', reject);
  return promise;
}

async function flood(socket: WebSocket): Promise<void> {
  const pings = setInterval(() => socket.ping(), GATEWAY_PING_MS);
  const check = randomBytes(16).toString('base64url');
  const result = encodeMessage({ t: 'result', seq: 1, check, kind: 'final', data });
  for (let seq = 1; socket.readyState === socket.OPEN; seq += 1) {
    socket.send(result);
    while (socket.readyState === socket.OPEN && socket.bufferedAmount > MOST_WAITING_BYTES) await sleep(1);
    if (seq % 10 === 0) await sleep(0);
  }
  clearInterval(pings);
}

const agents = Array.from({ length: Number(count) }, (_, index) => makeKey(`${prefix}-${index}`));
await enrol(redisUrl, agents);
await sleep(1_500);
const sockets: WebSocket[] = [];
for (const agent of agents) sockets.push(await connect(agent));
for (const socket of sockets) void flood(socket);
process.send?.('ready');
process.once('disconnect', () => process.exit());
