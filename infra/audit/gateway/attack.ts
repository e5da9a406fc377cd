import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { encodeMessage } from '@vantage/agent-loop';
import { probeOfToken, type GatewayMessage } from '@vantage/contract';
import type { WebSocket } from 'ws';

import { createAgentKey } from '../../../apps/coordinator/test/agent-key.ts';
import { admit, drained } from './connect.ts';

/** Addresses and tokens that the attacker has. */
export interface AttackedGateway {
  /** Address of the WebSocket. */
  readonly url: string;
  /** Token of an agent that the attacker has stolen, for its first connection. */
  readonly token: string;
  /** Tokens of further stolen agents. */
  readonly moreTokens: readonly string[];
  /** Client address of attacks that all come from one address. */
  readonly address: string;
}

/** An attack on a gateway, repeated until the process ends. */
export interface GatewayAttack {
  readonly name: string;
  /** True if the attack states `address` for all of its connections; only then are verified signatures counted. */
  readonly isOneAddress: boolean;
  /** True if clients start checks on the probe of the stolen agent meanwhile. */
  readonly getsJobs?: boolean;
  /** Number of stolen agents; one if undefined. */
  readonly agents?: number;
  readonly run: (target: AttackedGateway) => Promise<unknown>;
}

const AT_ONCE = 20;

/** Repeats an action, many concurrently, until the process ends; never resolves. */
export async function repeat(act: () => Promise<unknown>, times = AT_ONCE): Promise<void> {
  const worker = async (): Promise<void> => {
    for (;;) await act().catch(() => sleep(10));
  };
  await Promise.all(Array.from({ length: times }, worker));
}

export function steal(
  { url, token }: AttackedGateway,
  take?: (message: GatewayMessage) => void,
): ReturnType<typeof admit> {
  return admit(url, createAgentKey(probeOfToken(token)!), token, take);
}

/** Sends message after message, as fast as the gateway reads. */
export function flood(target: AttackedGateway, message: (number: number) => string | Buffer): Promise<void> {
  return pour(target, (socket, number) => socket.send(message(number)));
}

/** Calls `send` repeatedly, as fast as the gateway reads; for frames of any type. */
export async function pour(target: AttackedGateway, send: (socket: WebSocket, number: number) => void): Promise<void> {
  const { socket } = await steal(target);
  for (let number = 1; ; number += 1) {
    send(socket, number);
    if (number % 50 === 0) await drained(socket);
  }
}

export function beReady(socket: WebSocket): void {
  socket.send(statusMessage([]));
}

export function statusMessage(degraded: readonly string[]): string | Buffer {
  const capabilities = { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false };
  return encodeMessage({ t: 'status', status: { capabilities, degraded, draining: false } });
}

export function forever(): Promise<unknown> {
  return sleep(2 ** 31 - 1);
}

export function anyCheck(): string {
  return randomBytes(16).toString('base64url');
}
