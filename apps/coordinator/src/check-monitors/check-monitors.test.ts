import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from '@jest/globals';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

const folder = mkdtempSync(join(tmpdir(), 'vantage-check-monitors-'));
const program = bundledProgram('coordinator', 'check-monitors/main');

afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [
    'a file that is valid',
    'monitors:\n  a: {check: {type: ping, host: example.com}, every: 60s}\n',
    {},
    0,
    '1 monitor\n',
  ],
  [
    'a target that the policy refuses',
    'monitors:\n  a: {check: {type: ping, host: 127.0.0.1}, every: 60s}\n',
    {},
    1,
    ':2: /monitors/a/check/host ',
  ],
  [
    'one that this environment allows',
    'monitors:\n  a: {check: {type: ping, host: 127.0.0.1}, every: 60s}\n',
    { TARGET_ALLOW: '127.0.0.0/8' },
    0,
    '1 monitor\n',
  ],
])('monitors:check: %s', (_reason, text, env, status, output) => {
  const file = join(folder, 'monitors.yml');
  writeFileSync(file, text);

  const run = spawnSync(process.execPath, [program, file], {
    encoding: 'utf8',
    env: programEnv(env),
  });

  expect(run.stdout + run.stderr).toContain(output);
  expect(run.status).toBe(status);
});

it.each([
  ['no file', [], 2, 'FILE: is required'],
  ['two files', ['a', 'b'], 2, 'unexpected argument "b"'],
  ['an unknown option', ['--fix', 'a'], 2, 'unknown option --fix'],
  ['a file that is not there', ['/nonexistent'], 1, 'FILE "/nonexistent" cannot be read: ENOENT'],
  ['the help', ['--help'], 0, 'Exit status'],
])('monitors:check with %s', (_reason, args, status, output) => {
  const run = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: programEnv(),
  });

  expect(run.stdout + run.stderr).toContain(output);
  expect(run.status).toBe(status);
});
