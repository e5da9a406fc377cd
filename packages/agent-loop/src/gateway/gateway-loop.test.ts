import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';

import { encodeMessage, decodeFrame, type Frame } from '../frames/frames.ts';
import type { AgentMessage, GatewayMessage } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino, type Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';

import { eventually } from '../../test/eventually.ts';
import type { AgentLoop } from '../agent-loop.ts';
import type { JobRunner, RunnerLink } from '../job-runner.ts';
import { createGatewayLoop } from './gateway-loop.ts';
import type { GatewayLoopOptions } from './parts.ts';
import type { AgentIdentity } from './session.ts';

const silent = pino({ level: 'silent' });
const CHECK = 'A'.repeat(22);

let server: Server;
let url: string;
/** Every connection so far, with what it received. */
let peers: Peer[];
let loop: AgentLoop | undefined;
let log: Logger;
let link: RunnerLink | undefined;
/** Connections that the gateway refuses because Redis is away. */
let refusals: number;
/** Connections without an answer: their gateway stalls. */
let unanswered: number;
/** True: proofs are accepted later. */
let isSlow: boolean;
/** Advice of the gateway when to connect again; a short time shortens the pauses of the agent. */
let advice: { readonly returnOverMs?: number };
let started: string[];
let run: (id: string, interrupted: AbortSignal) => Promise<void>;

interface Peer {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly send: (message: GatewayMessage) => void;
}

beforeEach(async () => {
  [peers, started, refusals, unanswered, link, loop] = [[], [], 0, 0, undefined, undefined];
  run = async () => undefined;
  [isSlow, advice] = [false, {}];
  log = silent;
  server = createServer().listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    if (refusals > 0) {
      refusals -= 1;
      socket.close(1013);
      return;
    }
    const frames: Frame[] = [];
    const peer = { socket, frames, send: (message: GatewayMessage) => socket.send(encodeMessage(message)) };
    peers.push(peer);
    if (unanswered > 0) {
      unanswered -= 1;
      return;
    }
    socket.on('message', (payload: Buffer, isBinary) => {
      const frame = decodeFrame(payload, isBinary);
      frames.push(frame);
      if (frame.kind === 'message') answer(peer, frame.message as AgentMessage);
    });
    peer.send({ t: 'challenge', versions: { oldest: 1, newest: 1 }, nonce: 'n'.repeat(32) });
  });
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await loop?.close();
  for (const { socket } of peers) socket.terminate();
  server.close();
});

/** Behaves like a gateway, without acknowledgements. */
function answer({ send }: Peer, message: AgentMessage): void {
  if (message.t === 'hello' && !isSlow) send({ t: 'welcome', v: 1, state: 'approved', ...advice });
  if (message.t === 'time') send({ t: 'time', id: message.id, ms: Date.now() });
}

const identity: AgentIdentity = {
  probeId: () => 'fra-1',
  answer: async () => ({ probeId: 'fra-1', publicKey: 'k'.repeat(43), counter: 1, signature: 's'.repeat(86) }),
  confirmed: async () => undefined,
  refused: async () => 'end',
};

