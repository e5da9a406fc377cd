import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

const repository = join(import.meta.dirname, '../..');
const NAME = 'madeup';
/** Projects of TypeScript with all that they reference, the tests of the repository among them. */
const PROGRAMS = [
  'apps/standalone',
  'apps/probe-agent',
  'apps/cli',
  'apps/load',
  'apps/web/tsconfig.page.json',
  'tsconfig.test.json',
];

jest.setTimeout(600_000);

describe('new:type', () => {
  it('shows its usage without making a type', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=vantage-source', 'infra/new-type/main.ts', '--help'],
      { cwd: repository, encoding: 'utf8' },
    );

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('npm run -s new:type -- NAME');
  });
});

describe('a check type that npm run new:type made, in a copy of the checkout', () => {
  let copy: string;

  const node = (...words: readonly string[]): string =>
    execFileSync(process.execPath, ['--conditions=vantage-source', ...words], { cwd: copy, encoding: 'utf8' });

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'vantage-new-type-'));
    copyCheckout(copy);
    node('infra/new-type/main.ts', NAME);
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('compiles', () => {
    // Several checkers of one program do much work twice, and GOGC lets the compiler collect garbage less often.
    const words = ['-b', '--singleThreaded', ...PROGRAMS];
    const { stdout, status } = spawnSync(join(repository, 'node_modules/.bin/tsc'), words, {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, GOGC: '400' },
    });

    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it('is in form, terminal, OpenAPI, documentation, summary, load, audit and import rules', () => {
    const follows = JSON.parse(node('infra/new-type/what-follows-process.ts', NAME)) as Record<string, unknown>;

    expect(follows).toEqual({
      form: 'Madeup',
      help: expect.stringContaining('--family'),
      line: '192.0.2.1, IPv4',
      example: { summary: 'Madeup', value: { type: NAME, host: 'example.com', limit: 3 } },
      documented: true,
      headline: expect.stringMatching(/example\.com .*2 probes|both/),
      loaded: expect.objectContaining({ type: NAME, host: '192.0.2.1' }),
      audited: expect.any(Number),
      isolated: true,
    });
    expect(follows['audited']).toBeGreaterThan(50);
  });

  it('runs from the shell', () => {
    const printed = execFileSync(
      process.execPath,
      ['--conditions=vantage-source', 'apps/probe-agent/src/main.ts', 'run', NAME, '127.0.0.1', '--json'],
      { cwd: copy, encoding: 'utf8', env: { ...process.env, TARGET_ALLOW: '127.0.0.0/8' } },
    );

    expect(JSON.parse(printed)).toMatchObject({ result: 'success', address: '127.0.0.1' });
  });

  it('is not made twice, nor with a name that is none', () => {
    const again = (name: string): number | null =>
      spawnSync(process.execPath, ['--conditions=vantage-source', 'infra/new-type/main.ts', name], { cwd: copy })
        .status;

    expect([again(NAME), again('Made-up'), again('')]).toEqual([1, 2, 2]);
  });
});

/**
 * Copies the checkout. Imports of the workspace's packages lead to the copies; other dependencies are links to the
 * originals.
 */
function copyCheckout(to: string): void {
  const cached = new Set(['.cache', '.vite']);
  for (const name of ['packages', 'apps', 'infra', 'docs', 'package.json', 'oxlint.config.ts', ...configs()]) {
    cpSync(join(repository, name), join(to, name), {
      recursive: true,
      verbatimSymlinks: true,
      // Declarations may be half written: `npm run check` compiles while the tests run.
      filter: (path) => !cached.has(basename(path)) && !/\/dist\/.*\.(?:d\.ts|d\.ts\.map|tsbuildinfo)$/.test(path),
    });
  }
  const modules = join(repository, 'node_modules');
  mkdirSync(join(to, 'node_modules'));
  for (const name of readdirSync(modules)) {
    if (cached.has(name)) continue;
    if (name === '@vantage')
      cpSync(join(modules, name), join(to, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(modules, name), join(to, 'node_modules', name));
  }
}

function configs(): readonly string[] {
  return readdirSync(repository).filter((name) => /^tsconfig.*\.json$/.test(name));
}
