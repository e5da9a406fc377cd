import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';

import { enrolmentToken } from '@vantage/contract';
import { afterAll, expect, it } from '@jest/globals';

import { enrol } from './enrol.ts';

const folder = mkdtempSync(join(tmpdir(), 'vantage-enrol-'));
const token = enrolmentToken('fra-1', 'x'.repeat(43));

afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly status: number;
  readonly text: string;
}

function run(...args: readonly string[]): Promise<Ran> {
  return runWith({}, ...args);
}

async function runWith(more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> {
  return runWithInput(Readable.from([]), more, args);
}

async function runWithInput(
  input: Readable,
  more: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Ran> {
  let text = '';
  const stream = {
    write: (chunk: string) => {
      text += chunk;
      return true;
    },
  } as NodeJS.WritableStream;
  const environment = { VANTAGE_STATE_FOLDER: join(folder, 'state'), ...more };
  return {
    status: await enrol(args, environment, { input, output: stream, errors: stream }),
    text,
  };
}

it.each([
  ['no address', [], 'URL: is required'],
  ['no token', ['https://vantage.example.com'], 'TOKEN: is required'],
  [
    'an address without a scheme',
    ['vantage.example.com', token],
    'URL: must be an http(s) address, not "vantage.example.com"',
  ],
  ['a login in the address', ['https://a:secret@vantage.example.com', token], 'URL: must have no user and no password'],
  ['a fragment', ['https://vantage.example.com/#a', token], 'URL: must have no query and no fragment'],
  ['half a token', ['https://vantage.example.com', 'vt1_fra-1_secret'], 'TOKEN: is not a token of probe:invite'],
  ['more', ['https://vantage.example.com', token, 'now'], 'unexpected argument "now"'],
])('enrol names what is wrong with %s, and makes no key', async (_reason, args, fault) => {
  const { status, text } = await run(...args);

  expect(status).toBe(2);
  expect(text).toContain(fault);
  expect(text).not.toContain('secret');
  expect(existsSync(join(folder, 'state'))).toBe(false);
});

it.each([
  [{ CONTACT: 'invalid' }, 'CONTACT must be a URL'],
  [{ REDIS_URL: 'redis://a:secret@127.0.0.1' }, 'VANTAGE_URL and REDIS_URL exclude each other'],
])('enrol uses no token up for an agent that would not start: %j', async (environment, fault) => {
  const { status, text } = await runWith(environment, 'https://vantage.example.com', token);

  expect(status).toBe(2);
  expect(text).toContain(fault);
  expect(existsSync(join(folder, 'state'))).toBe(false);
});

it.each([
  ['of another protocol', 'socks5://secret@proxy.example.net'],
  ['without one', 'proxy.example.net:3128'],
  ['with a login that is not encoded', 'http://user:secret%@proxy.example.net:3128'],
])('enrol refuses a proxy %s, and names the form without its password', async (_reason, proxy) => {
  const { status, text } = await runWith({ HTTPS_PROXY: proxy }, 'https://vantage.example.com', token);

  expect(status).toBe(2);
  expect(text).toContain('HTTPS_PROXY cannot be read; allowed: http(s)://host:port');
  expect(text).not.toContain('secret');
});

it('enrol reads the token from its input, where no other user of the machine sees it', async () => {
  const state = join(folder, 'by-input');
  const env = { VANTAGE_STATE_FOLDER: state };
  const refused = await runWithInput(Readable.from(['secret\n']), env, ['http://127.0.0.1:9', '-']);
  const none = await runWithInput(Readable.from([]), env, ['http://127.0.0.1:9', '-']);
  const before = existsSync(state);
  const pipe = new PassThrough();
  // The pipe stays open, as if its writer continued to run.
  pipe.write(`${token}\n`);
  const taken = await runWithInput(pipe, env, ['http://127.0.0.1:9', '-']);

  expect([refused.status, none.status, before]).toEqual([2, 2, false]);
  expect(refused.text).toContain('TOKEN: is not a token of probe:invite');
  expect(refused.text).not.toContain('secret');
  expect(pipe.destroyed).toBe(true);
  expect(taken).toMatchObject({ status: 1, text: expect.stringContaining('ECONNREFUSED') });
});

it.each([
  ['a folder that the system does not create', '/proc/nope', 'ENOENT'],
  ['a file', import.meta.filename, 'is not a folder'],
])('enrol says that %s cannot be the state folder, and makes no connection', async (_what, state, reason) => {
  const { status, text } = await runWith({ VANTAGE_STATE_FOLDER: state }, 'http://127.0.0.1:9', token);

  expect(status).toBe(1);
  expect(text).toContain(`the state folder ${state} (VANTAGE_STATE_FOLDER) cannot be used: `);
  expect(text).toContain(reason);
  expect(text.trim().split('\n')).toHaveLength(1);
});

it('enrol says why a service is not reached', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');

  const { status, text } = await run(`http://127.0.0.1:${port}`, token);

  expect(status).toBe(1);
  expect(text).toMatch(/^Not enrolled at http:.*ECONNREFUSED/);
});
