import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { startCoreBed, until, type CoreBed } from '../test/core-bed.ts';

let bed: CoreBed;
let holder: Server;

beforeAll(async () => {
  bed = await startCoreBed();
  holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
});

afterAll(async () => {
  holder.close();
  await bed.stop();
});

describe('a coordinator whose port is taken', () => {
  it.each([
    ['PORT', 'HOST, PORT'],
    ['METRICS_PORT', 'METRICS_HOST, METRICS_PORT'],
  ])('ends and names the setting: %s', async (setting, named) => {
    const { port } = holder.address() as AddressInfo;
    const env = { HOST: '127.0.0.1', PORT: '0', METRICS_HOST: '127.0.0.1', REDIS_URL: bed.server.url };
    const child = spawn(process.execPath, [bundledProgram('coordinator')], {
      env: programEnv({ ...env, [setting]: String(port) }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

    expect(said).toBe(`${named}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`);
    expect(status).toBe(1);
  });
});

describe('a coordinator that cannot use a host or a file', () => {
  // Longer than a label of a name may be: no resolver is asked.
  const noHost = 'x'.repeat(64);

  it.each([
    ['HOST', noHost, 'HOST, PORT: getaddrinfo '],
    ['METRICS_HOST', noHost, 'METRICS_HOST, METRICS_PORT: getaddrinfo '],
    ['MODULES_FILE', '/nonexistent', 'MODULES_FILE: /nonexistent: ENOENT: '],
    ['MODULES_FILE', '/proc', 'MODULES_FILE: /proc: EISDIR: '],
  ])('ends and names the setting: %s=%s', async (setting, value, beginning) => {
    const child = spawn(process.execPath, [bundledProgram('coordinator')], {
      env: programEnv({ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', REDIS_URL: bed.server.url, [setting]: value }),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

    expect(said.slice(0, beginning.length)).toBe(beginning);
    expect(status).toBe(1);
  });
});

it('logs variables whose names are close to a setting that is not set, without their values', async () => {
  // The missing file ends the start.
  const env = { REDIS_URL: bed.server.url, MODULES_FILE: '/nonexistent', RATE_LIMT_CHECK: 'hidden', HTTP_PROXY: 'x' };
  const child = spawn(process.execPath, [bundledProgram('coordinator')], {
    env: programEnv({ ...env, MODULE_FILE: 'x', PORTS: '1' }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = (await text(child.stdout)).trim().split('\n');

  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ variable: 'RATE_LIMT_CHECK', setting: 'RATE_LIMIT_CHECK', msg: 'unknown variable' }),
  ]);
  expect(lines.join('')).not.toContain('hidden');
});

it('ends without a setting that is required, and says that its name was mistyped', async () => {
  const child = spawn(process.execPath, [bundledProgram('coordinator')], {
    env: programEnv({ REDIS_ULR: 'redis://hidden' }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

  expect(errors).toMatch(/ REDIS_URL is required: .*\n {2}REDIS_ULR is no setting; REDIS_URL was probably meant\n$/);
  expect(errors).not.toContain('hidden');
  expect(status).toBe(1);
});

describe('a coordinator that listens', () => {
  const start = (...flags: string[]): ChildProcess =>
    spawn(process.execPath, [...flags, bundledProgram('coordinator')], {
      env: programEnv({ HOST: '127.0.0.1', PORT: '0', REDIS_URL: bed.server.url }),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });

  it('stops in order by a signal that comes as soon as it is ready', async () => {
    // The signal arrives before `process.send` returns.
    const preload = `process.send = () => void process.kill(process.pid, 'SIGTERM');`;
    const child = start('--import', `data:text/javascript,${encodeURIComponent(preload)}`);

    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('can return freed memory to the system', async () => {
    const child = start();
    try {
      await once(child, 'message');

      // The coordinator calls malloc_trim through this library.
      await until(() => readFileSync(`/proc/${child.pid}/maps`, 'latin1').includes('/koffi.node'));
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });
});
