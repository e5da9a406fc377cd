import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createClient, type Client } from './index.ts';

/** Responses of the server, in order (a status of 0: the connection is cut), and the requests it received. */
interface Exchange {
  readonly answers: { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }[];
  readonly asked: { readonly method: string; readonly url: string; readonly body: string }[];
  readonly keys: unknown[];
}

describe('the client', () => {
  let exchange: Exchange;
  let server: Server;
  let client: Client;

  beforeEach(async () => {
    exchange = { answers: [], asked: [], keys: [] };
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        exchange.keys.push(request.headers['idempotency-key']);
        exchange.asked.push({ method: request.method!, url: request.url!, body });
        const answer = exchange.answers.shift()!;
        if (answer.status === 0) {
          request.socket.destroy();
          return;
        }
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/vantage/` });
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('keeps the path prefix of the base address and waits again until the check is completed', async () => {
    exchange.answers.push(
      { status: 202, body: '{"checkId":"abc","status":"pending","message":"Started."}' },
      { status: 200, body: '{"testId":"abc","status":"pending","results":{}}' },
      { status: 200, body: '{"testId":"abc","status":"completed","results":{}}' },
    );

    const check = await client.check({ type: 'tcp', host: 'example.com', port: 443 });

    expect(check.status).toBe('completed');
    expect(exchange.asked).toEqual([
      { method: 'POST', url: '/vantage/check', body: '{"type":"tcp","host":"example.com","port":443}' },
      { method: 'GET', url: '/vantage/check/abc/results?wait=25', body: '' },
      { method: 'GET', url: '/vantage/check/abc/results?wait=25', body: '' },
    ]);
  });

  it('waits for the check over lost connections, restarts, a proxy’s 404 and refusals that end', async () => {
    exchange.answers.push(
      { status: 202, body: '{"checkId":"abc","status":"pending","message":"Started."}' },
      { status: 0, body: '' },
      { status: 503, headers: { 'retry-after': '0' }, body: '{}' },
      { status: 429, headers: { 'retry-after': '0' }, body: '{}' },
      { status: 404, headers: { 'content-type': 'text/html', 'retry-after': '0' }, body: '<h1>Not found</h1>' },
      { status: 200, body: '{"testId":"abc","status":"pending","results":{}}' },
      { status: 0, body: '' },
      { status: 200, body: '{"testId":"abc","status":"completed","results":{}}' },
    );

    await expect(client.check({ type: 'ping', host: 'example.com' })).resolves.toMatchObject({ status: 'completed' });
    expect(exchange.asked.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('does not wait for a check that is gone, nor after an abort, and repeats no start', async () => {
    const started = { status: 202, body: '{"checkId":"abc"}' };
    const stopping = new AbortController();

    const headers = { 'content-type': 'application/problem+json' };
    exchange.answers.push(started, { status: 410, headers, body: '{"status":410,"detail":"Removed."}' });
    await expect(client.check({ type: 'ping', host: 'example.com' })).rejects.toMatchObject({ status: 410 });
    exchange.answers.push({ status: 503, headers: { 'retry-after': '0' }, body: '{}' });
    await expect(client.check({ type: 'ping', host: 'example.com' })).rejects.toMatchObject({ status: 503 });
    exchange.answers.push(started, { status: 503, headers: { 'retry-after': '3600' }, body: '{}' });
    const waiting = client.check({ type: 'ping', host: 'example.com' }, { signal: stopping.signal });
    const aborting = setInterval(() => exchange.answers.length > 0 || stopping.abort(new Error('enough')), 10);
    await expect(waiting).rejects.toThrow('enough');
    clearInterval(aborting);
  });

  it('sends the key of a request that may be repeated, and asks for summaries and comparisons', async () => {
    exchange.answers.push(
      { status: 202, body: '{"checkId":"abc"}' },
      { status: 200, body: '{"verdict":"up"}' },
      { status: 200, body: '{"result":"same"}' },
    );

    await client.startCheck({ type: 'ping', host: 'example.com' }, { idempotencyKey: 'k-1' });
    expect(await client.summary('a/c')).toEqual({ verdict: 'up' });
    expect(await client.compare('a/c', 'b?d')).toEqual({ result: 'same' });

    expect(exchange.keys).toEqual(['k-1', undefined, undefined]);
    expect(exchange.asked.map(({ url }) => url)).toEqual([
      '/vantage/check',
      '/vantage/check/a%2Fc/summary',
      '/vantage/check/a%2Fc/compare/b%3Fd',
    ]);
  });

  it('rejects with the problem document, its fields in the message, and the time to wait', async () => {
    exchange.answers.push({
      status: 429,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '7' },
      body: '{"status":429,"detail":"Too many.","errors":[{"path":"/host","message":"is wrong"}]}',
    });

    await expect(client.probes()).rejects.toMatchObject({
      name: 'ProblemError',
      status: 429,
      retryAfterSeconds: 7,
      message: 'Too many.\n/host: is wrong',
    });
  });

  it.each(['{"status":503,"det', 'null', '{"status":503}'])(
    'rejects without a problem or a time for %s',
    async (body) => {
      const headers = { 'content-type': 'application/problem+json', 'retry-after': 'Sat, 21 Nov 2026 01:00:00 GMT' };
      exchange.answers.push({ status: 503, headers, body });

      await expect(client.me()).rejects.toMatchObject({
        name: 'ProblemError',
        status: 503,
        message: 'The service answered with status 503.',
        problem: undefined,
        retryAfterSeconds: undefined,
      });
    },
  );

  it('rejects without a problem where something else answered', async () => {
    exchange.answers.push({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' });

    await expect(client.me()).rejects.toMatchObject({ status: 502, problem: undefined });
  });

  it('rejects where something else answered with a page', async () => {
    exchange.answers.push({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' });

    await expect(client.me()).rejects.toMatchObject({ name: 'UnusableResponse' });
  });
});
