import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { decodeFrame, encodeMessage } from '@vantage/agent-loop';
import { GATEWAY_PING_MS, type AgentMessage, type GatewayMessage } from '@vantage/contract';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { WebSocket } from 'ws';

import { enrol, makeKey, prove, type SimulatedKey } from './simulated-keys.ts';

/**
 * Many enrolled agents in one process, with the minimum that the gateway's protocol requires: each job is answered at
 * once with a recorded result.
 */
const [, , redisUrl = '', url = '', count = '1'] = process.argv;

const file = new URL('../../../packages/contract/test/release-0.1.json', import.meta.url);
const { types } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly types: Readonly<Record<string, { readonly result: object }>>;
};
const capabilities = { types: [...checkTypeNames], ipv4: true, ipv6: false, screenshot: false };
/** Number of concurrent connection attempts. */
const AT_ONCE = 50;

/** Resolves once the agent is ready for jobs. */
function connect(agent: SimulatedKey, index: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  const headers = { 'X-Forwarded-For': address };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/agent`, { perMessageDeflate: false, headers });
  let seq = 0;
  const send = (message: AgentMessage): void => socket.send(encodeMessage(message));
  const take = (message: GatewayMessage): void => {
    if (message.t === 'challenge') {
      const proof = prove(agent, url, message.nonce, 1);
      send({ t: 'hello', v: 1, proof, instance: randomUUID(), release: '0.1.0', credit: 20 });
    } else if (message.t === 'welcome') {
      send({ t: 'status', status: { capabilities, degraded: [], draining: false } });
      setInterval(() => socket.ping(), GATEWAY_PING_MS);
      resolve();
    } else if (message.t === 'job') {
      const at = new Date().toISOString();
      const data = JSON.stringify({ ...types[message.name]?.result, startedAt: at, finishedAt: at });
      send({ t: 'result', seq: (seq += 1), check: message.id, kind: 'final', data });
      send({ t: 'done', job: message.id });
    }
  };
  socket.on('message', (payload: Buffer, isBinary) => {
    const frame = decodeFrame(payload, isBinary);
    if (frame.kind === 'message') take(frame.message as GatewayMessage);
  });
  socket.on('error', reject);
  socket.on('close', (code) => reject(new Error(`the gateway closed the connection with ${code}`)));
  return promise;
}

const agents = Array.from({ length: Number(count) }, (_, index) => makeKey(`sim-${index}`));
await enrol(redisUrl, agents);
await sleep(1_500);
for (let from = 0; from < agents.length; from += AT_ONCE) {
  await Promise.all(agents.slice(from, from + AT_ONCE).map((agent, index) => connect(agent, from + index)));
}
process.send?.('ready');
process.once('disconnect', () => process.exit());
