import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { enrolOnce } from './enrol-once.ts';

const identity = {
  answer: async () => Promise.reject(new Error('there is no challenge')),
  confirmed: async () => undefined,
  refused: async () => 'end' as const,
};

describe('a service that answers the WebSocket handshake as a request', () => {
  it.each([
    [200, {}, /HTTP status 200: VANTAGE_URL is not the address of a Vantage service, or a proxy/],
    [404, {}, /HTTP status 404: VANTAGE_URL is not the address/],
    [301, { location: 'https://b.example/' }, /status 301, a redirect to https:\/\/b\.example\/: set VANTAGE_URL to/],
    [429, {}, /HTTP status 429: too many connections from this address/],
    [503, {}, /HTTP status 503: the gateway, or a proxy in front of it, is not ready/],
  ])('is named with what that means: %d', async (status, headers, message) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end('<html>'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await expect(enrolOnce({ url, identity: identity as never, release: '0.1.0' })).rejects.toThrow(message);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
