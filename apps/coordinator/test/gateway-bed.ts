import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { decodeFrame, encodeMessage } from '@vantage/agent-loop';
import { GATEWAY_PING_MS, type AgentMessage, type GatewayMessage } from '@vantage/contract';
import { WebSocket } from 'ws';

import { readAdminConfig } from '../src/admin/config.ts';
import { runProbeAdmin } from '../src/admin/commands.ts';
import type { Core } from '../src/core.ts';
import type { AgentRates } from '../src/gateway/limits/agent-rates.ts';
import { startServer } from '../src/server.ts';
import { createAgentKey, ORIGIN, type AgentKey } from './agent-key.ts';
import { startCoreBed, until, type CoreBed } from './core-bed.ts';

/** A gateway on loopback in this process. */
export interface OpenGateway {
  /** Address of the gateway's WebSocket. */
  readonly url: string;
  readonly size: () => number;
  readonly close: () => Promise<void>;
}

/** A simulated agent that the test controls. */
export interface PlayedAgent {
  readonly socket: WebSocket;
  readonly instance: string;
  /** Every message received so far. */
  readonly received: readonly GatewayMessage[];
  readonly send: (message: AgentMessage) => void;
  /** Waits for a message of this type that was not returned yet; throws if the connection is closed first. */
  readonly next: <T extends GatewayMessage['t']>(type: T) => Promise<Extract<GatewayMessage, { t: T }>>;
  /** Resolves with close code and reason; the code of a connection error is 0. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
  /** Sends a status with echo checks, IPv4 and screenshots. */
  readonly beReady: (draining?: boolean) => void;
}

export interface Connecting {
  readonly key: AgentKey;
  readonly counter: number;
  readonly token?: string;
  readonly instance?: string;
  readonly credit?: number;
  readonly v?: number;
  /** True for an agent that sends no pings. */
  readonly isSilent?: boolean;
  /** Changes the hello before it is sent. */
  readonly forge?: (hello: Extract<AgentMessage, { t: 'hello' }>) => AgentMessage;
}

export interface GatewayBed {
  readonly bed: CoreBed;
  readonly startGateway: (core?: Core, rates?: AgentRates) => Promise<OpenGateway>;
  readonly admin: (...args: readonly string[]) => Promise<string>;
  /** Invites an agent; returns a new key and the token. */
  readonly invite: (probe: string, ...more: readonly string[]) => Promise<Pick<Connecting, 'key'> & { token: string }>;
  readonly connect: (gateway: OpenGateway, options: Connecting) => Promise<PlayedAgent>;
  /** Invites, enrols and connects an agent, which declares that it is ready. */
  readonly join: (
    gateway: OpenGateway,
    probe: string,
    more?: Partial<Connecting>,
  ) => Promise<PlayedAgent & { key: AgentKey }>;
  readonly stop: () => Promise<void>;
}

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];
const capabilities = { types: ['echo'], ipv4: true, ipv6: false, screenshot: true };

export async function startGatewayBed(): Promise<GatewayBed> {
  const bed = await startCoreBed();
  const closers: (() => Promise<unknown>)[] = [];
  const sockets: WebSocket[] = [];

  const startGateway: GatewayBed['startGateway'] = async (core = bed.core, rates) => {
    const server = await startServer({ host: '127.0.0.1', port: 0, publicUrl: ORIGIN }, () => (_request, response) => {
      response.writeHead(404).end();
    });
    const gateway = core.openGateway(ORIGIN, rates);
    server.onAgent((request, socket, head) => gateway.upgrade(request, socket, head, '127.0.0.1'));
    const close = async (): Promise<void> => {
      await Promise.all([server.close(0), gateway.close()]);
    };
    closers.push(close);
    return { url: `ws://127.0.0.1:${server.port}/agent`, size: gateway.size, close };
  };
  const admin: GatewayBed['admin'] = async (...args) => {
    const out: string[] = [];
    const err: string[] = [];
    const config = readAdminConfig({ REDIS_URL: bed.server.url, PUBLIC_URL: ORIGIN });
    const code = await runProbeAdmin(args, config, { out: (line) => out.push(line), err: (line) => err.push(line) });
    if (code !== 0) throw new Error(err.join('\n'));
    return out.join('\n');
  };
  const invite: GatewayBed['invite'] = async (probe, ...more) => {
    const json = await admin('invite', probe, ...record, '--json', ...more);
    return { key: createAgentKey(probe), token: (JSON.parse(json) as { readonly token: string }).token };
  };
  const connect: GatewayBed['connect'] = async (gateway, options) => {
    const agent = play(gateway.url, options);
    sockets.push(agent.socket);
    return agent;
  };
  return {
    bed,
    startGateway,
    admin,
    invite,
    connect,
    join: async (gateway, probe, more = {}) => {
      const invitation = await invite(probe);
      const agent = await connect(gateway, { ...invitation, counter: 1, ...more });
      await agent.next('welcome');
      agent.beReady();
      return { ...agent, key: invitation.key };
    },
    stop: async () => {
      for (const socket of sockets) socket.terminate();
      await Promise.all(closers.map((close) => close()));
      await bed.stop();
    },
  };
}

function play(url: string, options: Connecting): PlayedAgent {
  const { key, counter, token, credit = 2, instance = randomUUID(), forge = (hello) => hello } = options;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const received: GatewayMessage[] = [];
  const returned = new Set<GatewayMessage>();
  const send = (message: AgentMessage): void => socket.send(encodeMessage(message));

  socket.on('message', (payload: Buffer, isBinary) => {
    const frame = decodeFrame(payload, isBinary);
    if (frame.kind !== 'message') throw new Error('not a message');
    const message = frame.message as GatewayMessage;
    received.push(message);
    if (message.t !== 'challenge') return;
    const proof = key.prove(counter, message.nonce, token === undefined ? {} : { token });
    const hello = { t: 'hello', v: options.v ?? 1, proof, instance, release: '0.1.0', credit } as const;
    send(forge(hello as Extract<AgentMessage, { t: 'hello' }>));
  });
  const failed = Promise.withResolvers<readonly [number, string]>();
  socket.on('error', (error) => failed.resolve([0, error.message]));
  const pings = options.isSilent === true ? undefined : setInterval(() => ping(socket), GATEWAY_PING_MS);
  socket.on('close', () => clearInterval(pings));
  const closed = once(socket, 'close').then(([code, reason]) => [code as number, String(reason)] as const);
  return {
    socket,
    instance,
    received,
    send,
    next: async (type) => {
      let found: GatewayMessage | undefined;
      await until(() => {
        found = received.find((message) => message.t === type && !returned.has(message));
        return found !== undefined || socket.readyState === socket.CLOSED;
      });
      if (found === undefined) throw new Error(`closed with ${(await closed).join(' ')} before ${type}`);
      returned.add(found);
      return found as never;
    },
    closed: Promise.race([failed.promise, closed]),
    beReady: (draining = false) => send({ t: 'status', status: { capabilities, degraded: [], draining } }),
  };
}

function ping(socket: WebSocket): void {
  if (socket.readyState === socket.OPEN) socket.ping();
}
