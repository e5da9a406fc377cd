import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readConfig, type Config } from './config.ts';
import { reportPage } from './report-page.ts';
import { reportOf, type LoadReport } from './report.ts';
import { runLoad } from './run-load.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let onPost: Answer;
let onRead: Answer;
let posts: number;
let serial: number;

beforeEach(async () => {
  posts = 0;
  serial = 0;
  onPost = (_request, response) =>
    json(response, 202, { checkId: `check-${(serial += 1)}`, status: 'pending', message: '' });
  onRead = (_request, response) => json(response, 200, completedCheck());
  server = createServer((request, response) => {
    if (request.method === 'POST') posts += 1;
    (request.method === 'POST' ? onPost : onRead)(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function json(response: ServerResponse, status: number, body: object): void {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'Content-Type': type }).end(JSON.stringify(body));
}

function completedCheck(lateMs = -1_000): object {
  const createdAt = Date.now();
  return {
    testId: 'x',
    type: 'http',
    host: 'h',
    status: 'completed',
    createdAt: new Date(createdAt).toISOString(),
    completedAt: new Date(createdAt + 15_000 + lateMs).toISOString(),
    results: {
      'sim-1': { result: 'success', error: null, startedAt: new Date(createdAt + 5).toISOString() },
      'sim-2': { result: 'timeout', error: { code: 'probe_timeout' }, startedAt: null },
    },
  };
}

async function load(flags: readonly string[] = [], signal = new AbortController().signal): Promise<LoadReport> {
  const { port } = server.address() as AddressInfo;
  const config = readConfig(
    [
      '--target',
      '127.0.0.1',
      '--url',
      `http://127.0.0.1:${port}`,
      '--rate',
      '40',
      '--duration',
      '1',
      '--warm-up',
      '0',
      '--mix',
      'http=1',
      ...flags,
    ],
    {},
  ) as Config;
  return reportOf(config, await runLoad(config, signal));
}

describe('a load', () => {
  it('starts checks whatever became of those before, and counts from the intended start', async () => {
    const held: ServerResponse[] = [];
    // No response before the tenth request: a closed-loop generator would wait forever.
    onPost = (_request, response) => {
      held.push(response);
      if (held.length < 10) return;
      for (const one of held.splice(0))
        json(one, 202, { checkId: `check-${(serial += 1)}`, status: 'pending', message: '' });
      onPost = (_later, later) => json(later, 202, { checkId: 'later', status: 'pending', message: '' });
    };

    const { times, counts, errors } = await load();

    expect(posts).toBeGreaterThanOrEqual(10);
    expect(errors).toEqual({});
    expect(counts['completed']).toBe(counts['started']);
    // The first request waited for nine more at forty per second.
    expect(times.post.max).toBeGreaterThan(20);
    expect(times.completion.max).toBeGreaterThanOrEqual(times.post.max);
  });

  it('tells probe-runs by result, what their deadline ended, and when their jobs started', async () => {
    const { counts, results, unanswered, late, times } = await load();

    expect(counts['probe-runs']).toBe(2 * counts['completed']!);
    expect(results).toEqual({ success: counts['completed'], probe_timeout: counts['completed'] });
    expect(unanswered).toBe(counts['completed']);
    expect(late).toBe(0);
    expect(times.queue.p50).toBeCloseTo(5, 0);
  });

  it('counts checks that are completed too late', async () => {
    onRead = (_request, response) => json(response, 200, completedCheck(2_500));

    const { late, counts } = await load();

    expect(late).toBe(counts['completed']);
  });

  it('counts errors by their kind, and goes on', async () => {
    onPost = (_request, response) => {
      if (posts % 2 === 0) response.destroy();
      else json(response, 429, { title: 'Too many requests', detail: 'Wait.', status: 429 });
    };

    const { errors, counts } = await load();

    expect(errors['429 Too many requests']).toBeGreaterThan(0);
    expect(Object.values(errors).reduce((sum, count) => sum + count, 0)).toBe(counts['started']);
    expect(Object.keys(errors).length).toBeGreaterThan(1);
  });

  it('follows checks by their event streams', async () => {
    const asked: (string | undefined)[] = [];
    onRead = (request, response) => {
      asked.push(request.url);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(`id: 1\nevent: completed\ndata: ${JSON.stringify(completedCheck())}\n\n`);
    };

    const { counts } = await load(['--follow', 'sse']);

    expect(counts['completed']).toBe(counts['started']);
    expect(asked.every((url) => url?.endsWith('/events'))).toBe(true);
  });

  it('leaves the time of warming up out', async () => {
    const { counts } = await load(['--warm-up', '1']);

    expect(counts['started']).toBeLessThan(posts);
  });

  it('ends at once when it is stopped', async () => {
    const stopping = new AbortController();
    onPost = () => stopping.abort();

    const { errors } = await load(['--duration', '600'], stopping.signal);

    expect(Object.keys(errors)).toEqual(['load was stopped']);
  });

  it('tells the rates of the time that it was counted for when it is stopped', async () => {
    const stopping = new AbortController();
    onRead = (_request, response) => {
      json(response, 200, completedCheck());
      if (posts >= 20) stopping.abort();
    };

    const { countedSeconds, perSecond, counts } = await load(['--duration', '6000'], stopping.signal);

    expect(countedSeconds).toBeGreaterThan(0);
    expect(countedSeconds).toBeLessThan(6_000);
    expect(perSecond.started).toBeCloseTo(counts['started']! / countedSeconds);
  });

  it('counts nothing before the start of a check, though a timer was early', async () => {
    const { times } = await load(['--rate', '600']);

    // An early request counts from when it is sent: counted from when it is due, its time could be negative.
    expect(times.post.percentiles[0]![1]).toBeGreaterThan(0);
  });

  it('has a page that needs nothing but itself, in which words of the service are text', async () => {
    onPost = (_request, response) =>
      json(response, 503, { title: '<script>alert(1)</script>', detail: '', status: 503 });

    const page = reportPage(await load());

    expect(page).toContain('503 &lt;script&gt;');
    expect(page).not.toMatch(/<script|<link|<img|\bsrc=|\bhref=|@import|url\(/);
    expect(page.match(/<svg /g)).toHaveLength(3);
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
  });
});
