import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { WebSocketServer } from 'ws';

import { eventually } from '../../test/eventually.ts';
import { messages, withBed, type GatewayBed, type Peer } from '../../test/gateway-bed.ts';
import type { Frame } from '../frames/frames.ts';
import { isWithdrawn } from '../running-jobs.ts';

const CHECK = 'A'.repeat(22);

const pieces = (peer: Peer | undefined) => (peer?.frames ?? []).filter(({ kind }) => kind === 'piece');
const until = (isSo: () => boolean): Promise<true> => eventually(() => (isSo() ? true : undefined));
const deadline = (): number => Date.now() + 600_000;

function give(peer: Peer, id = CHECK): void {
  peer.send({ t: 'job', id, name: 'tcp', data: '{}', timestamp: 1 });
}

describe('an agent at a gateway', () => {
  it.concurrent(
    'says what it can do once its clock is set',
    withBed(async (bed) => {
      await bed.start();
      const [hello] = messages(bed.peers[0], 'hello');
      const order = messages(bed.peers[0], 'time').length;

      expect(hello).toMatchObject({ v: 1, credit: 2, release: '0.1.0' });
      await until(() => messages(bed.peers[0], 'status').length === 1);
      expect(order).toBeGreaterThanOrEqual(3);
      expect(messages(bed.peers[0], 'status')[0]!.status).toMatchObject({
        draining: false,
        capabilities: { types: ['tcp'] },
      });
    }),
  );

  it.concurrent(
    'keeps a result until it is acknowledged, over as many connections as that takes',
    withBed(async (bed) => {
      await bed.start();
      const written = bed.link!.outlet.final(CHECK, '{"result":"success"}', deadline());
      let isWritten = false;
      void written.then(() => (isWritten = true));
      await until(() => messages(bed.peers[0], 'result').length === 1);
      bed.peers[0]!.socket.terminate();

      await until(() => messages(bed.peers[1], 'result').length === 1);
      const before = isWritten;
      bed.peers[1]!.send({ t: 'nack', seq: messages(bed.peers[1], 'result')[0]!.seq });
      await until(() => messages(bed.peers[1], 'result').length === 2);
      bed.peers[1]!.send({ t: 'ack', seq: messages(bed.peers[1], 'result')[1]!.seq });
      await written;

      expect(before).toBe(false);
      expect(messages(bed.peers[1], 'result')[1]).toMatchObject({
        check: CHECK,
        kind: 'final',
        data: '{"result":"success"}',
      });
    }),
  );

  it.concurrent(
    'runs a job once however often it is given, and says when its result is settled',
    withBed(async (bed) => {
      bed.run = async (id) => void bed.link!.outlet.final(id, '{}', deadline());
      await bed.start();
      give(bed.peers[0]!);
      give(bed.peers[0]!);
      await until(() => messages(bed.peers[0], 'result').length === 1);
      const before = messages(bed.peers[0], 'done').length;
      bed.peers[0]!.send({ t: 'ack', seq: messages(bed.peers[0], 'result')[0]!.seq });
      await until(() => messages(bed.peers[0], 'done').length === 1);
      bed.peers[0]!.socket.terminate();
      await until(() => messages(bed.peers[1], 'status').length === 1);
      give(bed.peers[1]!);
      await until(() => messages(bed.peers[1], 'done').length === 1);

      expect(before).toBe(0);
      expect(bed.started).toEqual([CHECK]);
    }),
  );

  it.concurrent.each([
    ['closes because the probe was suspended', true, ({ peers }: GatewayBed) => peers[0]!.socket.close(4403)],
    [
      'was suspended and resumed while there was no connection',
      true,
      (bed: GatewayBed) => {
        bed.advice = { ...bed.advice, suspensions: 2 };
        bed.peers[0]!.socket.terminate();
      },
    ],
    ['ends', false, ({ peers }: GatewayBed) => peers[0]!.socket.close(1001)],
    ['has no Redis', false, ({ peers }: GatewayBed) => peers[0]!.socket.close(1013)],
  ])('ends its jobs without a result only if the probe was suspended: the gateway %s', (_why, isEnded, change) =>
    withBed(async (bed) => {
      bed.advice = { returnOverMs: 0, suspensions: 1 };
      let signal: AbortSignal | undefined;
      bed.run = (_id, interrupted) => {
        signal = interrupted;
        return new Promise((resolve) => interrupted.addEventListener('abort', () => resolve()));
      };
      await bed.start();
      give(bed.peers[0]!);
      await until(() => signal !== undefined);
      change(bed);

      if (isEnded) await until(() => isWithdrawn(signal!));
      else await until(() => messages(bed.peers[1], 'status').length === 1);
      expect(signal!.aborted).toBe(isEnded);
    })(),
  );

  it.concurrent(
    'sends a screenshot in pieces, two at a time, and a result in between',
    withBed(async (bed) => {
      await bed.start();
      const png = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
      void bed.link!.outlet.screenshot(CHECK, { png, failure: null }, deadline());
      await until(() => pieces(bed.peers[0]).length === 2);
      void bed.link!.outlet.final(CHECK, '{}', deadline());
      await until(() => messages(bed.peers[0], 'result').length === 1);
      const before = pieces(bed.peers[0]).length;
      let acknowledged = 0;
      await until(() => {
        const now = pieces(bed.peers[0]) as Extract<Frame, { kind: 'piece' }>[];
        for (const { seq } of now.slice(acknowledged)) bed.peers[0]!.send({ t: 'ack', seq });
        acknowledged = now.length;
        return messages(bed.peers[0], 'result').length === 2;
      });

      const sent = (pieces(bed.peers[0]) as Extract<Frame, { kind: 'piece' }>[]).map(({ bytes }) => bytes);
      const [result, screenshot] = messages(bed.peers[0], 'result');
      expect(before).toBe(2);
      expect([result!.kind, screenshot!.kind]).toEqual(['final', 'screenshot']);
      expect(screenshot!.screenshot?.bytes).toBe(png.length);
      expect(Buffer.concat(sent).equals(png)).toBe(true);
    }),
  );

  it.concurrent(
    'drains: says so, takes the last jobs, gives all their time, and closes',
    withBed(async (bed) => {
      const held = Promise.withResolvers<void>();
      bed.run = async (id) => {
        await held.promise;
        void bed.link!.outlet.final(id, '{}', deadline());
      };
      await bed.start();
      give(bed.peers[0]!);
      await until(() => bed.started.length === 1);
      const drained = bed.loop!.drain();
      await until(() => messages(bed.peers[0], 'status').some(({ status }) => status.draining));
      give(bed.peers[0]!, CHECK.toLowerCase());
      await until(() => bed.started.length === 2);
      held.resolve();
      await until(() => messages(bed.peers[0], 'result').length === 2);
      const closed = once(bed.peers[0]!.socket, 'close');
      for (const { seq } of messages(bed.peers[0], 'result')) bed.peers[0]!.send({ t: 'ack', seq });
      await drained;

      expect((await closed)[0]).toBe(1000);
      expect(messages(bed.peers[0], 'done')).toHaveLength(2);
    }),
  );

  it.concurrent(
    'is degraded after the third loss of its connection in a minute, and not by gateways that stop',
    withBed(async (bed) => {
      bed.advice = { returnOverMs: 1 };
      await bed.start();
      for (let stops = 0; stops < 3; stops += 1) {
        bed.peers[stops]!.send({ t: 'leave', withinMs: 1 });
        await until(() => messages(bed.peers[stops + 1], 'status').length === 1);
        await until(() => bed.peers[stops]!.socket.readyState === bed.peers[stops]!.socket.CLOSED);
      }
      for (let losses = 3; losses < 6; losses += 1) {
        bed.peers[losses]!.socket.terminate();
        await until(() => messages(bed.peers[losses + 1], 'status').length === 1);
      }

      const reasons = bed.peers.map((peer) => messages(peer, 'status')[0]!.status.degraded);
      expect(reasons.slice(0, -1).flat()).toEqual([]);
      expect(reasons.at(-1)).toEqual([expect.stringMatching(/unstable/)]);
    }),
  );

  it.concurrent(
    'connects elsewhere when its gateway stops, before it leaves',
    withBed(async (bed) => {
      await bed.start();
      const closed = once(bed.peers[0]!.socket, 'close');
      bed.peers[0]!.send({ t: 'leave', withinMs: 1 });
      await until(() => messages(bed.peers[1], 'status').length === 1);
      await closed;
      give(bed.peers[1]!);
      await until(() => bed.started.length === 1);

      expect(bed.peers).toHaveLength(2);
    }),
  );

  it.concurrent(
    'tries again while its gateway stops, and keeps the connection meanwhile',
    withBed(async (bed) => {
      await bed.start();
      bed.refusals = 2;
      bed.peers[0]!.send({ t: 'leave', withinMs: 1 });
      await until(() => messages(bed.peers[1], 'status').length === 1);

      expect([bed.refusals, bed.peers.length]).toEqual([0, 2]);
      expect(messages(bed.peers[0], 'hello')).toHaveLength(1);
    }),
  );

  it.concurrent(
    'finds another gateway when its own stands still, although one that it tries does too, and sends its results there',
    withBed(async (bed) => {
      await bed.start();
      bed.unanswered = 1;
      bed.peers[0]!.socket.pause();
      const written = bed.link!.outlet.final(CHECK, '{"result":"success"}', deadline());
      await until(() => messages(bed.peers[2], 'result').length === 1);
      bed.peers[2]!.send({ t: 'ack', seq: messages(bed.peers[2], 'result')[0]!.seq });
      await written;
      await until(() => bed.peers[1]!.socket.readyState === bed.peers[1]!.socket.CLOSED);

      expect(bed.peers).toHaveLength(3);
    }),
  );

  it.concurrent(
    'stays with a gateway that answers again before another one does',
    withBed(async (bed) => {
      await bed.start();
      bed.unanswered = 10;
      bed.peers[0]!.socket.pause();
      await until(() => bed.peers.length > 1);
      bed.peers[0]!.socket.resume();
      await until(() => bed.peers.slice(1).every(({ socket }) => socket.readyState === socket.CLOSED));
      const tried = bed.peers.length;
      // Two pings later no other attempt is made.
      for (let pings = 0; pings < 2; pings += 1) await once(bed.peers[0]!.socket, 'ping');
      give(bed.peers[0]!);
      await until(() => bed.started.length === 1);

      expect(bed.peers).toHaveLength(tried);
    }),
  );

  it.concurrent(
    'does not call a gateway silent that got no ping before, because it was slow to open the connection',
    withBed(async (bed) => {
      const lines: string[] = [];
      bed.log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      // Longer than the time in which two pings would be sent.
      bed.openAfterMs = 5_000;
      const started = bed.start();
      await until(() => bed.peers.length === 1);
      for (let pings = 0; pings < 2; pings += 1) await once(bed.peers[0]!.socket, 'ping');
      await started;

      expect(lines).toEqual([]);
      expect(bed.peers).toHaveLength(1);
    }),
  );

  it.concurrent(
    'goes over to a gateway that has its proof, although its own answers again',
    withBed(async (bed) => {
      await bed.start();
      bed.isSlow = true;
      bed.peers[0]!.socket.pause();
      await until(() => messages(bed.peers[1], 'hello').length === 1);
      const pinged = once(bed.peers[0]!.socket, 'ping');
      bed.peers[0]!.socket.resume();
      await pinged;
      // By the next ping the agent has read the pong.
      await once(bed.peers[0]!.socket, 'ping');
      // As soon as a gateway accepts a proof of the same process, all gateways close its older connections.
      bed.peers[0]!.socket.close(4409);
      bed.peers[1]!.send({ t: 'welcome', v: 1, state: 'approved' });
      await until(() => messages(bed.peers[1], 'status').length > 0);
      give(bed.peers[1]!);
      await until(() => bed.started.length === 1);

      expect(bed.peers).toHaveLength(2);
    }),
  );

  it.concurrent(
    'is not ready for jobs until its operator has approved it',
    withBed(async (bed) => {
      bed.state = 'waiting';
      await bed.start();
      expect(bed.watched!.connections['gateway']!.status).toBe('ready');
      expect(bed.watched!.running()).toBeUndefined();

      bed.peers[0]!.send({ t: 'approved' });
      await until(() => bed.watched!.running() === 0);
    }),
  );

  it.concurrent(
    'says after it was retired that it yields, or only reports while it has a job under way',
    withBed(async (bed) => {
      const job = Promise.withResolvers<void>();
      bed.run = () => job.promise;
      await bed.start();
      give(bed.peers[0]!);
      await until(() => bed.started.length === 1);
      bed.peers[0]!.send({ t: 'retire' });
      bed.peers[0]!.send({ t: 'leave', withinMs: 0 });
      await until(() => messages(bed.peers[1], 'status').length > 0);
      job.resolve();
      await until(() => messages(bed.peers[1], 'done').length === 1);
      bed.peers[1]!.send({ t: 'leave', withinMs: 0 });
      await until(() => messages(bed.peers[2], 'hello').length === 1);

      const hellos = bed.peers.map((peer) => messages(peer, 'hello')[0]);
      expect(hellos.map((hello) => [hello?.yields, hello?.reports])).toEqual([
        [undefined, undefined],
        [false, true],
        [true, false],
      ]);
    }),
  );

  it.concurrent(
    'says why it does not reach a service whose packets are lost',
    withBed(async (bed) => {
      bed.server.close();
      // Reads, so that its side of a connection ends with the other one, and never answers.
      const deaf = createTcpServer((socket) => socket.resume()).listen(0, '127.0.0.1');
      await once(deaf, 'listening');
      bed.url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
      let text = '';
      bed.log = pino({}, { write: (line: string) => (text += line) });
      void bed.start();

      await until(() => text.includes('no connection to the gateway'));
      deaf.close();

      expect(text).toContain('Opening handshake has timed out');
    }),
  );

  it.concurrent(
    'names an entry of NO_PROXY that matches nothing, and connects',
    withBed(async (bed) => {
      const lines: string[] = [];
      bed.log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      await bed.start(undefined, { url: 'http://192.0.2.1:9', except: 'localhost,169.254/16' });

      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ entry: '169.254/16', msg: expect.stringMatching(/^NO_PROXY has an entry/) }),
      ]);
    }),
  );

  it.concurrent(
    'gives up if its token is refused for good',
    withBed(async (bed) => {
      const hopeless = Promise.withResolvers<void>();
      bed.server.removeAllListeners('upgrade');
      const refusing = new WebSocketServer({ server: bed.server });
      refusing.on('connection', (socket) => socket.close(4401, 'token-used'));
      void bed.start(hopeless.resolve);

      await hopeless.promise;
    }),
  );
});
