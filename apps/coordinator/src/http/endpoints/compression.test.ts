import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, promises, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startHttpBed, tcpCheck, type HttpBed } from '../../../test/http-bed.ts';
import { CHECK_ID } from '../../../test/http-fakes.ts';

let bed: HttpBed;
const probe = {
  name: 'x',
  datacenter: 'x',
  countryCode: 'DE',
  isp: 'x',
  asNumber: 'AS64496',
  city: null,
  latitude: null,
  longitude: null,
  tags: [],
  status: 'offline' as const,
  reason: null,
  version: null,
  capabilities: null,
  lastSeen: null,
  load: null,
};

beforeAll(async () => {
  const probes = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, probe]));
  const agent = { transport: 'gateway' as const, version: '1.2.3', state: 'connected' as const, reason: null };
  const agents = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, agent]));
  bed = await startHttpBed({
    probes: { list: async () => probes, agents: async () => agents, metricsAddresses: async () => new Map() },
  });
  const check = tcpCheck('completed');
  const [result] = Object.values(check.results);
  const results = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, result!]));
  bed.stored.set(CHECK_ID, { ...check, results });
});
afterAll(() => bed.close());

interface Raw {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Returns the raw body: `fetch` would decompress it. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Raw> {
  const [answer] = (await once(get(`${bed.url}${path}`, { headers, method }), 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const paths = ['/openapi.json', '/docs', '/probes', '/probes/agents', `/check/${CHECK_ID}/results`];

describe.each(paths)('the answer of %s', (path) => {
  it.each([
    ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
    ['gzip', 'gzip, deflate', gunzipSync],
    ['gzip', 'br;q=0, gzip;q=0.2', gunzipSync],
    ['br', '*', brotliDecompressSync],
  ])('is sent as %s to a caller who takes %s', async (encoding, accepted, unpack) => {
    const plain = await ask(path);
    const { status, headers, body } = await ask(path, { 'Accept-Encoding': accepted });

    expect(status).toBe(200);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['vary']).toBe('Accept-Encoding');
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(Number(headers['content-length'])).toBe(body.length);
    expect(body.length).toBeLessThan(plain.body.length / 2);
    expect(unpack(body).equals(plain.body)).toBe(true);
  });

  it.each([[undefined], ['identity'], ['deflate, zstd'], ['br;q=0, gzip;q=0.0'], ['*;q=0']])(
    'is sent as it is to a caller who takes %s',
    async (accepted) => {
      const { headers, body } = await ask(path, accepted === undefined ? {} : { 'Accept-Encoding': accepted });

      expect(headers['content-encoding']).toBeUndefined();
      expect(headers['vary']).toBe('Accept-Encoding');
      expect(['{', '<']).toContain(body.toString('latin1', 0, 1));
    },
  );

  it('has a tag for each encoding, and is not sent again to a caller who has that one', async () => {
    const accepted = ['identity', 'gzip', 'br'];
    const first = await Promise.all(accepted.map((encoding) => ask(path, { 'Accept-Encoding': encoding })));
    const tags = first.map(({ headers }) => headers.etag!);
    const again = (encoding: string, tag: string): Promise<Raw> =>
      ask(path, { 'Accept-Encoding': encoding, 'If-None-Match': tag });

    expect(new Set(tags).size).toBe(3);
    for (const [index, encoding] of accepted.entries()) {
      const { status, headers, body } = await again(encoding, tags[index]!);
      expect({ status, length: body.length, vary: headers['vary'] }).toEqual({
        status: 304,
        length: 0,
        vary: 'Accept-Encoding',
      });
      expect((await again(encoding, tags[(index + 1) % 3]!)).status).toBe(200);
    }
  });

  it('has the same headers for HEAD', async () => {
    const [head, whole] = await Promise.all(
      ['HEAD', 'GET'].map((method) => ask(path, { 'Accept-Encoding': 'br' }, method)),
    );

    expect(head!.body).toHaveLength(0);
    for (const name of ['content-length', 'content-encoding', 'etag', 'vary']) {
      expect([name, head!.headers[name]]).toEqual([name, whole!.headers[name]]);
    }
  });
});

describe('what is not compressed', () => {
  it.each([
    ['an answer that fits a packet', '/me'],
    ['a problem', '/nothing'],
  ])('%s', async (_what, path) => {
    const { headers } = await ask(path, { 'Accept-Encoding': 'br, gzip' });

    expect(headers['content-encoding']).toBeUndefined();
  });
});

describe('a caller who is gone before the answer is compressed', () => {
  it('is no fault', async () => {
    const request = get(`${bed.url}/openapi.json`, { headers: { 'Accept-Encoding': 'br' } });
    request.on('error', () => undefined);
    request.on('socket', (socket) => socket.once('connect', () => setImmediate(() => request.destroy())));
    await once(request, 'close');

    expect((await ask('/openapi.json', { 'Accept-Encoding': 'br' })).status).toBe(200);
    expect(bed.log.filter(({ level }) => (level as number) >= 50)).toEqual([]);
  });
});

describe('a page', () => {
  it('is no failure of the store when its compression takes longer than the store may', async () => {
    const fresh = await startHttpBed({});
    const folder = mkdtempSync(join(tmpdir(), 'vantage-pool-'));
    const pipes = Array.from({ length: 8 }, (_, index) => join(folder, String(index)));
    execFileSync('/usr/bin/mkfifo', pipes);
    try {
      // Opening a pipe for reading blocks a thread of libuv's pool until a writer opens it.
      const reads = pipes.map((pipe) => promises.open(pipe, 'r'));
      const [answer] = await Promise.all([
        fetch(`${fresh.url}/docs`, { headers: { 'Accept-Encoding': 'br' } }),
        sleep(3_000).then(async () => {
          for (const pipe of pipes) await opened(pipe);
        }),
      ]);

      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('<html');
      for (const read of reads) await (await read).close();
    } finally {
      await fresh.close();
      rmSync(folder, { recursive: true });
    }
  });

  /** Opens a pipe for writing as soon as it has a reader: the pool has fewer threads than there are pipes. */
  async function opened(pipe: string): Promise<void> {
    for (;;) {
      try {
        closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
        return;
      } catch {
        await sleep(10);
      }
    }
  }
});