async function start(onHopeless?: () => void, proxy?: GatewayLoopOptions['proxy']): Promise<void> {
  const runner: JobRunner = {
    prepare: (given) => {
      link = given;
      return {
        run: async (_job, id, interrupted) => {
          started.push(id);
          await run(id, interrupted);
        },
        isAside: () => false,
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
  loop = createGatewayLoop({
    url,
    identity,
    release: '0.1.0',
    concurrency: 2,
    drainMs: 10_000,
    log,
    proxy,
    onHopeless,
    open: async () => runner,
  });
  await loop.start();
}

function messages<T extends AgentMessage['t']>(peer: Peer | undefined, type: T): Extract<AgentMessage, { t: T }>[] {
  const all = (peer?.frames ?? []).flatMap((frame) =>
    frame.kind === 'message' ? [frame.message as AgentMessage] : [],
  );
  return all.filter((message): message is Extract<AgentMessage, { t: T }> => message.t === type);
}

const pieces = (peer: Peer | undefined) => (peer?.frames ?? []).filter(({ kind }) => kind === 'piece');
const until = (isSo: () => boolean): Promise<true> => eventually(() => (isSo() ? true : undefined));
const deadline = (): number => Date.now() + 600_000;

function give(peer: Peer, id = CHECK): void {
  peer.send({ t: 'job', id, name: 'tcp', data: '{}', timestamp: 1 });
}

describe('an agent at a gateway', () => {
  it('says what it can do once its clock is set', async () => {
    await start();
    const [hello] = messages(peers[0], 'hello');
    const order = messages(peers[0], 'time').length;

    expect(hello).toMatchObject({ v: 1, credit: 2, release: '0.1.0' });
    await until(() => messages(peers[0], 'status').length === 1);
    expect(order).toBeGreaterThanOrEqual(3);
    expect(messages(peers[0], 'status')[0]!.status).toMatchObject({
      draining: false,
      capabilities: { types: ['tcp'] },
    });
  });

  it('keeps a result until it is acknowledged, over as many connections as that takes', async () => {
    await start();
    const written = link!.outlet.final(CHECK, '{"result":"success"}', deadline());
    let isWritten = false;
    void written.then(() => (isWritten = true));
    await until(() => messages(peers[0], 'result').length === 1);
    peers[0]!.socket.terminate();

    await until(() => messages(peers[1], 'result').length === 1);
    const before = isWritten;
    peers[1]!.send({ t: 'nack', seq: messages(peers[1], 'result')[0]!.seq });
    await until(() => messages(peers[1], 'result').length === 2);
    peers[1]!.send({ t: 'ack', seq: messages(peers[1], 'result')[1]!.seq });
    await written;

    expect(before).toBe(false);
    expect(messages(peers[1], 'result')[1]).toMatchObject({
      check: CHECK,
      kind: 'final',
      data: '{"result":"success"}',
    });
  });

  it('runs a job once however often it is given, and says when its result is settled', async () => {
    run = async (id) => void link!.outlet.final(id, '{}', deadline());
    await start();
    give(peers[0]!);
    give(peers[0]!);
    await until(() => messages(peers[0], 'result').length === 1);
    const before = messages(peers[0], 'done').length;
    peers[0]!.send({ t: 'ack', seq: messages(peers[0], 'result')[0]!.seq });
    await until(() => messages(peers[0], 'done').length === 1);
    peers[0]!.socket.terminate();
    await until(() => messages(peers[1], 'status').length === 1);
    give(peers[1]!);
    await until(() => messages(peers[1], 'done').length === 1);

    expect(before).toBe(0);
    expect(started).toEqual([CHECK]);
  });

  it('sends a screenshot in pieces, two at a time, and a result in between', async () => {
    await start();
    const png = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    void link!.outlet.screenshot(CHECK, { png, failure: null }, deadline());
    await until(() => pieces(peers[0]).length === 2);
    void link!.outlet.final(CHECK, '{}', deadline());
    await until(() => messages(peers[0], 'result').length === 1);
    const before = pieces(peers[0]).length;
    let acknowledged = 0;
    await until(() => {
      const now = pieces(peers[0]) as Extract<Frame, { kind: 'piece' }>[];
      for (const { seq } of now.slice(acknowledged)) peers[0]!.send({ t: 'ack', seq });
      acknowledged = now.length;
      return messages(peers[0], 'result').length === 2;
    });

    const sent = (pieces(peers[0]) as Extract<Frame, { kind: 'piece' }>[]).map(({ bytes }) => bytes);
    const [result, screenshot] = messages(peers[0], 'result');
    expect(before).toBe(2);
    expect([result!.kind, screenshot!.kind]).toEqual(['final', 'screenshot']);
    expect(screenshot!.screenshot?.bytes).toBe(png.length);
    expect(Buffer.concat(sent).equals(png)).toBe(true);
  });

  it('drains: says so, takes the last jobs, gives all their time, and closes', async () => {
    const held = Promise.withResolvers<void>();
    run = async (id) => {
      await held.promise;
      void link!.outlet.final(id, '{}', deadline());
    };
    await start();
    give(peers[0]!);
    await until(() => started.length === 1);
    const drained = loop!.drain();
    await until(() => messages(peers[0], 'status').some(({ status }) => status.draining));
    give(peers[0]!, CHECK.toLowerCase());
    await until(() => started.length === 2);
    held.resolve();
    await until(() => messages(peers[0], 'result').length === 2);
    const closed = once(peers[0]!.socket, 'close');
    for (const { seq } of messages(peers[0], 'result')) peers[0]!.send({ t: 'ack', seq });
    await drained;

    expect((await closed)[0]).toBe(1000);
    expect(messages(peers[0], 'done')).toHaveLength(2);
  });

  it('is degraded after the third loss of its connection in a minute, and not by gateways that stop', async () => {
    advice = { returnOverMs: 1 };
    await start();
    for (let stops = 0; stops < 3; stops += 1) {
      peers[stops]!.send({ t: 'leave', withinMs: 1 });
      await until(() => messages(peers[stops + 1], 'status').length === 1);
      await until(() => peers[stops]!.socket.readyState === peers[stops]!.socket.CLOSED);
    }
    for (let losses = 3; losses < 6; losses += 1) {
      peers[losses]!.socket.terminate();
      await until(() => messages(peers[losses + 1], 'status').length === 1);
    }

    const reasons = peers.map((peer) => messages(peer, 'status')[0]!.status.degraded);
    expect(reasons.slice(0, -1).flat()).toEqual([]);
    expect(reasons.at(-1)).toEqual([expect.stringMatching(/unstable/)]);
  }, 60_000);

  it('connects elsewhere when its gateway stops, before it leaves', async () => {
    await start();
    const closed = once(peers[0]!.socket, 'close');
    peers[0]!.send({ t: 'leave', withinMs: 1 });
    await until(() => messages(peers[1], 'status').length === 1);
    await closed;
    give(peers[1]!);
    await until(() => started.length === 1);

    expect(peers).toHaveLength(2);
  });

  it('tries again while its gateway stops, and keeps the connection meanwhile', async () => {
    await start();
    refusals = 2;
    peers[0]!.send({ t: 'leave', withinMs: 1 });
    await until(() => messages(peers[1], 'status').length === 1);

    expect([refusals, peers.length]).toEqual([0, 2]);
    expect(messages(peers[0], 'hello')).toHaveLength(1);
  });

  it('finds another gateway when its own stands still, although one that it tries does too, and sends its results there', async () => {
    await start();
    unanswered = 1;
    peers[0]!.socket.pause();
    const written = link!.outlet.final(CHECK, '{"result":"success"}', deadline());
    await until(() => messages(peers[2], 'result').length === 1);
    peers[2]!.send({ t: 'ack', seq: messages(peers[2], 'result')[0]!.seq });
    await written;
    await until(() => peers[1]!.socket.readyState === peers[1]!.socket.CLOSED);

    expect(peers).toHaveLength(3);
  }, 60_000);

  it('stays with a gateway that answers again before another one does', async () => {
    await start();
    unanswered = 10;
    peers[0]!.socket.pause();
    await until(() => peers.length > 1);
    peers[0]!.socket.resume();
    await until(() => peers.slice(1).every(({ socket }) => socket.readyState === socket.CLOSED));
    const tried = peers.length;
    // Two pings later no other attempt is made.
    for (let pings = 0; pings < 2; pings += 1) await once(peers[0]!.socket, 'ping');
    give(peers[0]!);
    await until(() => started.length === 1);

    expect(peers).toHaveLength(tried);
  }, 60_000);

  it('goes over to a gateway that has its proof, although its own answers again', async () => {
    await start();
    isSlow = true;
    peers[0]!.socket.pause();
    await until(() => messages(peers[1], 'hello').length === 1);
    const pinged = once(peers[0]!.socket, 'ping');
    peers[0]!.socket.resume();
    await pinged;
    // By the next ping the agent has read the pong.
    await once(peers[0]!.socket, 'ping');
    // The older connection is closed everywhere as soon as a gateway accepts a proof of the same process.
    peers[0]!.socket.close(4409);
    peers[1]!.send({ t: 'welcome', v: 1, state: 'approved' });
    await until(() => messages(peers[1], 'status').length > 0);
    give(peers[1]!);
    await until(() => started.length === 1);

    expect(peers).toHaveLength(2);
  }, 60_000);

  it('says after it was retired that it yields, or only reports while it has a job under way', async () => {
    const job = Promise.withResolvers<void>();
    run = () => job.promise;
    await start();
    give(peers[0]!);
    await until(() => started.length === 1);
    peers[0]!.send({ t: 'retire' });
    peers[0]!.send({ t: 'leave', withinMs: 0 });
    await until(() => messages(peers[1], 'status').length > 0);
    job.resolve();
    await until(() => messages(peers[1], 'done').length === 1);
    peers[1]!.send({ t: 'leave', withinMs: 0 });
    await until(() => messages(peers[2], 'hello').length === 1);

    const hellos = peers.map((peer) => messages(peer, 'hello')[0]);
    expect(hellos.map((hello) => [hello?.yields, hello?.reports])).toEqual([
      [undefined, undefined],
      [false, true],
      [true, false],
    ]);
  });

  it('says why it does not reach a service whose packets are lost', async () => {
    server.close();
    // Reads, so that its side of a connection ends with the other one, and never answers.
    const deaf = createTcpServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
    let text = '';
    log = pino({}, { write: (line: string) => (text += line) });
    void start();

    await until(() => text.includes('no connection to the gateway'));
    deaf.close();

    expect(text).toContain('Opening handshake has timed out');
  }, 60_000);

  it('names an entry of NO_PROXY that matches nothing, and connects', async () => {
    const lines: string[] = [];
    log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    await start(undefined, { url: 'http://192.0.2.1:9', except: 'localhost,169.254/16' });

    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ entry: '169.254/16', msg: expect.stringMatching(/^NO_PROXY has an entry/) }),
    ]);
  });

  it('gives up if its token is refused for good', async () => {
    const hopeless = Promise.withResolvers<void>();
    server.removeAllListeners('upgrade');
    const refusing = new WebSocketServer({ server });
    refusing.on('connection', (socket) => socket.close(4401, 'token-used'));
    void start(hopeless.resolve);

    await hopeless.promise;
  });
});
