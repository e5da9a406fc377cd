import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import { parseAddress, type Address } from '../address.ts';
import { createRdap, type Rdap, type RdapOptions } from './rdap.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const quiet = { info: () => {}, warn: () => {} };
const closes: (() => void)[] = [];

afterEach(() => {
  for (const close of closes.splice(0)) close();
});

/** An RDAP server on loopback, and the requests that it received. */
async function serve(answer: Answer): Promise<{ readonly baseUrl: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rdap`, asked };
}

const person = [
  'vcard',
  [
    ['version', {}, 'text', '4.0'],
    ['kind', {}, 'text', 'individual'],
    ['fn', {}, 'text', 'EXAMPLE-MNT'],
  ],
];
const organization = [
  'vcard',
  [
    ['kind', {}, 'text', 'org'],
    ['fn', {}, 'text', 'Example \u202e Networks Ltd'],
  ],
];

const network = {
  objectClassName: 'ip network',
  startAddress: '203.0.114.0',
  endAddress: '203.0.115.255',
  name: 'EXAMPLE-NET',
  country: 'NL',
  cidr0_cidrs: [
    { v4prefix: '203.0.112.0', length: 23 },
    { v4prefix: '203.0.114.0', length: 23 },
  ],
  entities: [
    { roles: ['abuse'], vcardArray: ['vcard', [['fn', {}, 'text', 'Abuse desk']]] },
    { roles: ['registrant'], vcardArray: person },
    { roles: ['administrative', 'registrant'], vcardArray: organization },
  ],
};

const json =
  (value: unknown): Answer =>
  (_request, response) => {
    response.setHeader('content-type', 'application/rdap+json').end(JSON.stringify(value));
  };

const address = (text: string): Address => parseAddress(text)!;

function create(baseUrl: string, options: Partial<RdapOptions> = {}): Rdap {
  return createRdap({ baseUrl, log: quiet, timeoutMs: 60_000, ...options });
}

describe('registration data', () => {
  it('names the organization and the network, and is asked for once for all its addresses', async () => {
    const { baseUrl, asked } = await serve(json(network));
    const rdap = create(baseUrl);

    expect(rdap.find(address('203.0.114.7'))).toBeNull();
    expect(await rdap.prepare(address('203.0.114.7'))).toBe(true);
    expect(await rdap.prepare(address('203.0.115.9'))).toBe(false);

    expect(rdap.find(address('203.0.115.9'))).toMatchObject({
      prefix: '203.0.114.0/23',
      facts: { org: 'Example \\u{202e} Networks Ltd', countryCode: 'NL', asn: null },
    });
    expect(rdap.find(address('203.0.116.1'))).toBeNull();
    expect(asked).toEqual(['/rdap/ip/203.0.114.7']);
    expect(rdap.attribution()).toBe(`registrations by RDAP (${new URL(baseUrl).host})`);
  });

  it('is asked for again after a day', async () => {
    const { baseUrl, asked } = await serve(json(network));
    let now = 0;
    const rdap = create(baseUrl, { now: () => now });
    await rdap.prepare(address('203.0.114.7'));

    now = 24 * 3_600_000 + 1;

    expect(rdap.find(address('203.0.114.7'))).toBeNull();
    expect(await rdap.prepare(address('203.0.114.7'))).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('is asked for by IPv6 addresses too', async () => {
    const { baseUrl, asked } = await serve(
      json({ ...network, cidr0_cidrs: [{ v6prefix: '2a00:1234::', length: 32 }], entities: [] }),
    );
    const rdap = create(`${baseUrl}/`);

    await rdap.prepare(address('2a00:1234::1'));

    expect(asked).toEqual(['/rdap/ip/2a00:1234::1']);
    expect(rdap.find(address('2a00:1234:ffff::'))).toMatchObject({ prefix: '2a00:1234::/32', facts: { org: null } });
  });

  it('counts for one address if the network is missing, or another', async () => {
    const { baseUrl } = await serve(json({ ...network, cidr0_cidrs: [{ v4prefix: '0.0.0.0', length: 0 }] }));
    const rdap = create(baseUrl);

    await rdap.prepare(address('203.0.114.7'));

    expect(rdap.find(address('203.0.114.7'))?.prefix).toBe('203.0.114.7/32');
    expect(rdap.find(address('203.0.114.8'))).toBeNull();
  });

  it('is asked for once by several at the same time', async () => {
    const { baseUrl, asked } = await serve(json(network));
    const rdap = create(baseUrl);

    await Promise.all(Array.from({ length: 5 }, () => rdap.prepare(address('203.0.114.7'))));

    expect(asked).toHaveLength(1);
  });

  it('follows redirects to the registry in charge', async () => {
    const registry = await serve(json(network));
    const { baseUrl } = await serve((request, response) => {
      const location = `${registry.baseUrl}${request.url?.replace('/rdap', '')}`;
      response.writeHead(302, { location }).end();
    });
    const rdap = create(baseUrl);

    expect(await rdap.prepare(address('203.0.114.7'))).toBe(true);
    expect(registry.asked).toEqual(['/rdap/ip/203.0.114.7']);
  });

  it.each<[string, Answer]>([
    ['redirects without end', (request, response) => response.writeHead(302, { location: request.url }).end()],
    ['redirects to a file', (_request, response) => response.writeHead(302, { location: 'file:///etc/hosts' }).end()],
    ['an error', (_request, response) => response.writeHead(500).end('{}')],
    ['an unknown network', (_request, response) => response.writeHead(404).end('{}')],
    ['no JSON', (_request, response) => response.end('<html>')],
    ['JSON of another kind', json({ objectClassName: 'domain' })],
    ['null', json(null)],
    ['an answer without end', (_request, response) => void response.write(`"${'x'.repeat(1 << 20)}`)],
    ['a broken connection', (_request, response) => void response.socket?.destroy()],
  ])('does without where the server gives %s, and does not ask again at once', async (_what, answer) => {
    const { baseUrl, asked } = await serve(answer);
    const rdap = create(baseUrl);

    expect(await rdap.prepare(address('203.0.114.7'))).toBe(false);
    const count = asked.length;
    expect(await rdap.prepare(address('203.0.114.7'))).toBe(false);

    expect(rdap.find(address('203.0.114.7'))).toBeNull();
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(4);
    expect(asked).toHaveLength(count);
  });

  it('does without where the server is silent, and does not ask again at once', async () => {
    const over = new AbortController();
    const { baseUrl, asked } = await serve(() => over.abort());
    const bounds: number[] = [];
    const deadline = (ms: number): AbortSignal => (bounds.push(ms), over.signal);
    const rdap = create(baseUrl, { timeoutMs: undefined, deadline });

    expect(await rdap.prepare(address('203.0.114.7'))).toBe(false);
    expect(await rdap.prepare(address('203.0.114.7'))).toBe(false);

    expect(rdap.find(address('203.0.114.7'))).toBeNull();
    expect(bounds).toEqual([2_000]);
    expect(asked).toHaveLength(1);
  });

  it('is not waited for after its time', async () => {
    const { baseUrl } = await serve(() => undefined);

    expect(await create(baseUrl, { timeoutMs: 50 }).prepare(address('203.0.114.7'))).toBe(false);
  });

  it('keeps silent for as long as the server asks, about any address', async () => {
    let now = 0;
    const { baseUrl, asked } = await serve((_request, response) =>
      response.writeHead(429, { 'retry-after': '30' }).end(),
    );
    const rdap = create(baseUrl, { now: () => now });

    await rdap.prepare(address('203.0.114.7'));
    now = 29_000;
    await rdap.prepare(address('198.51.101.1'));
    expect(asked).toHaveLength(1);
    now = 31_000;
    await rdap.prepare(address('203.0.114.7'));

    expect(asked).toHaveLength(2);
  });

  it('has four questions under way at most', async () => {
    const over = new AbortController();
    const allAsked = Promise.withResolvers<void>();
    const { baseUrl, asked } = await serve(() => {
      if (asked.length === 4) allAsked.resolve();
    });
    const rdap = create(baseUrl, { deadline: () => over.signal });

    const prepared = Array.from({ length: 9 }, (_, at) => rdap.prepare(address(`203.0.114.${at}`)));
    // The server does not answer, so the first four queries stay in progress.
    const others = await Promise.all(prepared.slice(4));
    await allAsked.promise;
    over.abort();
    await Promise.all(prepared);

    expect(others).toEqual([false, false, false, false, false]);
    expect(asked).toHaveLength(4);
  });

  it('wants a base that is an http URL', () => {
    expect(() => create('file:///etc')).toThrow(TypeError);
    expect(() => create('rdap.org')).toThrow();
  });
});
