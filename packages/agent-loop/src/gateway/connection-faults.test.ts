import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { selfSigned } from '@vantage/test-support/programs/self-signed';

import { connectionFault } from './connection-faults.ts';
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
    [426, {}, /HTTP status 426: a proxy in front of the service does not pass upgrades on/],
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

it('a certificate of an unknown CA is reported with the setting for another one', async () => {
  const pem = selfSigned();
  const server = createTlsServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failed = await enrolOnce({ url, identity: identity as never, release: '0.1.0' }).catch(
      (error: unknown) => error,
    );

    expect(failed).toMatchObject({
      message: expect.stringContaining('set VANTAGE_CA_FILE'),
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(String(failed)).not.toContain('system-ca');
  } finally {
    server.close();
  }
});

it.each(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'])('the clock of the machine is reported with %s', (code) => {
  const { message } = connectionFault(Object.assign(new Error('certificate'), { code }));
  const said = Date.parse(/^certificate; the clock of this machine says (.*)$/.exec(message)?.[1] ?? '');

  expect(Math.abs(Date.now() - said)).toBeLessThan(60_000);
});

it('failures of several addresses of a name, which Node gives together without a text, are all named', () => {
  const refused = ['127.0.0.1', '::1'].map((address) => new Error(`connect ECONNREFUSED ${address}:443`));

  expect(connectionFault(new AggregateError(refused)).message).toBe(
    'connect ECONNREFUSED 127.0.0.1:443; connect ECONNREFUSED ::1:443',
  );
});
