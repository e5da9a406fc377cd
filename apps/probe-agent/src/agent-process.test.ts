import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { enrolmentToken, redisKeys } from '@vantage/contract';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { eventually, startRig, type Rig } from '../test/rig.ts';

let rig: Rig;
let children: ChildProcess[] = [];

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.stop());

afterEach(async () => {
  await Promise.all(children.map(end));
  children = [];
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function start(
  file: URL | string,
  arguments_: readonly string[],
  env: Readonly<Record<string, string>> = {},
  output: 'pipe' | number = 'pipe',
): ChildProcess {
  const child = fork(file, arguments_, {
    execArgv: ['--conditions=vantage-source', '--no-warnings'],
    env: programEnv(env),
    stdio: ['ignore', output, output, 'ipc'],
  });
  children.push(child);
  return child;
}

/** Starts an agent whose runs last as many milliseconds as their port number. */
async function startFake(probe: string): Promise<ChildProcess> {
  const child = start(new URL('../test/agent-process.ts', import.meta.url), [probe, rig.server().url]);
  await once(child, 'message');
  return child;
}

/** Starts the real program. */
function startMain(
  probe: string,
  env: Readonly<Record<string, string>> = {},
  output: 'pipe' | number = 'pipe',
): ChildProcess {
  const settings = {
    PROBE_ID: probe,
    REDIS_URL: rig.server().url,
    TARGET_ALLOW: '127.0.0.0/8',
    DNS_SERVERS: '127.0.0.1:9',
    SCREENSHOTS: 'off',
  };
  return start(bundledProgram('probe-agent'), [], { ...settings, ...env }, output);
}

/** The write end of a full pipe that no process reads. */
function fullPipe(): { readonly output: number; readonly close: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-pipe-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const output = openSync(pipe, constants.O_WRONLY);
  for (const bytes of [4_096, 1]) fill(reader, Buffer.alloc(bytes, 'x'));
  const close = (): void => {
    for (const descriptor of [reader, output]) closeSync(descriptor);
    rmSync(folder, { recursive: true });
  };
  return { output, close };
}

function fill(pipe: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(pipe, bytes);
  } catch (error) {
    expect(error).toMatchObject({ code: 'EAGAIN' });
  }
}

async function untilBeating(probe: string): Promise<void> {
  await eventually(async () => ((await rig.heartbeat(probe)) === undefined ? undefined : true));
}

/** Adds a job that runs for this time in the fake agent. */
function addLasting(probe: string, ms: number): Promise<string> {
  return rig.addJob(probe, { params: { host: '127.0.0.1', port: ms, options: { attempts: 1 } } });
}

async function untilActive(probe: string): Promise<void> {
  const active = `${redisKeys.queuePrefix(probe)}:jobs:active`;
  await eventually(async () => ((await rig.admin.llen(active)) > 0 ? true : undefined));
}

describe('the program', () => {
  it('measures with its real runtime, drains and ends with 0 on SIGTERM', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const child = startMain('main');
    await untilBeating('main');

    const check = await rig.addJob('main', { params: { host: '127.0.0.1', port, options: { attempts: 1 } } });
    const final = await rig.final('main', check);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');

    expect(await exited).toEqual([0, null]);
    server.close();
    expect(final).toMatchObject({ result: 'success', state: 'open', resolvedIp: '127.0.0.1' });
    expect(await rig.heartbeat('main')).toBeUndefined();
  });

  it('measures, and ends, while its log is not read', async () => {
    const pipe = fullPipe();
    const child = startMain('unread', { LOG_LEVEL: 'trace' }, pipe.output);
    await untilBeating('unread');

    const check = await rig.addJob('unread', { params: { host: '127.0.0.1', port: 1, options: { attempts: 1 } } });
    const final = await rig.final('unread', check);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');

    expect(await exited).toEqual([0, null]);
    expect(final).toMatchObject({ result: 'failure', state: 'closed' });
    pipe.close();
  });

  it('refuses its own Redis as a target, though loopback is allowed', async () => {
    startMain('own-redis');
    await untilBeating('own-redis');
    const { port } = rig.server();

    const check = await rig.addJob('own-redis', { params: { host: '127.0.0.1', port, options: { attempts: 1 } } });

    expect(await rig.final('own-redis', check)).toMatchObject({
      result: 'error',
      error: { code: 'target_refused_by_policy' },
    });
  });

  it('logs a variable whose name is close to a setting, without its value', async () => {
    // No name has such a label: without metrics the start ends.
    const ends = { METRICS_PORT: '0', METRICS_HOST: 'x'.repeat(64) };
    const child = startMain('mistyped', { ...ends, TARGET_DENNY: 'hidden', HTTP_PROXY: 'http://127.0.0.1:9' });
    const [line = '', ...more] = (await text(child.stdout!)).trim().split('\n');

    expect(JSON.parse(line)).toMatchObject({
      msg: 'unknown variable',
      variable: 'TARGET_DENNY',
      setting: 'TARGET_DENY',
    });
    expect([line, ...more].join('\n')).not.toContain('hidden');
    expect(more).toHaveLength(1);
  });

  it('lists every fault of its configuration and ends with 1', async () => {
    const child = startMain('Fra_1', { CONCURRENCY: '0', TARGET_ALLOW: '10.0.0.1/8' });
    const errors: string[] = [];
    child.stderr!.on('data', (chunk: Buffer) => errors.push(chunk.toString()));

    const [code] = await once(child, 'close');

    expect(code).toBe(1);
    expect(errors.join('')).toMatch(/PROBE_ID .*\n.*CONCURRENCY .*\n.*TARGET_ALLOW /);
  });

  it('names a mistyped variable if it ends without a setting', async () => {
    const child = startMain('', { REDIS_URL: '', VANTAGE_ULR: 'http://hidden' });
    const [errors] = await Promise.all([text(child.stderr!), once(child, 'close')]);

    expect(errors).toMatch(
      / VANTAGE_URL is required, .*\n {2}VANTAGE_ULR is no setting; VANTAGE_URL was probably meant\n$/,
    );
    expect(errors).not.toContain('hidden');
  });

  it('drains and ends with the npm that started it, as an invitation says', async () => {
    const state = mkdtempSync(join(tmpdir(), 'vantage-npm-'));
    const npm = spawn('npm', ['run', '-s', 'agent'], {
      cwd: new URL('../../../', import.meta.url),
      env: programEnv({
        VANTAGE_URL: 'http://127.0.0.1:1',
        VANTAGE_TOKEN: enrolmentToken('fra-1', 'x'.repeat(43)),
        VANTAGE_STATE_FOLDER: state,
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(npm);
    let said = '';
    npm.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await eventually(async () => said.includes('no connection to the gateway') || undefined);
    // The pipe ends with the last process that holds it.
    const closed = once(npm, 'close');

    npm.kill('SIGTERM');
    await closed;

    expect(said).toContain('agent draining');
    rmSync(state, { recursive: true });
  });

  it('ends when the process that started it is gone', async () => {
    const child = startMain('orphan');
    await untilBeating('orphan');
    const exited = once(child, 'exit');

    child.disconnect();

    expect(await exited).toEqual([0, null]);
  });
});

describe('an agent that was killed in the middle of a job', () => {
  it('reports the job as interrupted as soon as it is back, and runs it no second time', async () => {
    const first = await startFake('killed');
    const check = await addLasting('killed', 9_000);
    await untilActive('killed');
    await end(first);

    await startFake('killed');
    const final = await rig.final('killed', check);

    expect(final).toMatchObject({ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } });
    await eventually(async () => ((await rig.leftovers('killed')).length === 0 ? true : undefined));
    expect(await rig.results('killed')).toHaveLength(1);
  });
});
