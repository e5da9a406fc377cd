import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createClient, type Client, type MonitorChange } from './index.ts';

type Answer = (response: ServerResponse) => void;

const KEY = `vtg_abcd1234_${'a'.repeat(43)}`;
const request = { check: { type: 'ping', host: 'example.com' }, every: '60s' };

describe('monitors of the client', () => {
  let server: Server;
  let client: Client;
  let answers: Answer[];
  let asked: { readonly what: string; readonly body: string; readonly headers: IncomingMessage['headers'] }[];

  beforeEach(async () => {
    [answers, asked] = [[], []];
    server = createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () => {
        asked.push({ what: `${incoming.method} ${incoming.url}`, body, headers: incoming.headers });
        answers.shift()!(response);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/net`;
    client = createClient({ baseUrl, key: KEY });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const json =
    (status: number, body: object): Answer =>
    (response) => {
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'Content-Type': type }).end(JSON.stringify(body));
    };
  const stream =
    (...events: readonly string[]): Answer =>
    (response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`retry: 1\n\n${events.join('')}`);
  const frame = (event: string, data: object, id = ''): string =>
    `${id === '' ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

  it('are listed, read, written and removed with the key', async () => {
    answers.push(json(200, { web: { name: 'web' } }), json(200, { name: 'web', runs: [] }));
    answers.push(json(201, { name: 'web' }), (response) => response.writeHead(204).end());
    answers.push(json(200, { name: 'web' }));

    expect(await client.monitors()).toEqual({ web: { name: 'web' } });
    expect(await client.monitor('web')).toEqual({ name: 'web', runs: [] });
    expect(await client.putMonitor('web', request)).toEqual({ name: 'web' });
    expect(await client.deleteMonitor('a/b')).toBeUndefined();
    await client.putMonitor('web', '{"every":"60s", "every":"30s"}');

    expect(asked.map(({ what }) => what)).toEqual([
      'GET /net/monitors',
      'GET /net/monitors/web',
      'PUT /net/monitors/web',
      'DELETE /net/monitors/a%2Fb',
      'PUT /net/monitors/web',
    ]);
    expect(JSON.parse(asked[2]!.body)).toEqual(request);
    expect(asked[4]!.body).toBe('{"every":"60s", "every":"30s"}');
    expect(asked[2]!.headers['content-type']).toBe('application/json');
    expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${KEY}`]));
  });

  it('are watched: resumed after the last event that has an id, and rejected when they are removed', async () => {
    answers.push(stream(frame('monitor', { name: 'web' }, '5-0'), frame('run', { tick: 1 }), frame('weather', {})));
    answers.push(stream(frame('state', { to: 'bad' }, '7-0'), frame('probe', { to: 'failing' }, '7-1')));
    answers.push(stream(frame('parting', { sentence: 'At r1.' }, '8-0'), frame('path', { sentence: 'New.' }, '8-1')));
    answers.push(json(404, { status: 404, detail: 'There is no monitor with this name.' }));
    const changes: MonitorChange[] = [];

    const watching = async (): Promise<void> => {
      for await (const change of client.watchMonitor('web')) changes.push(change);
    };

    await expect(watching()).rejects.toMatchObject({ name: 'ProblemError', status: 404 });
    expect(changes).toEqual([
      { type: 'monitor', id: '5-0', monitor: { name: 'web' } },
      { type: 'run', id: '5-0', run: { tick: 1 } },
      { type: 'change', id: '7-0', change: { to: 'bad' } },
      { type: 'change', id: '7-1', change: { to: 'failing' } },
      { type: 'change', id: '8-0', change: { sentence: 'At r1.' } },
      { type: 'change', id: '8-1', change: { sentence: 'New.' } },
    ]);
    expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '5-0', '7-1', '8-1']);
  });

  it('are watched from an event on that is known', async () => {
    answers.push(json(404, { status: 404, detail: 'Gone.' }));

    await expect(client.watchMonitor('web', { after: '3-1' })[Symbol.asyncIterator]().next()).rejects.toThrow('Gone.');
    expect(asked[0]).toMatchObject({ what: 'GET /net/monitors/web/events', headers: { 'last-event-id': '3-1' } });
  });
});
