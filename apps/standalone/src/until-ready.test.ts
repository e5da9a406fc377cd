import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { Supervised } from './supervised.ts';
import { waitUntilReady, type Awaited } from './until-ready.ts';

const running: Supervised = {
  name: 'coordinator',
  pid: () => 1,
  failure: () => undefined,
  stop: async () => undefined,
};

describe('waiting until the service is ready', () => {
  let server: Server;
  /** Responses of `GET /probes` in order; the last one repeats. */
  let answers: { readonly status: number; readonly body: unknown }[];
  let askedFrom: string[];
  let awaited: Awaited;

  beforeEach(async () => {
    answers = [];
    askedFrom = [];
    server = createServer((request, response) => {
      askedFrom.push(request.socket.remoteAddress!);
      const next = (): (typeof answers)[number] => (answers.length > 1 ? answers.shift()! : answers[0]!);
      const answer = request.url === '/healthz' ? { status: 200, body: {} } : next();
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    awaited = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      probes: 2,
      processes: [running],
      logFolder: '/logs',
      report: () => undefined,
      signal: new AbortController().signal,
    };
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const both = { a: { status: 'healthy' }, b: { status: 'degraded' } };

  it('looks again after a problem document and while a probe is offline', async () => {
    const one = { a: { status: 'healthy' }, b: { status: 'offline' } };
    answers.push({ status: 503, body: {} }, { status: 200, body: one }, { status: 200, body: both });

    expect(await waitUntilReady(awaited)).toEqual(both);
  });

  it('uses up neither the limits of clients on this machine nor its own', async () => {
    answers.push({ status: 503, body: {} }, { status: 503, body: {} }, { status: 200, body: both });

    await waitUntilReady(awaited);

    expect(new Set(askedFrom).size).toBe(askedFrom.length);
    expect(askedFrom).not.toContain('127.0.0.1');
  });

  it('gives up at once, with the reason, when a process cannot run', async () => {
    const failed = { ...running, name: 'demo-1', failure: () => 'TARGET_ALLOW has the item “x”' };

    await expect(waitUntilReady({ ...awaited, processes: [running, failed] })).rejects.toThrow(
      'demo-1 cannot run:\nTARGET_ALLOW has the item “x”',
    );
  });

  it('ends when it is aborted', async () => {
    answers.push({ status: 503, body: {} });
    const signal = AbortSignal.timeout(100);

    await expect(waitUntilReady({ ...awaited, signal })).rejects.toThrow();
  });
});
