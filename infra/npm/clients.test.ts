import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';

import { startService, temporaryFolder, type Service } from '../../apps/standalone/test/service.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const lines = (text: string): readonly string[] => text.trim().split('\n');

/** The examples of the client's README, and statements that only the correct types accept. */
const readme = readFileSync(join(root, 'packages/client/README.md'), 'utf8');
const [example, correction] = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!) as [string, string];
const typed = `
import { createClient, type CheckEvent, type CheckOf } from '@vantage/client';
import type { CheckRequestOf, MonitorEvent, TcpResult } from '@vantage/types';
export const request: CheckRequestOf<'tcp'> = { type: 'tcp', host: 'a.example', port: 443, options: { attempts: 1 } };
// @ts-expect-error -- a port is required
export const noPort: CheckRequestOf<'tcp'> = { type: 'tcp', host: 'a.example' };
// @ts-expect-error -- an option of another type
export const others: CheckRequestOf<'tcp'> = { ...request, options: { count: 1 } };
export function read(event: CheckEvent<'http'>, check: CheckOf<'tcp'>): readonly unknown[] {
  if (event.type === 'completed') return [event.check.results['a']?.screenshotUrl];
  // @ts-expect-error -- events have screenshotUrl
  const inline: unknown = event.result.screenshot;
  const state: TcpResult['state'] = check.results['a']?.state;
  return [inline, event.result.timings?.total, state];
}
export const kinds: Record<MonitorEvent['kind'], string> = { state: '', probe: '', parting: '', path: '' };
export const text: Promise<string> = createClient({ baseUrl: '' }).check(request).then(({ status }) => status);
`;
const nativeCompiler = join(root, 'node_modules/typescript/bin/tsc');
// The declarations of the packages are checked; those of TypeScript itself are not, which saves time.
const own = ['--strict', '--skipDefaultLibCheck'];
const lib = [...own, '--target', 'es2022', '--lib', 'es2022,dom'];
const options = [...lib, '--module', 'nodenext'];
/** Words of TypeScript 5 for each kind of module. The declarations are checked too. */
const kinds = {
  "Node's own": ['--module', 'nodenext', '--outDir', 'out', 'example.ts', 'typed.ts'],
  'CommonJS of Node': ['--module', 'node16', '--noEmit', 'typed-node16.cts'],
  'a bundler': ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit', 'typed-bundler.ts'],
  'the oldest resolution': ['--module', 'commonjs', '--moduleResolution', 'node10', '--noEmit', 'typed-node10.ts'],
};

const httpx = ['python3-httpx', 'python3-minimal'];
const itWithPython = itNeeding(await packagesMissing(httpx), process.env['CI']);

