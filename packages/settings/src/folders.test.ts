import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from '@jest/globals';

import { makeFolder } from './folders.ts';

const root = mkdtempSync(join(tmpdir(), 'vantage-folders-'));

afterAll(() => rmSync(root, { recursive: true }));

it('a folder is created with those above it, once', () => {
  const folder = join(root, 'a/b/c');
  const made = [makeFolder(folder, 0o700), makeFolder(folder, 0o700), makeFolder(`${folder}/`)];

  expect(made).toEqual([true, false, false]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('a file in place of a folder is named', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');

  expect(() => makeFolder(file)).toThrow(`${file} is not a folder`);
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR/);
});

it('a file system that creates no folders ends the attempt with the reason', () => {
  // In a process that can be ended: Node's own function never returns here.
  const script = `import('${import.meta.resolve('./folders.ts')}').then(({ makeFolder }) => makeFolder('/proc/nope/a'))`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 30_000, encoding: 'utf8' });

  expect(status).toBe(1);
  expect(stderr).toContain("mkdir '/proc/nope'");
});
