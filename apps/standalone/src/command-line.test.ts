import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { startTargets, type Targets } from '../test/targets.ts';

const pack = fileURLToPath(new URL('../../../infra/npm/main.ts', import.meta.url));
const admin = bundledProgram('coordinator', 'admin/main');

interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Builds the program that users install. */
function packProgram(folder: string): string {
  const words = ['--conditions=vantage-source', pack, folder, 'cli'];
  const tarball = execFileSync(process.execPath, words, { encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  return join(folder, 'package/vantage.js');
}

describe('vantage on the command line', () => {
  const data = temporaryFolder();
  let program: string;
  let targets: Targets;
  let service: Service;

  beforeAll(async () => {
    program = packProgram(data.folder);
    targets = await startTargets(data.folder);
    const flags = ['--probes', '2', '--allow', '127.0.0.0/8', '--allow', '::1/128'];
    service = await startService(`${data.folder}/data`, flags, {
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
      ...Object.fromEntries(
        ['CHECK', 'RESULTS', 'EVENTS', 'SUMMARY', 'PROBES'].map((of) => [`RATE_LIMIT_${of}`, '9999']),
      ),
      RATE_LIMIT_ME: '3',
    });
  });

  afterAll(async () => {
    await service?.stop();
    targets?.close();
    data.remove();
  });

  /** Runs the program; again if the service has accepted nothing, as when a busy machine holds Redis up for seconds. */
  async function vantage(...words: readonly string[]): Promise<Ran> {
    for (;;) {
      const ran = await run(program, words, { VANTAGE_URL: service.url });
      if (!ran.errors.includes('Nothing was accepted')) return ran;
    }
  }

  function run(file: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
    return start(file, words, env).ran;
  }

  function start(file: string, words: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, ['--conditions=vantage-source', file, ...words], {
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const ran = once(child, 'close').then(([status]: (number | null)[]): Ran => ({ status: status!, output, errors }));
    return { child, ran };
  }

  it('shows what each probe measured, and what it means', async () => {
    const { status, output } = await vantage('tcp', '127.0.0.1', String(targets.tcpPort), '--attempts', '1');

    expect(output).toMatch(
      /^demo-1 +Demo datacenter 1, QM +success +127\.0\.0\.1, open, [\d.]+ ms(?:, the probe stood still .*)?$/m,
    );
    expect(output).toMatch(/^demo-2 /m);
    expect(output).toMatch(/^up  /m);
    expect(output).toMatch(/^vantage show [\w-]{22}$/m);
    expect(status).toBe(0);
  });

  it.each<[string, () => readonly string[], RegExp]>([
    ['dns', () => ['www.example.com'], /NOERROR, 1 answer/],
    ['http', () => [`http://127.0.0.1:${targets.httpPort}/`, '--no-screenshot'], /200 OK, HTTP\/1\.1/],
    ['udp', () => ['127.0.0.1', String(targets.udpPort)], /open/],
    ['info', () => ['127.0.0.1'], /127\.0\.0\.1/],
  ])('runs a %s check', async (type, words, expected) => {
    const { status, output } = await vantage(type, ...words());

    expect(output).toMatch(expected);
    expect(status).toBe(0);
  });

  it('gives the whole answer as JSON', async () => {
    const { status, output } = await vantage(
      'tcp',
      '127.0.0.1',
      String(targets.tcpPort),
      '--json',
      '--probes',
      'demo-2',
    );

    expect(JSON.parse(output)).toMatchObject({ status: 'completed', results: { 'demo-2': { result: 'success' } } });
    expect(status).toBe(0);
  });

  it('shows a check again', async () => {
    const first = await vantage('dns', 'missing.example.com', '--json');
    const { testId } = JSON.parse(first.output) as Check;

    const again = await vantage('show', testId);

    expect(first.status).toBe(1);
    expect(again.status).toBe(1);
    expect(again.output).toContain('NXDOMAIN');
  });

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'options and flags',
      ['ping', '127.0.0.1', '--count', '99', '--limit', '0'],
      ['--limit: must be >= 1', '--count: must be <= 16'],
    ],
    ['a field by its place', ['tcp', '127.0.0.1', '0'], ['--port: must be >= 1']],
    ['an entry of a list', ['ping', '127.0.0.1', '--probes', 'demo-1,nope'], ['--probes: there is no probe "nope"']],
    ['a name', ['ping', 'nowhere'], ['HOST: The host has no dot: a fully qualified name is needed.']],
    [
      'a record type',
      ['dns', 'a.example.com', 'XX'],
      ['--record-type: There is no such record type. Use a name such as A, AAAA or MX, or TYPE<number>.'],
    ],
  ])('says which word the service refuses, and why: %s', async (_reason, words, lines) => {
    const { status, errors } = await vantage(...words);

    expect(errors.trimEnd().split('\n')).toEqual(lines);
    expect(status).toBe(2);
  });

  it('says that the target is refused', async () => {
    const { status, errors } = await vantage('ping', '10.0.0.1');

    expect(errors).toContain('10.0.0.0/8');
    expect(status).toBe(2);
  });

  it('lists the probes, and shows the caller', async () => {
    expect((await vantage('probes')).output).toMatch(/^demo-1 +(healthy|degraded) /m);
    expect((await vantage('me')).output).toMatch(/^ip +127\.0\.0\.1$/m);
  });

  it('starts a service with which doctor finds no fault', async () => {
    const { output } = await run(admin, ['doctor', '--data', `${data.folder}/data`, '--json'], { VANTAGE_URL: '' });

    const { findings } = JSON.parse(output) as { findings: { check: string; status: string }[] };
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['redis.memory', 'redis.output-buffers', 'probes', 'service.gateway']),
    );
    // The age of the geo data and the room on the disk depend on this machine, not on the service.
    expect(findings.filter(({ check, status }) => status !== 'ok' && !/^(geo|disk)$/.test(check))).toEqual([]);
  });

  const open = (): string => String(targets.tcpPort);
  const idOf = async (...words: readonly string[]): Promise<string> =>
    (JSON.parse((await vantage(...words, '--json')).output) as Check).testId;

  it.each<[string, number, () => readonly string[] | Promise<readonly string[]>]>([
    ['success over both families', 0, () => ['ping', 'both.example.com', '--family', 'both', '--count', '1']],
    ['a failure as CSV', 1, () => ['tcp', '127.0.0.1', '1', '--csv']],
    ['silence', 1, () => ['udp', '127.0.0.1', String(targets.silentPort), '--attempts', '1']],
    ['a name that does not exist', 1, () => ['tcp', 'missing.example.com', '443']],
    [
      'a failure over one of both families, as JSON',
      1,
      () => ['tcp', 'both.example.com', open(), '--family', 'both', '--json'],
    ],
    ['an unknown flag', 2, () => ['tcp', '127.0.0.1', '443', '--prots', '1']],
    ['an unknown check', 2, () => ['show', 'AAAAAAAAAAAAAAAAAAAAAA']],
    ['another service', 3, () => ['probes', '--server', `http://127.0.0.1:${targets.httpPort}`]],
    ['no probe there', 4, () => ['tcp', '127.0.0.1', '443', '--from', 'atlantis']],
    ['a resolver that refuses, as JSON', 4, () => ['tcp', 'refused.example.com', '443', '--json']],
  ])('ends with its status after %s: %i', async (_reason, expected, words) => {
    expect(await vantage(...(await words()))).toMatchObject({ status: expected });
  });

  it('ends with its status after a comparison: 0 without a difference, otherwise 1', async () => {
    const [opened, same, closed] = await Promise.all(
      [open(), open(), '1'].map((port) => idOf('tcp', '127.0.0.1', port)),
    );

    expect(await vantage('compare', opened!, same!)).toMatchObject({ status: 0 });
    expect(await vantage('compare', opened!, closed!)).toMatchObject({ status: 1 });
  });

  it('ends with status 3 if it is to wait, and says how long', async () => {
    let last = await vantage('me');
    for (let calls = 0; calls < 3 && last.status === 0; calls += 1) last = await vantage('me');

    expect(last.errors).toMatch(/Try again in \d+ seconds?\.$/m);
    expect(last.status).toBe(3);
  });

  it('ends with status 4 if no agent answers, and with 130 after Ctrl-C', async () => {
    const agents = Object.entries(service.running().processes).filter(([name]) => name !== 'coordinator');
    for (const [, pid] of agents) process.kill(pid, 'SIGSTOP');
    try {
      const unanswered = vantage('tcp', '127.0.0.1', open(), '--attempts', '1');
      let interrupted: Ran;
      do {
        const { child, ran } = start(program, ['tcp', '127.0.0.1', open()], { VANTAGE_URL: service.url });
        await sleep(3_000);
        child.kill('SIGINT');
        interrupted = await ran;
        // On a busy machine the signal may end the program before it listens for signals.
      } while (interrupted.status === null);

      expect(interrupted).toMatchObject({ status: 130 });
      expect(await unanswered).toMatchObject({ status: 4, output: expect.stringContaining('probe_timeout') });
    } finally {
      for (const [, pid] of agents) process.kill(pid, 'SIGCONT');
    }
  });

  it('says which address it cannot reach', async () => {
    const { status, errors } = await vantage('me', '--server', 'http://127.0.0.1:1');

    expect(errors).toContain('http://127.0.0.1:1 is unreachable');
    expect(status).toBe(3);
  });
});