describe('the clients, outside of the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-clients-'));
  const installed = join(folder, 'node_modules');
  const data = temporaryFolder();
  let service: Service;

  beforeAll(async () => {
    const starting = startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8']);
    const pack = ['--conditions=vantage-source', join(root, 'infra/npm/main.ts'), folder, 'types', 'client'];
    const tarballs = lines((await run(process.execPath, pack, { cwd: root })).stdout);
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const install = ['install', '--offline', '--no-audit', '--no-fund', ...tarballs];
    await run('npm', install, { cwd: folder });
    service = await starting;
    writeFileSync(join(folder, 'example.ts'), example.replaceAll('8080', new URL(service.url).port));
    writeFileSync(join(folder, 'typed.ts'), typed);
    writeFileSync(join(folder, 'correction.ts'), correction);
  });
  afterAll(async () => {
    await service?.stop();
    data.remove();
    rmSync(folder, { recursive: true });
  });

  /** Errors of TypeScript 7, which compiles the examples once for all tests: most of its work is the same for each. */
  let nativeErrors: Promise<string> | undefined;
  function compile(): Promise<string> {
    const files = ['example.ts', 'typed.ts', 'correction.ts'];
    const words = [nativeCompiler, ...options, '--checkers', '1', '--outDir', 'out7', ...files];
    const compiling = run(process.execPath, words, { cwd: folder, env: { ...process.env, GOGC: '400' } });
    return compiling.then(
      () => '',
      (error: Error & { readonly stdout?: string }) => error.stdout || error.message,
    );
  }

  /** Live lines are there only if the check ran longer than it took to connect. */
  function expectAnswers(stdout: string): void {
    const answers = lines(stdout).filter((line) => !line.startsWith('live: '));
    expect(answers).toHaveLength(4);
    for (const probe of ['demo-1', 'demo-2', 'demo-3']) {
      expect(answers).toContainEqual(expect.stringMatching(new RegExp(`^${probe} success [\\d.]+$`)));
    }
    expect(answers.at(-1)).toMatch(/^up Port \d+ of 127\.0\.0\.1 is open/);
  }

  it('are two npm packages without scripts and native parts', () => {
    const manifests = ['client', 'types'].map(
      (name) => JSON.parse(readFileSync(join(installed, '@vantage', name, 'package.json'), 'utf8')) as object,
    );

    expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual(['@vantage']);
    expect(readdirSync(join(installed, '@vantage'))).toEqual(['client', 'types']);
    for (const manifest of manifests) expect(manifest).not.toHaveProperty('scripts');
    expect(readdirSync(join(installed, '@vantage/types')).filter((name) => /\.(js|ts)$/.test(name))).toEqual([
      'index.d.ts',
    ]);
    expect(readFileSync(join(installed, '@vantage/client/index.mjs'), 'utf8')).not.toMatch(/^import /m);
    // Links into the repository lead nowhere here.
    const installedReadme = readFileSync(join(installed, '@vantage/client/README.md'), 'utf8');
    expect(installedReadme).toContain(example);
    expect(installedReadme).not.toMatch(/\]\((?!https?:|#)/);
  });

  it('compile with TypeScript 5 for every kind of modules', async () => {
    for (const name of Object.values(kinds).map((words) => words.at(-1)!)) writeFileSync(join(folder, name), typed);
    const compilations = Object.values(kinds).map((words) => [...lib, ...words]);
    const compiler = join(import.meta.dirname, 'compile-process.mjs');
    const { stdout } = await run(process.execPath, [compiler, folder, JSON.stringify(compilations)]);

    const errors = JSON.parse(stdout) as readonly string[];
    expect(Object.keys(kinds).map((kind, index) => [kind, errors[index]])).toEqual(
      Object.keys(kinds).map((kind) => [kind, '']),
    );
    expectAnswers((await run(process.execPath, [join(folder, 'out/example.js')])).stdout);
  });

  it('compile with TypeScript 7, and follow a check', async () => {
    expect(await (nativeErrors ??= compile())).toBe('');

    expectAnswers((await run(process.execPath, [join(folder, 'out7/example.js')])).stdout);
  });

  it('correct a mistyped target as the README shows', async () => {
    expect(await (nativeErrors ??= compile())).toBe('');

    const { stdout } = await run(process.execPath, [join(folder, 'out7/correction.js')]);

    expect(lines(stdout)).toEqual([...correction.matchAll(/ \/\/ (.*)$/gm)].map(([, printed]) => printed));
  });

  it('are there for require too', async () => {
    writeFileSync(
      join(folder, 'required.cjs'),
      `const { createClient } = require('@vantage/client');
      createClient({ baseUrl: '${service.url}' }).check({ type: 'tcp', host: '127.0.0.1', port: ${new URL(service.url).port} })
        .then(({ results }) => console.log(Object.values(results).map(({ result }) => result).join()));`,
    );
    const withoutModules = ['--no-experimental-require-module', join(folder, 'required.cjs')];

    expect((await run(process.execPath, withoutModules)).stdout).toBe('success,success,success\n');
  });

  itWithPython('follow a check from Python with httpx alone', async () => {
    const python = await unpackPackages(...httpx);
    const { port } = new URL(service.url);
    // Packages that the machine has are not unpacked, and another Python than Debian's may be first in PATH.
    const modules = [python.folder, '/'].map((at) => join(at, 'usr/lib/python3/dist-packages')).join(':');
    const check = (...words: readonly string[]): Promise<{ readonly stdout: string }> =>
      run('python3', [join(root, 'examples/check.py'), ...words], {
        env: { ...python.environment, PYTHONPATH: modules },
      });

    const { stdout } = await check(service.url, '127.0.0.1', port);
    expectAnswers(stdout);
    await expect(check(service.url, '192.168.1.1', '443')).rejects.toThrow(/403: .*192\.168\.1\.1/);
    for (const words of [[], [service.url, '127.0.0.1'], [service.url, '127.0.0.1', 'https']]) {
      // The usage comes first: a traceback of Python would precede it.
      await expect(check(...words)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^Usage: python3 check\.py URL HOST PORT\n/),
      });
    }
  });
});
