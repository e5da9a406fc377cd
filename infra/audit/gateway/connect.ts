import { once } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { decodeFrame, encodeMessage } from '@vantage/agent-loop';
import { GATEWAY_PING_MS, type GatewayMessage } from '@vantage/contract';
import { WebSocket } from 'ws';

import type { AgentKey } from '../../../apps/coordinator/test/agent-key.ts';

/** Opens a WebSocket with a client address as a proxy passes it on. */
export function open(url: string, address: string): WebSocket {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers: { 'X-Forwarded-For': address } });
  socket.on('error', () => undefined);
  return socket;
}

interface Identity {
  readonly token?: string;
  readonly replayed?: ReturnType<AgentKey['prove']>;
}

/**
 * Identifies itself as an agent, with a proof for the gateway's challenge or the replayed one; resolves when the
 * connection is closed.
 */
export async function identify(
  url: string,
  address: string,
  key: AgentKey,
  { token, replayed }: Identity = {},
): Promise<void> {
  const socket = open(url, address);
  const closed = once(socket, 'close');
  socket.once('message', (payload: Buffer) => {
    const { nonce } = JSON.parse(payload.toString()) as { readonly nonce: string };
    const proof = replayed ?? key.prove(1, nonce, token === undefined ? {} : { token });
    socket.send(encodeMessage({ t: 'hello', v: 1, proof, instance: randomUUID(), release: '0', credit: 1 }));
  });
  await closed;
}

/** Connects as an agent and completes the handshake. */
export async function admit(
  url: string,
  key: AgentKey,
  token: string,
  take: (message: GatewayMessage) => void = () => undefined,
  counter = 1,
): Promise<{ readonly socket: WebSocket }> {
  const socket = open(url, anyAddress());
  const { promise: welcomed, resolve, reject } = Promise.withResolvers<void>();
  const pings = setInterval(() => socket.ping(), GATEWAY_PING_MS);
  socket.on('close', () => clearInterval(pings));
  socket.on('close', (code) => reject(new Error(`the gateway closed with ${code}`)));
  socket.on('message', (payload: Buffer, isBinary) => {
    const frame = decodeFrame(payload, isBinary);
    if (frame.kind !== 'message') return;
    const message = frame.message as GatewayMessage;
    if (message.t === 'challenge') {
      const proof = key.prove(counter, message.nonce, { token });
      const instance = `audit-${counter}`;
      socket.send(encodeMessage({ t: 'hello', v: 1, proof, instance, release: '0', credit: 100 }));
    } else if (message.t === 'welcome') resolve();
    else take(message);
  });
  await welcomed;
  return { socket };
}

/** Resolves when at most 1 MiB of the sent data waits in this process. */
export async function drained(socket: WebSocket): Promise<void> {
  do await sleep(1);
  while (socket.bufferedAmount > 1_048_576);
}

/** A random client address, as a proxy would pass it on. */
export function anyAddress(): string {
  return `10.${[...randomBytes(3)].join('.')}`;
}
