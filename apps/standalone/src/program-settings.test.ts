import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { parseArguments } from './arguments.ts';
import { coordinatorEnv, graceMs, probeEnv } from './program-settings.ts';

const parsed = parseArguments(['--rate-limit', '7'], 'data', {});
if (!('arguments' in parsed)) throw new Error('the flags are refused');
const args = parsed.arguments;
const settings = readFileSync(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8');

describe('settings of the programs', () => {
  it('have the rate limit of every endpoint, each of which is 20 by default', () => {
    const names = [...settings.matchAll(/^\| `(RATE_LIMIT_\w+)` \| integer[^|]*\| `20` /gm)].map(([, name]) => name);
    const env = coordinatorEnv(args, {}, 8080, 'http://127.0.0.1:8080', 'redis://127.0.0.1');

    expect(names).toContain('RATE_LIMIT_CHECK');
    expect(Object.entries(env).filter(([name]) => name.startsWith('RATE_LIMIT_'))).toEqual(
      expect.arrayContaining(names.map((name) => [name, '7'])),
    );
  });

  it.each([
    ['9464', ['9465', '9466']],
    ['0', [undefined, undefined]],
    [undefined, [undefined, undefined]],
  ])('have separate ports for the metrics of each program: %s', (METRICS_PORT, ports) => {
    const envs = [0, 1].map((index) => probeEnv(args, { METRICS_PORT }, { id: 'a', index, redisUrl: 'redis://a' }));

    expect(envs.map((env) => env['METRICS_PORT'])).toEqual(ports);
  });

  it.each([
    [undefined, 15],
    ['0', 15],
    ['14', 19],
    ['60', 65],
    ['soon', 15],
  ])('leave an agent the time to drain, and some seconds more: %s', (DRAIN_SECONDS, seconds) => {
    expect(graceMs({ DRAIN_SECONDS })).toBe(seconds * 1_000);
  });
});
