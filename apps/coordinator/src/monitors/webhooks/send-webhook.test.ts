import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Admit } from '@vantage/contract';
import { Webhook } from 'standardwebhooks';

import { createSendWebhook, type Delivery } from './send-webhook.ts';
import { readWebhookSecret } from './signature.ts';

const text = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const secrets = [readWebhookSecret(text)!];

let server: Server;
let port = 0;
const received: unknown[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      received.push(new Webhook(text).verify(body, request.headers as Record<string, string>));
      response.writeHead(Number(request.url!.slice(1)), { Location: '/200' }).end('hello');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Pins every name to loopback, as if it had been resolved to it. */
const admit: Admit = async ({ host }) => ({
  admitted: true,
  target: { host, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], resolveMs: 0 },
});

const delivery = (status: number): Delivery => ({
  id: 'msg_1',
  body: '{"type":"monitor.bad"}',
  sentAtMs: Date.now(),
  url: `http://hooks.example:${port}/${status}`,
});

describe('a webhook', () => {
  it.each([
    [200, { kind: 'delivered' }],
    [204, { kind: 'delivered' }],
    [302, { kind: 'failed', reason: 'status 302' }],
    [410, { kind: 'refused', reason: 'status 410' }],
    [500, { kind: 'failed', reason: 'status 500' }],
  ])('goes to the pinned address, signed; %i', async (status, outcome) => {
    received.length = 0;

    expect(await createSendWebhook({ admit, secrets })(delivery(status))).toEqual(outcome);
    expect(received).toEqual([{ type: 'monitor.bad' }]);
  });

  it('is not sent to an address that the policy refuses', async () => {
    received.length = 0;
    const failure = {
      code: 'target_refused_by_policy',
      phase: 'resolve',
      source: 'probe',
      message: 'It is private.',
    } as const;
    const refuse: Admit = async () => ({ admitted: false, failure, addresses: [], resolveMs: 0 });

    expect(await createSendWebhook({ admit: refuse, secrets })(delivery(200))).toEqual({
      kind: 'failed',
      reason: 'It is private.',
    });
    expect(received).toEqual([]);
  });

  it('fails if nothing listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const url = `http://hooks.example:${(closed.address() as AddressInfo).port}/200`;
    closed.close();
    await once(closed, 'close');

    expect(await createSendWebhook({ admit, secrets })({ ...delivery(200), url })).toMatchObject({ kind: 'failed' });
  });
});
