import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createClient, type CheckEvent, type Client, type WatchOptions } from './index.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Behaviour of the server per connection, in order; the last one repeats. */
let answers: Answer[];
/** `Last-Event-ID` of each connection. */
let asked: (string | undefined)[];
/** Called when the watch has received the next event. */
let onEvent: () => void;
let server: Server;
let client: Client;

beforeEach(async () => {
  answers = [];
  asked = [];
  onEvent = () => undefined;
  server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    answer(response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Frame that makes clients reconnect after one millisecond. */
const RETRY = 'retry: 1\n\n';

function probe(version: number, result: object): string {
  return `id: ${version}\nevent: probe\ndata: ${JSON.stringify({ probe: 'fra-1', result })}\n\n`;
}

function completed(version: number): string {
  return `id: ${version}\nevent: completed\ndata: {"status":"completed","results":{}}\n\n`;
}

const stream =
  (text: string, then: 'end' | 'break' | 'stay' = 'end'): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.write(RETRY + text);
    // Only after the watch has read the events: unread data of a broken connection may be lost.
    if (then === 'break') onEvent = () => response.destroy();
    if (then === 'end') response.end();
  };

const problem =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    response.end(JSON.stringify({ status, detail: `It is ${status}.` }));
  };

async function watch(options: WatchOptions = {}): Promise<readonly CheckEvent[]> {
  const events: CheckEvent[] = [];
  for await (const event of client.watch('abc', options)) {
    events.push(event);
    onEvent();
  }
  return events;
}

describe('watching a check', () => {
  it('yields each result as it comes, then the check, and ends', async () => {
    answers.push(stream(probe(0, { result: 'pending' }) + probe(1, { result: 'success' }) + completed(2), 'stay'));

    expect(await watch()).toEqual([
      { type: 'probe', version: 0, probe: 'fra-1', result: { result: 'pending' } },
      { type: 'probe', version: 1, probe: 'fra-1', result: { result: 'success' } },
      { type: 'completed', version: 2, check: { status: 'completed', results: {} } },
    ]);
  });

  it.each<[string, Answer[], (string | undefined)[]]>([
    ['whose connection breaks', [stream(probe(3, {}), 'break'), stream(completed(4))], [undefined, '3']],
    ['whose service sends it away', [stream(probe(3, {})), stream(completed(4))], [undefined, '3']],
    [
      'whose service is away for a moment',
      [stream(probe(3, {})), problem(503, { 'Retry-After': '0' }), problem(500), stream(completed(4))],
      [undefined, '3', '3', '3'],
    ],
    [
      'that gets Retry-After',
      [problem(429, { 'Retry-After': '0' }), stream(probe(1, {}), 'break'), stream(completed(4))],
      [undefined, undefined, '1'],
    ],
    [
      'that meets something else than the service',
      [(response) => response.end('<h1>Welcome</h1>'), stream(completed(4))],
      [undefined, undefined],
    ],
    ['that is refused a connection', [(response) => response.destroy(), stream(completed(4))], [undefined, undefined]],
  ])('goes on with a stream %s', async (_reason, given, ids) => {
    answers.push(...given);

    const events = await watch();

    expect(events.at(-1)).toMatchObject({ type: 'completed', version: 4 });
    expect(asked).toEqual(ids);
  });

  it('begins after a version that was seen before', async () => {
    answers.push(stream(completed(9)));

    await watch({ after: 8 });

    expect(asked).toEqual(['8']);
  });

  it('ends where there is nothing newer, now or later', async () => {
    answers.push((response) => response.writeHead(204).end());

    expect(await watch({ after: 9 })).toEqual([]);
  });

  it('skips events that it does not know, and comments', async () => {
    answers.push(stream(`:\n\nid: 1\nevent: weather\ndata: sunny\n\n${completed(2)}`));

    expect(await watch()).toMatchObject([{ type: 'completed' }]);
  });

  it.each([404, 400, 405])('rejects with the problem of a %d at once', async (status) => {
    answers.push(problem(status));

    await expect(watch()).rejects.toMatchObject({ name: 'ProblemError', status, message: `It is ${status}.` });
    expect(asked).toHaveLength(1);
  });

  it.each([404, 403, 410])(
    'goes on after a %d of something in front of the service, which may restart',
    async (status) => {
      answers.push((response) => response.writeHead(status, { 'Retry-After': '0' }).end('<h1>No</h1>'));
      answers.push(stream(completed(4)));

      expect(await watch()).toMatchObject([{ type: 'completed' }]);
    },
  );

  it('rejects with the last failure when the service is away for too long', async () => {
    answers.push(problem(503, { 'Retry-After': '0' }));

    await expect(watch({ giveUpAfterMs: 0 })).rejects.toMatchObject({ status: 503 });
  });

  it('waits no longer for a service that is away than `giveUpAfterMs`', async () => {
    answers.push(problem(503, { 'Retry-After': '3600' }));

    await expect(watch({ giveUpAfterMs: 20 })).rejects.toMatchObject({ status: 503 });
    expect(asked).toHaveLength(2);
  });

  it('does not ask again and again if `retry` is longer than a timer can', async () => {
    const controller = new AbortController();
    answers.push((response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('retry: 99999999999\n\n');
      setTimeout(() => controller.abort(new Error('enough')), 100);
    });

    await expect(watch({ signal: controller.signal })).rejects.toThrow('enough');
    expect(asked).toHaveLength(1);
  });

  it('tells why it waits to connect again, and when the connection stands', async () => {
    const told: unknown[] = [];
    answers.push(problem(429, { 'Retry-After': '0' }), stream(probe(1, {})), stream(completed(4)));

    await watch({
      onConnection: (lost) => {
        told.push(lost === undefined ? 'stands' : [(lost.failure as Error).message, lost.waitMs > 0]);
      },
    });

    expect(told).toEqual([['It is 429.', true], 'stands', 'stands']);
  });

  it('ends its connection when it is left', async () => {
    const left = Promise.withResolvers<void>();
    answers.push((response, request) => {
      request.once('close', left.resolve);
      stream(probe(0, {}), 'stay')(response, request);
    });

    for await (const event of client.watch('abc')) {
      expect(event.type).toBe('probe');
      break;
    }

    await left.promise;
  });

  it.each<[string, Answer]>([
    ['while it waits for an event', stream(probe(0, {}), 'stay')],
    ['while it waits to connect again', problem(503, { 'Retry-After': '3600' })],
    ['while it waits for an answer', () => undefined],
  ])('rejects with the reason of its signal %s', async (_reason, answer) => {
    const controller = new AbortController();
    answers.push((response, request) => {
      answer(response, request);
      setTimeout(() => controller.abort(new Error('enough')), 20);
    });

    await expect(watch({ signal: controller.signal })).rejects.toThrow('enough');
  });

  it('asks nothing with a signal that is aborted', async () => {
    await expect(watch({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(asked).toEqual([]);
  });
});
