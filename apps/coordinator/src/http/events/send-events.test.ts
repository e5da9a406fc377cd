import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { until } from '../../../test/core-bed.ts';
import type { Completion, LiveCheck } from '../../checks/read/live-check.ts';
import type { ProbeState } from '../../checks/store/probe-state.ts';
import { createEventFrames, type EventFrames } from './event-frames.ts';
import { sendEvents, type Sending, type StreamTimes } from './send-events.ts';

/** A check with one probe whose state the test controls. */
interface PlayedCheck {
  readonly live: LiveCheck;
  readonly show: (json: string) => void;
  readonly complete: (states: readonly ProbeState[]) => void;
  readonly isClosed: () => boolean;
  readonly version: () => number;
}

const ID = 'qPUXvL1sQx2rGJm0Zf7N4w';
const state = (version: number, json: string, probe = 'fra-1'): ProbeState => ({
  probe,
  version,
  json,
  hasScreenshot: false,
});

function playCheck(): PlayedCheck {
  let current = state(0, '{"result":"pending"}');
  let completion: Completion | undefined;
  let isClosed = false;
  return {
    show: (json) => {
      current = state(current.version + 1, json);
    },
    complete: (states) => {
      const check = {
        testId: ID,
        type: 'echo',
        host: 'a.example',
        status: 'completed' as const,
        createdAt: '2026-01-01T00:00:00.000Z',
        completedAt: '2026-01-01T00:00:01.000Z',
      };
      completion = { version: current.version + 1, check, states };
    },
    isClosed: () => isClosed,
    version: () => current.version,
    live: {
      since: (version) => (current.version > version ? [current] : []),
      completion: () => completion,
      isGone: () => false,
      epoch: () => 0,
      version: () => current.version,
      close: () => {
        isClosed = true;
      },
    },
  };
}

let server: Server;
let played: PlayedCheck;
let sendings: Sending[];
let sockets: Socket[];
let times: Partial<StreamTimes>;
/** Number of probe events that were encoded. */
let made: number;

beforeEach(async () => {
  played = playCheck();
  sendings = [];
  sockets = [];
  times = {};
  made = 0;
  const all = createEventFrames(() => '/picture');
  const frames: EventFrames = {
    ...all,
    probe: (id, one) => {
      made += 1;
      return all.probe(id, one);
    },
  };
  server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    sendings.push(sendEvents(response, { id: ID, live: played.live, frames, after: -1, times }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** A client that reads only when the test allows it. */
async function openSocket(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  const before = sendings.length;
  // HTTP/1.0: the response is not chunked.
  socket.write('GET / HTTP/1.0\r\n\r\n');
  await until(() => sendings.length > before);
  return socket;
}

function pumpAll(): void {
  for (const { pump } of sendings) pump();
}

/** Changes the state until the client's buffers are full and no event is encoded any more. */
async function fill(): Promise<void> {
  for (let idle = 0; idle < 50;) {
    const before = made;
    played.show(`{"result":"pending","said":"${'x'.repeat(60_000)}"}`);
    pumpAll();
    await new Promise(setImmediate);
    idle = made === before ? idle + 1 : 0;
  }
}

describe('a client that does not read', () => {
  it('is sent nothing more, whatever changes, and then the newest state alone', async () => {
    const socket = await openSocket();
    await fill();
    const heldBack = made;
    for (let count = 0; count < 1_000; count += 1) {
      played.show(`{"result":"pending","said":"state ${count}"}`);
      pumpAll();
    }
    expect(made).toBe(heldBack);

    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk.replaceAll('x', '')));
    socket.resume();
    await until(() => text.includes('state 999'));

    expect(text.match(/state \d+/g)).toEqual(['state 999']);
    expect(made).toBe(heldBack + 1);
  });

  it('is cut off after its time', async () => {
    times = { stuckMs: 50 };
    const socket = await openSocket();
    await fill();

    await until(() => played.isClosed());

    socket.resume();
    await once(socket, 'close');
  });

  it('is cut off with the end of the check still unread', async () => {
    times = { stuckMs: 50 };
    const socket = await openSocket();
    const states = Array.from({ length: 100 }, (_, index) =>
      state(index + 1, JSON.stringify({ said: 'x'.repeat(200_000) }), `fra-${index}`),
    );
    played.complete(states);
    pumpAll();

    await until(() => played.isClosed());

    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(socket, 'close');
    expect(bytes).toBeLessThan(20_000_000);
  });

  it('gets all of a large check when it reads, however slowly', async () => {
    const states = Array.from({ length: 100 }, (_, index) =>
      state(index + 1, JSON.stringify({ said: 'x'.repeat(60_000) }), `fra-${index}`),
    );
    const socket = await openSocket();
    played.complete(states);
    pumpAll();
    let text = '';
    let reads = 0;
    socket.on('readable', () => {
      setImmediate(() => {
        for (let chunk = socket.read(20_000) as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
          reads += 1;
          text += chunk.toString('latin1').replaceAll('x', '');
        }
      });
    });
    await once(socket, 'end');

    expect(reads).toBeGreaterThan(1);
    expect(text).toMatch(/"fra-99":\{"said":""\}\}\}\n\n$/);
    expect(played.isClosed()).toBe(true);
  });
});

describe('a client that goes away', () => {
  it('takes its stream along', async () => {
    const socket = await openSocket();
    socket.destroy();

    await until(() => played.isClosed());
    // Changes after the close do nothing.
    played.show('{"result":"pending"}');
    pumpAll();
    sendings[0]!.sendAway();
  });
});
