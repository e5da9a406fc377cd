import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { askResolversAgainSoon } from './resolver-options.ts';

const program = fileURLToPath(new URL('../test/look-up-at-late-resolver.ts', import.meta.url));
const canUnshare = process.platform === 'linux' && process.getuid?.() === 0;

/**
 * The result of a lookup at a resolver that answers only the third copy of a question, in a separate network namespace.
 */
function lookUp(when: 'soon' | 'default'): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
  const resolvConf = join(folder, 'resolv.conf');
  writeFileSync(resolvConf, 'nameserver 127.0.0.1\n');
  const { RES_OPTIONS: _, ...env } = process.env;
  const script = 'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const command = [process.execPath, '--conditions=vantage-source', '--no-warnings', program, when];
  try {
    const all = ['--net', '--mount', 'sh', '-c', script, resolvConf, ...command];
    return JSON.parse(execFileSync('unshare', all, { env, encoding: 'utf8' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('lookups of the C library', () => {
  (canUnshare ? it : it.skip)('get an answer that the default would not wait for: they ask again more often', () => {
    expect(lookUp('soon')).toEqual({ address: '192.0.2.1', family: 4 });
    expect(lookUp('default')).toBe('EAI_AGAIN');
  });

  it('follow RES_OPTIONS of the operator', () => {
    const environment = { RES_OPTIONS: 'timeout:3' };

    askResolversAgainSoon(environment);

    expect(environment).toEqual({ RES_OPTIONS: 'timeout:3' });
  });
});
