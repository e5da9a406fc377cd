import type { IncomingMessage } from 'node:http';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';

import { until } from '../../test/core-bed.ts';
import { post, tcpCheck, type Seen } from '../../test/http-bed.ts';
import { CHECK_ID, highLimits, selectFor } from '../../test/http-fakes.ts';
import { bearer, startKeyBed, type KeyBed } from '../../test/key-bed.ts';
import { createIdempotencyStore } from '../checks/create/idempotency-store.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { unprocessedClient } from './limits/axes.ts';
import { createStreamPlaces } from './events/stream-places.ts';

let bed: KeyBed;

beforeAll(async () => {
  bed = await startKeyBed();
});

afterAll(() => bed.stop());

afterEach(() => bed.redis.flushall());

const ping = { type: 'ping', host: 'example.com' };
const unknownKey = `vtg_abcd1234_${'a'.repeat(43)}`;

function said({ status, json }: Seen): unknown {
  const { type = '', detail = '' } = (json ?? {}) as { readonly type?: string; readonly detail?: string };
  return [status, type.split('/').at(-1), detail];
}

describe('a request with an API key', () => {
  it('may do what the scopes of the key say, and nothing else', async () => {
    const [reads, checks] = [await bed.add('reads', '--scopes', 'read'), await bed.add('checks', '--scopes', 'check')];
    const { ask, stored } = await bed.startEdge();
    stored.set(CHECK_ID, tcpCheck('completed'));
    const paths = ['/probes', '/probes/agents', '/me', `/check/${CHECK_ID}/results`, `/check/${CHECK_ID}/summary`];

    expect((await ask('/check', post(ping, bearer(checks)))).status).toBe(202);
    for (const path of paths) {
      expect([path, (await ask(path, { headers: bearer(reads) })).status]).toEqual([path, 200]);
      expect([path, said(await ask(path, { headers: bearer(checks) }))]).toEqual([
        path,
        [403, 'scope-missing', 'The key checks lacks the scope read.'],
      ]);
    }
    for (const path of [`/check/${CHECK_ID}/events`, `/check/${CHECK_ID}/screenshot`]) {
      expect([path, (await ask(path, { headers: bearer(checks) })).status]).toEqual([path, 403]);
    }
    expect(said(await ask('/check', post(ping, bearer(reads))))).toEqual([
      403,
      'scope-missing',
      'The key reads lacks the scope check.',
    ]);
  });

  it.each([
    [
      'a key without a scheme',
      unknownKey,
      'The key has no scheme: send Authorization: Bearer vtg_… (in Prometheus type: Bearer).',
    ],
    ['half a key', 'Bearer vtg_abcd1234', 'The text after Bearer is no API key: it was cut off or changed.'],
    ['two words', `bearer ${unknownKey} x`, 'The text after Bearer is no API key: it was cut off or changed.'],
    ['a key in quotes', `Bearer "${unknownKey}"`, 'The text after Bearer is no API key: it was cut off or changed.'],
    [
      'a key in capitals',
      `Bearer ${unknownKey.toUpperCase()}`,
      'The text after Bearer is no API key: it was cut off or changed.',
    ],
    ['two schemes', `Bearer Bearer ${unknownKey}`, 'The text after Bearer is no API key: it was cut off or changed.'],
    [
      'a key in quotes without a scheme',
      `"${unknownKey}"`,
      'The key has no scheme: send Authorization: Bearer vtg_… (in Prometheus type: Bearer).',
    ],
    [
      'a key that is not there',
      `BEARER ${unknownKey}`,
      'There is no such API key: it was mistyped, removed or replaced.',
    ],
  ])('is answered 401 where it has %s', async (_what, Authorization, detail) => {
    const { ask } = await bed.startEdge();

    for (const answer of [
      await ask('/probes', { headers: { Authorization } }),
      await ask('/check', post(ping, { Authorization })),
    ]) {
      expect(said(answer)).toEqual([401, 'unauthorized', detail]);
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer /);
      expect(answer.headers.get('RateLimit')).not.toBeNull();
    }
  });

  it.each(['Basic dXNlcjpwYXNz', 'Bearer eyJhbGciOiJIUzI1NiJ9', 'Bearer eyJh.eyJavtg_b.c', 'Bearer', 'bearer '])(
    'is not needed, and %j, which a client or proxy adds, is ignored',
    async (Authorization) => {
      const { ask } = await bed.startEdge();

      expect((await ask('/check', post(ping, { Authorization }))).status).toBe(202);
      expect((await ask('/probes', { headers: { Authorization } })).status).toBe(200);
    },
  );

  it('is not read by pages and health checks', async () => {
    const { ask } = await bed.startEdge();

    expect((await ask('/check', post(ping))).status).toBe(202);
    expect((await ask('/docs', { headers: bearer(unknownKey) })).status).toBe(200);
    expect((await ask('/healthz', { headers: bearer(unknownKey) })).status).toBe(200);
  });

  it('may come from any page', async () => {
    const { ask } = await bed.startEdge();

    const { headers } = await ask('/check', { method: 'OPTIONS', headers: { Origin: 'https://page.example' } });

    expect(headers.get('Access-Control-Allow-Headers')).toContain('Authorization');
    expect(headers.get('Access-Control-Expose-Headers')).toContain('WWW-Authenticate');
  });

  it('is answered 503 for as long as a coordinator has not read the keys', async () => {
    const text = await bed.add('a', '--scopes', 'read');
    const keys = bed.openRing();
    const { ask } = await bed.startEdge({ keys });

    const before = [await ask('/probes', { headers: bearer(text) }), await ask('/probes')];
    await keys.poll();
    const after = await ask('/probes', { headers: bearer(text) });

    expect([...before, after].map(({ status }) => status)).toEqual([503, 200, 200]);
  });

  it('is refused by every coordinator within seconds of a rotation, a removal, and the end', async () => {
    const edges = [await bed.startEdge(), await bed.startEdge()];
    const statuses = async (text: string): Promise<readonly number[]> =>
      Promise.all(edges.map(async ({ ask }) => (await ask('/probes', { headers: bearer(text) })).status));
    const all = async (text: string, status: number): Promise<void> =>
      until(async () => (await statuses(text)).every((one) => one === status));

    const first = await bed.add('a', '--scopes', 'read');
    await all(first, 200);
    const second = (await bed.run('key:rotate', 'a')).out;
    await all(first, 401);
    await all(second, 200);
    await bed.run('key:remove', 'a');
    await all(second, 401);
    const brief = await bed.add('brief', '--scopes', 'read', '--expires', '1s');
    await all(brief, 401);
    await until(async () => {
      const answer = await edges[0]!.ask('/probes', { headers: bearer(brief) });
      return (answer.json as { detail: string }).detail === 'The API key has expired.';
    });
  });
});

