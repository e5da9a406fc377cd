import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

const repository = join(import.meta.dirname, '../..');

describe('a program that starts', () => {
  it.each([
    ['the coordinator', ['apps/coordinator/src/app.ts', 'apps/coordinator/src/core.ts']],
    [
      'the server of the coordinator',
      ['apps/coordinator/src/server.ts', 'apps/coordinator/src/telemetry/telemetry.ts'],
    ],
    ['the supervisor', ['apps/standalone/src/standalone.ts']],
    ["the operator's commands", ['apps/coordinator/src/admin/doctor/check-proxies.ts']],
    ['an agent', ['apps/probe-agent/src/serve.ts', 'apps/probe-agent/src/runtime/open-runtime.ts']],
  ])('does not load the fetch of Node: %s', (_name, files) => {
    const program = `
      for (const file of ${JSON.stringify(files.map((file) => join(repository, file)))}) await import(file);
      console.log(JSON.stringify(process.moduleLoadList));`;
    const args = ['--conditions=vantage-source', '--input-type=module', '-e', program];

    const loaded = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as readonly string[];

    expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
    expect(loaded).toContain('NativeModule http');
  });
});
