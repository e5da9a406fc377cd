import { createServer, request as sendOn, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import type { TrustedProxies } from '../../app.ts';
import { startHttpBed, type HttpBed } from '../../../test/http-bed.ts';
import { checkProxies, proxiesFinding, type Sighting } from './check-proxies.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A coordinator behind this number of proxies, each of which appends to `X-Forwarded-For`. */
async function behind(proxies: number, trustedProxies: TrustedProxies | undefined): Promise<string> {
  const bed: HttpBed = await startHttpBed({ trustedProxies });
  opened.push(() => bed.close());
  let port = Number(new URL(bed.url).port);
  for (let count = 0; count < proxies; count += 1) port = await openProxy(port);
  return `http://127.0.0.1:${port}`;
}

async function openProxy(to: number): Promise<number> {
  const server: Server = createServer((incoming, outgoing) => {
    const before = incoming.headers['x-forwarded-for'];
    const forwarded = [...(before === undefined ? [] : [before]), incoming.socket.remoteAddress].join(', ');
    const headers = { ...incoming.headers, 'x-forwarded-for': forwarded };
    sendOn({ port: to, path: incoming.url, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

describe('proxies of a running service', () => {
  it.each<[string, number, TrustedProxies | undefined, 'ok' | 'error']>([
    ['one that is counted', 1, 1, 'ok'],
    ['two that are counted', 2, 2, 'ok'],
    ['none', 0, undefined, 'ok'],
    ['none, of which one is counted', 0, 1, 'error'],
    ['one, counted as two', 1, 2, 'error'],
    ['one, counted as nine', 1, 9, 'error'],
    ['none, and this machine is trusted as one', 0, ['127.0.0.0/8'], 'ok'],
    ['none, and another machine is trusted as one', 0, ['192.0.2.0/24'], 'ok'],
    ['none, and every machine is trusted as one', 0, ['0.0.0.0/0', '::/0'], 'error'],
  ])('%s', async (_case, proxies, trustedProxies, status) => {
    const url = await behind(proxies, trustedProxies);

    const [finding, ...others] = await checkProxies({ url, trustedProxies, isConfigured: true });

    expect([finding?.status, finding?.check, others]).toEqual([status, 'service.proxies', []]);
    if (status === 'error') expect(finding?.message).toContain('X-Forwarded-For: clients escape their rate limits.');
  });

  it('are an error for a doctor without the setting of the coordinators', async () => {
    const url = await behind(0, 1);

    const [finding] = await checkProxies({ url, trustedProxies: undefined, isConfigured: false });

    expect(finding).toMatchObject({ status: 'error', remedy: expect.stringContaining('unset it without one') });
  });
});

describe('proxies, by the address that the service sees', () => {
  const direct: Sighting = { seen: '192.0.2.5', seenForged: '192.0.2.5', local: '192.0.2.5', remote: '192.0.2.1' };
  const https = { url: 'https://a.example', trustedProxies: undefined, isConfigured: true };
  const http = { ...https, url: 'http://a.example' };

  it.each<[string, typeof https, Partial<Sighting> | undefined, string]>([
    ['this machine itself', http, {}, 'ok'],
    ['the machine behind NAT', http, { seen: '198.51.100.7', seenForged: '198.51.100.7' }, 'ok'],
    ['this machine, at a service with its own TLS', https, {}, 'ok'],
    [
      'loopback, though the connection is not: a proxy',
      http,
      { seen: '127.0.0.1', seenForged: '127.0.0.1' },
      'warning',
    ],
    ['the other end of the connection: a proxy', http, { seen: '192.0.2.1', seenForged: '192.0.2.1' }, 'warning'],
    [
      'loopback on both ends, with TLS in front',
      https,
      { seen: '127.0.0.1', seenForged: '127.0.0.1', local: '127.0.0.1', remote: '127.0.0.1' },
      'warning',
    ],
    ['nothing, of a service with TLS', https, undefined, 'warning'],
    ['nothing, of one without', http, undefined, ''],
  ])('%s', (_case, config, sighting, status) => {
    const found = proxiesFinding(config, sighting === undefined ? undefined : { ...direct, ...sighting });

    expect(found.map((one) => one.status).join()).toBe(status);
  });
});
