import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

import { claimAnotherNode } from '@vantage/test-support/programs/native-module';

const repository = join(import.meta.dirname, '../..');
const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

/** A checkout with the set-up and raw-socket alone, in a path with a space. */
function checkout(): { readonly root: string; readonly binary: string } {
  const root = join(mkdtempSync(join(tmpdir(), 'vantage set-up ')), 'my checkout');
  roots.push(dirname(root));
  const diagnostics = join(root, 'node_modules/@vantage/diagnostics');
  const modules = join(diagnostics, 'node_modules');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(diagnostics, 'package.json'), '{}');
  cpSync(import.meta.dirname, join(root, 'infra/setup'), { recursive: true });
  const source = realpathSync(join(repository, 'packages/diagnostics/node_modules/raw-socket'));
  for (const name of ['raw-socket', 'nan']) {
    cpSync(realpathSync(join(dirname(source), name)), join(modules, name), { recursive: true });
  }
  const node = `node_modules/node-${process.platform}-${process.arch}`;
  symlinkSync(realpathSync(join(repository, node)), join(root, node));
  return { root, binary: join(modules, 'raw-socket/build/Release/raw.node') };
}

interface Run {
  readonly status: number | null;
  readonly stderr: string;
}

/** Compiles if necessary, like the set-up. */
function compile(root: string, environment: Readonly<Record<string, string>> = {}): Run {
  return spawnSync(process.execPath, [join(root, 'infra/setup/native-module.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
}

function isLoaded(binary: string): boolean {
  const program = 'process.dlopen({ exports: {} }, process.argv[1])';
  return spawnSync(process.execPath, ['-e', program, binary]).status === 0;
}

describe('the raw socket module, as the set-up makes it', () => {
  it('is left alone if the Node that runs the agent loads it', () => {
    const { root, binary } = checkout();
    const before = readFileSync(binary);
    const { status, stderr } = compile(root, { CXX: '/nonexistent' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readFileSync(binary).equals(before)).toBe(true);
  });

  it('is compiled when it is damaged, in a path with a space', () => {
    const { root, binary } = checkout();
    truncateSync(binary, 20_000);
    const damaged = isLoaded(binary);
    const { status, stderr } = compile(root);

    expect(damaged).toBe(false);
    expect(stderr).toMatch(/^· Compiling the raw socket module … [\d.]+ s\n$/);
    expect(status).toBe(0);
    expect(isLoaded(binary)).toBe(true);
  });

  it.each([
    ['it is not there', (binary: string) => rmSync(dirname(dirname(binary)), { recursive: true })],
    ['another version of Node.js compiled it', claimAnotherNode],
    ['it is damaged', (binary: string) => truncateSync(binary, 20_000)],
  ])('needs a compiler when %s, and says that there is none', (_reason, damage) => {
    const { root, binary } = checkout();
    damage(binary);
    const damaged = isLoaded(binary);
    const { status, stderr } = compile(root, { CXX: '/nonexistent/g++' });

    expect(damaged).toBe(false);
    expect(status).toBe(1);
    expect(stderr).toContain('the C++ compiler cannot be started: spawn /nonexistent/g++ ENOENT');
  });

  it('fails with the first error of the compiler', () => {
    const { root, binary } = checkout();
    truncateSync(binary, 20_000);
    rmSync(join(binary, '../../../src/raw.h'));
    const { status, stderr } = compile(root);

    expect(status).toBe(1);
    expect(stderr).toMatch(/raw\.cc:\d+:\d+: fatal error: raw\.h: No such file or directory/);
  });
});

describe('pnpm', () => {
  const settings = parse(readFileSync(join(repository, 'pnpm-workspace.yaml'), 'utf8')) as Readonly<
    Record<string, unknown>
  >;

  it('neither builds the module nor brings in what another checkout built', () => {
    expect(settings).toMatchObject({
      allowBuilds: { 'raw-socket': false },
      sideEffectsCache: false,
      verifyDepsBeforeRun: false,
    });
  });
});