it('identifies the client of a request before Express processes it: its valid key, or the address that the proxy states', async () => {
  const key = await bed.add('early', '--scopes', 'check');
  const ring = bed.openRing();
  await ring.poll();
  const app = express().set('trust proxy', 1);
  const clientOf = (headers: Readonly<Record<string, string>>): string => {
    const request = { headers: { 'x-forwarded-for': '1.2.3.4, 203.0.113.9:4711', ...headers } };
    const socket = { remoteAddress: '127.0.0.1' };
    return unprocessedClient(app, ring, { ...request, socket } as unknown as IncomingMessage);
  };

  expect(clientOf({})).toBe('203.0.113.9');
  expect(clientOf({ authorization: `Bearer ${unknownKey}` })).toBe('203.0.113.9');
  expect(clientOf({ authorization: `Bearer ${key}` })).toMatch(/^key:/);
  expect(clientOf({ 'x-forwarded-for': '2001:db8::1' })).toBe(clientOf({ 'x-forwarded-for': '2001:db8::2' }));
  expect(clientOf({ 'x-forwarded-for': 'none' })).toBe('');
});

describe('the limits of a key', () => {
  it('are its own, the same for all addresses and coordinators, for each endpoint', async () => {
    const text = await bed.add('a', '--scopes', 'check,read', '--limit', '5');
    const options = { rateLimits: { ...highLimits, listProbes: 2, createCheck: 2 }, trustedProxies: 1 };
    const edges = [await bed.startEdge(options), await bed.startEdge(options)];
    const from = (n: number): Readonly<Record<string, string>> => ({ 'X-Forwarded-For': `203.0.113.${n}` });
    const list = (n: number): Promise<Seen> =>
      edges[n % 2]!.ask('/probes', { headers: { ...bearer(text), ...from(n) } });
    const check = (n: number): Promise<Seen> =>
      edges[n % 2]!.ask('/check', post(ping, { ...bearer(text), ...from(n) }));

    for (const ask of [list, check]) {
      for (const n of [1, 2, 3, 4, 5]) expect((await ask(n)).status).toBeLessThan(300);
      const refused = await ask(6);
      expect(said(refused)).toEqual([
        429,
        'rate-limited',
        expect.stringMatching(/^The limit of 5 requests a minute to .+ is reached for the key a\.$/),
      ]);
      expect(refused.headers.get('RateLimit-Policy')).toMatch(/q=5; w=60$/);
      // The refusal is remembered by now, so the body is not read.
      expect((await ask(8)).status).toBe(429);
    }
    // The limits of the key and of the address are separate.
    const plain = await Promise.all([1, 2, 3].map(() => edges[0]!.ask('/probes', { headers: from(1) })));
    expect(plain.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
  });

  it('go on after a rotation', async () => {
    const first = await bed.add('a', '--scopes', 'read', '--limit', '2');
    const { ask } = await bed.startEdge();
    for (const _ of [1, 2]) expect((await ask('/probes', { headers: bearer(first) })).status).toBe(200);

    const second = (await bed.run('key:rotate', 'a')).out;

    await until(async () => (await ask('/probes', { headers: bearer(second) })).status === 429);
  });

  it('count wrong keys at the address, which the right ones are free of', async () => {
    const text = await bed.add('a', '--scopes', 'check,read');
    const { ask } = await bed.startEdge({ rateLimits: { ...highLimits, listProbes: 3, createCheck: 3 } });
    const wrong = { Authorization: `Bearer ${unknownKey}` };

    for (const guess of [() => ask('/probes', { headers: wrong }), () => ask('/check', post(ping, wrong))]) {
      const statuses = [];
      for (let n = 0; n < 5; n += 1) statuses.push((await guess()).status);
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
    }
    expect((await ask('/probes', { headers: bearer(text) })).status).toBe(200);
    expect((await ask('/check', post(ping, bearer(text)))).status).toBe(202);
  });

  it('let it check as many targets as it may send requests', async () => {
    const text = await bed.add('a', '--scopes', 'check', '--limit', '4');
    const { ask } = await bed.startEdge({
      targetLimits: { target: 1e6, targetPorts: 1e6, clientTargets: 2, costs: new Map() },
    });
    const tcp = (n: number): object => ({ type: 'tcp', host: `h${n}.example${n}.com`, port: 443 });
    const run = async (headers: Readonly<Record<string, string>>): Promise<readonly number[]> => {
      const statuses = [];
      for (const n of [1, 2, 3]) statuses.push((await ask('/check', post(tcp(n), headers))).status);
      return statuses;
    };

    expect(await run({})).toEqual([202, 202, 429]);
    expect(await run(bearer(text))).toEqual([202, 202, 202]);
  });

  it('are those of its event streams, too', () => {
    const places = createStreamPlaces({ perClient: 1, total: 10 });
    const key = (id: string): ApiKey => ({
      id,
      name: `key-${id}`,
      scopes: ['read'],
      limit: 1,
      allow: [],
      createdAt: 0,
      expiresAt: null,
      secrets: [],
    });
    const address = '192.0.2.1';

    places.take({ address, key: undefined });
    const leave = places.take({ address, key: key('a') });
    places.take({ address, key: key('b') });

    expect(() => places.take({ address: '192.0.2.2', key: key('a') })).toThrow(
      '1 event streams are open for the key key-a',
    );
    leave();
    expect(places.take({ address: '192.0.2.2', key: key('a') })).toBeInstanceOf(Function);
  });
});

describe('the checks of a key', () => {
  it('may reach its networks besides public ones, but what the operator denies', async () => {
    const plain = await bed.add('plain', '--scopes', 'check');
    const inside = await bed.add('inside', '--scopes', 'check', '--allow', '10.0.0.0/8,fd00::/8');
    const { ask } = await bed.startEdge();
    const status = async (key: string | undefined, body: object): Promise<number> =>
      (await ask('/check', post(body, key === undefined ? {} : bearer(key)))).status;
    const at = (host: string): object => ({ type: 'ping', host });
    const resolver = { type: 'dns', host: 'example.com', options: { resolver: '10.0.0.53' } };

    for (const body of [at('10.1.2.3'), at('fd00::1'), { type: 'http', host: 'http://10.1.2.3/' }, resolver]) {
      expect([body, await status(undefined, body), await status(plain, body), await status(inside, body)]).toEqual([
        body,
        403,
        403,
        202,
      ]);
    }
    for (const host of ['192.168.1.1', '10.9.1.1', '127.0.0.1', '169.254.169.254']) {
      expect([host, await status(inside, at(host))]).toEqual([host, 403]);
    }
  });

  it('have idempotency keys and a result budget that no other caller shares', async () => {
    const [a, b] = [await bed.add('a', '--scopes', 'check'), await bed.add('b', '--scopes', 'check')];
    const clients: (string | undefined)[] = [];
    const options = {
      idempotencyStore: createIdempotencyStore(bed.redis),
      checks: selectFor(async (_request, { client }) => {
        clients.push(client);
        return CHECK_ID;
      }),
    };
    const edges = [await bed.startEdge(options), await bed.startEdge(options)];
    const ask = async (n: number, headers: Readonly<Record<string, string>>): Promise<number> =>
      (await edges[n]!.ask('/check', post(ping, { ...headers, 'Idempotency-Key': 'the-same' }))).status;

    for (const headers of [{}, bearer(a), bearer(b)]) {
      expect([await ask(0, headers), await ask(1, headers)]).toEqual([202, 202]);
    }

    expect(clients).toHaveLength(3);
    expect(new Set(clients).size).toBe(3);
  });
});

describe('the secret of a key', () => {
  it('is in no check: a body that has a key is refused before anything is done with it', async () => {
    const edge = await bed.startEdge();
    const bodies = [
      ['/host', { type: 'ping', host: `${unknownKey}.example.com` }],
      ['/host', { type: 'http', host: `https://example.com/?key=${unknownKey.replace('_', '%5F')}` }],
      ['/options/data', { type: 'udp', host: 'example.com', port: 7, options: { data: unknownKey } }],
      ['/host', `{"type":"ping","host":"\\u0056TG${unknownKey.slice(3)}.example.com"}`],
    ] as const;

    for (const [path, body] of bodies) {
      const { status, json } = await edge.ask('/check', post(body));
      const message = 'has an API key, which belongs in the Authorization header';
      expect([status, json]).toMatchObject([400, { errors: [{ path, message }] }]);
    }
    expect(edge.created).toEqual([]);
  });

  const encode = (text: string): string => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');

  it('is in no log line and in no problem document, wherever a client puts it', async () => {
    const text = await bed.add('grafana', '--scopes', 'read', '--limit', '1000');
    const secret = text.slice('vtg_abcd1234_'.length);
    const edge = await bed.startEdge();
    const ask = async (path: string, init?: RequestInit): Promise<string> => {
      const answer = await fetch(`${edge.url}${path}`, init);
      return `${await answer.text()}${JSON.stringify([...answer.headers])}`;
    };
    const answers = await Promise.all([
      ...[text, unknownKey, `${text}x`].map((key) => ask('/probes', { headers: bearer(key) })),
      ...['/', '/check/', '/probes?key=', '/me?wait=', `/check/${CHECK_ID}/results?wait=`].flatMap((before) =>
        [text, encode(text), encode(text).replaceAll('%', '%25'), text.replace('_', '%5F'), text.toUpperCase()].map(
          (spelling) => ask(`${before}${spelling}`),
        ),
      ),
      ...[
        { [text]: 1 },
        { type: text },
        { type: 'ping', host: text },
        { ...ping, probes: [text] },

        { ...ping, options: { [text]: 1 } },
        { ...ping, locations: [text] },
        { type: 'http', host: `http://${text}/` },

        { type: 'http', host: `http://user:${text}@example.com/` },
        { type: 'ping', host: `${text}.invalid` },
      ].map((body) => ask('/check', post(body))),
      ask('/check', post(ping, { 'Idempotency-Key': text })),
      ask('/check', post(`{"${text}`)),
    ]);

    const everything = [...answers, JSON.stringify(edge.log)].join('\n');
    await until(() => edge.log.filter(({ msg }) => msg === 'answered').length >= answers.length);
    for (const one of [secret, secret.toUpperCase(), secret.toLowerCase(), encode(secret)]) {
      expect(everything.includes(one) || JSON.stringify(edge.log).includes(one)).toBe(false);
    }
    expect(edge.log.some(({ key, path }) => key === 'grafana' && path === '/probes')).toBe(true);
  });
});
