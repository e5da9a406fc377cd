import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { AgentMessage, GatewayMessage } from '@vantage/contract';
import { pino, type Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';

import type { AgentLoop } from '../src/agent-loop.ts';
import { decodeFrame, encodeMessage, type Frame } from '../src/frames/frames.ts';
import { createGatewayLoop } from '../src/gateway/gateway-loop.ts';
import type { GatewayLoopOptions } from '../src/gateway/parts.ts';
import type { AgentIdentity } from '../src/gateway/session.ts';
import type { JobRunner, RunnerLink, WatchedLoop } from '../src/job-runner.ts';

/** One connection of the agent at the gateway, with the frames that arrived over it. */
export interface Peer {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly send: (message: GatewayMessage) => void;
}

const identity: AgentIdentity = {
  probeId: () => 'fra-1',
  answer: async () => ({ probeId: 'fra-1', publicKey: 'k'.repeat(43), counter: 1, signature: 's'.repeat(86) }),
  confirmed: async () => undefined,
  refused: async () => 'end',
};

/** Runs a test with its own gateway and agent, so that tests that wait for timeouts can run at the same time. */
export function withBed(test: (bed: GatewayBed) => Promise<void>): () => Promise<void> {
  return async () => {
    const bed = new GatewayBed();
    try {
      await bed.listen();
      await test(bed);
    } finally {
      await bed.close();
    }
  };
}

/** An agent, and a server that behaves like its gateway, except that it sends no acknowledgements. */
export class GatewayBed {
  readonly server: Server = createServer();
  /** Every connection so far. */
  readonly peers: Peer[] = [];
  /** Ids of the jobs that the agent has started. */
  readonly started: string[] = [];
  url = '';
  loop: AgentLoop | undefined;
  link: RunnerLink | undefined;
  log: Logger = pino({ level: 'silent' });
  /** Number of the next connections that the gateway refuses, as while Redis is unavailable. */
  refusals = 0;
  /** Number of the next connections that get no answer, as from a gateway that stalls. */
  unanswered = 0;
  /** Time until the gateway answers the opening handshake of a connection: its process is busy. */
  openAfterMs = 0;
  /** True: the test accepts proofs itself. */
  isSlow = false;
  /** Fields of each `welcome` of the gateway; a short `returnOverMs` shortens the pauses of the agent. */
  advice: { readonly returnOverMs?: number; readonly suspensions?: number } = {};
  /** State of the agent that the gateway reports. */
  state: 'approved' | 'waiting' = 'approved';
  /** The loop as metrics and the health check of the agent observe it. */
  watched: WatchedLoop | undefined;
  run: (id: string, interrupted: AbortSignal) => Promise<void> = async () => undefined;

  async listen(): Promise<void> {
    const webSockets = new WebSocketServer({ noServer: true });
    this.server.on('upgrade', (...request) => {
      setTimeout(() => webSockets.handleUpgrade(...request, (socket) => this.#accept(socket)), this.openAfterMs);
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await this.loop?.close();
    for (const { socket } of this.peers) socket.terminate();
    this.server.close();
  }

  async start(onHopeless?: () => void, proxy?: GatewayLoopOptions['proxy']): Promise<void> {
    const runner: JobRunner = {
      watch: (watched) => {
        this.watched = watched;
      },
      prepare: (given) => {
        this.link = given;
        return {
          run: async (_job, id, interrupted) => {
            this.started.push(id);
            await this.run(id, interrupted);
          },
          isExempt: () => false,
          isCheckId: () => true,
          describe: () => ({
            version: '0.1.0',
            degraded: [],
            capabilities: { types: ['tcp'], ipv4: true, ipv6: true, screenshot: false },
          }),
        };
      },
      close: async () => undefined,
    };
    const { url, log } = this;
    const limits = { release: '0.1.0', concurrency: 2, drainMs: 10_000 };
    this.loop = createGatewayLoop({ ...limits, url, identity, log, proxy, onHopeless, open: async () => runner });
    await this.loop.start();
  }

  #accept(socket: WebSocket): void {
    if (this.refusals > 0) {
      this.refusals -= 1;
      socket.close(1013);
      return;
    }
    const frames: Frame[] = [];
    const peer = { socket, frames, send: (message: GatewayMessage) => socket.send(encodeMessage(message)) };
    this.peers.push(peer);
    if (this.unanswered > 0) {
      this.unanswered -= 1;
      return;
    }
    socket.on('message', (payload: Buffer, isBinary) => {
      const frame = decodeFrame(payload, isBinary);
      frames.push(frame);
      if (frame.kind === 'message') this.#answer(peer, frame.message as AgentMessage);
    });
    peer.send({ t: 'challenge', versions: { oldest: 1, newest: 1 }, nonce: 'n'.repeat(32) });
  }

  #answer({ send }: Peer, message: AgentMessage): void {
    if (message.t === 'hello' && !this.isSlow) send({ t: 'welcome', v: 1, state: this.state, ...this.advice });
    if (message.t === 'time') send({ t: 'time', id: message.id, ms: Date.now() });
  }
}

/** Messages of a type that the gateway received over a connection. */
export function messages<T extends AgentMessage['t']>(
  peer: Peer | undefined,
  type: T,
): Extract<AgentMessage, { t: T }>[] {
  const all = (peer?.frames ?? []).flatMap((frame) =>
    frame.kind === 'message' ? [frame.message as AgentMessage] : [],
  );
  return all.filter((message): message is Extract<AgentMessage, { t: T }> => message.t === type);
}
