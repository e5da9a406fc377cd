import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { enrolmentToken } from '@vantage/contract';
import { afterAll, expect, it } from '@jest/globals';

import { enrol } from './enrol.ts';

const folder = mkdtempSync(join(tmpdir(), 'vantage-enrol-'));
const token = enrolmentToken('fra-1', 'x'.repeat(43));

afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: readonly string[]): Promise<{ readonly status: number; readonly text: string }> {
  let text = '';
  const stream = {
    write: (chunk: string) => {
      text += chunk;
      return true;
    },
  } as NodeJS.WritableStream;
  const environment = { VANTAGE_STATE_FOLDER: join(folder, 'state') };
  return { status: await enrol(args, environment, { output: stream, errors: stream }), text };
}

it.each([
  ['no address', [], 'URL: is required'],
  ['no token', ['https://vantage.example.com'], 'TOKEN: is required'],
  [
    'an address without a scheme',
    ['vantage.example.com', token],
    'URL: must be an http(s) address, not "vantage.example.com"',
  ],
  ['half a token', ['https://vantage.example.com', 'vt1_fra-1_secret'], 'TOKEN: is not a token of probe:invite'],
  ['more', ['https://vantage.example.com', token, 'now'], 'unexpected argument "now"'],
])('enrol names what is wrong with %s, and makes no key', async (_reason, args, fault) => {
  const { status, text } = await run(...args);

  expect(status).toBe(2);
  expect(text).toContain(fault);
  expect(text).not.toContain('secret');
  expect(existsSync(join(folder, 'state'))).toBe(false);
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
