import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const services = [
  'coordinator-1',
  'coordinator-2',
  'demo-ber',
  'demo-fra',
  'load',
  'probe-records',
  'proxy',
  'redis',
  'secrets',
];

/**
 * A substitute for `docker` that logs each call. `FAILING` never gets healthy, the one-off `BROKEN` ends with 3,
 * `CHANGED` was created with other settings, and a file in `MOUNTED` has another line.
 */
const engine = String.raw`#!/bin/sh
printf '%s\n' "$*" >> "$CALLS"
for last; do :; done
case "$*" in
  *'config --services'*) printf '%s\n' $SERVICES ;;
  *'config --hash '*) if [ "$last" = "$CHANGED" ]; then echo "$last new"; else echo "$last old"; fi ;;
  *' ps '*) echo "container-of-$last" ;;
  'wait container-of-'*) if [ "$last" = "container-of-$BROKEN" ]; then echo 3; else echo 0; fi ;;
  inspect*) echo old ;;
  exec*cat*) cat "$(find infra -name "$(basename "$last")")"; [ "$MOUNTED" != "$2" ] || echo '# another line' ;;
  *' up '*) if [ "$last" = "$FAILING" ]; then echo 'unhealthy, says the engine' >&2; exit 1; fi ;;
esac
`;

interface Upgrade {
  readonly status: number | null;
  readonly stderr: string;
  /** Services in the order in which they were started, and the reloads of the proxy. */
  readonly steps: readonly string[];
  readonly calls: readonly string[];
}

describe('the upgrade of the containers', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-upgrade-'));
    writeFileSync(join(folder, 'docker'), engine, { mode: 0o755 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function upgrade(faults: Readonly<Record<string, string>> = {}, options: readonly string[] = []): Upgrade {
    const file = join(folder, 'calls');
    const none = { FAILING: '', BROKEN: '', CHANGED: '', MOUNTED: '' };
    const { status, stderr } = spawnSync(join(import.meta.dirname, 'upgrade.sh'), options, {
      encoding: 'utf8',
      env: { ...none, ...faults, PATH: `${folder}:${process.env['PATH']}`, CALLS: file, SERVICES: services.join(' ') },
    });
    const calls = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const steps = calls.flatMap((call) => {
      if (call.includes('nginx') && call.includes('reload')) return ['reload'];
      return call.includes(' up ') ? [call.split(' ').at(-1)!] : [];
    });
    return { status, stderr, steps, calls };
  }

  it('replaces coordinators, then agents, one after the other, and neither Redis nor the proxy', () => {
    const { status, steps, calls } = upgrade();

    expect(status).toBe(0);
    expect(steps.join(' ')).toBe('secrets probe-records coordinator-1 reload coordinator-2 reload demo-ber demo-fra');
    expect(calls.findIndex((call) => / build\b/.test(call))).toBe(0);
  });

  it('waits for each part, and starts no other one with it', () => {
    const started = upgrade().calls.filter((call) => call.includes(' up '));
    const waiting = started.filter((call) => call.includes(' --wait '));

    expect(started.filter((call) => !/ --no-deps .*--no-build /.test(call))).toEqual([]);
    expect(waiting.map((call) => call.split(' ').at(-1))).toEqual(services.slice(0, 4));
  });

  it.each([
    ['coordinator-1', ['secrets', 'probe-records', 'coordinator-1']],
    ['coordinator-2', ['secrets', 'probe-records', 'coordinator-1', 'reload', 'coordinator-2']],
    ['demo-ber', ['secrets', 'probe-records', 'coordinator-1', 'reload', 'coordinator-2', 'reload', 'demo-ber']],
  ])('ends at %s if that does not get healthy, with what the engine says', (name, expected) => {
    const { status, stderr, steps } = upgrade({ FAILING: name });

    expect([status, steps]).toEqual([1, expected]);
    expect(stderr).toContain('unhealthy, says the engine');
    expect(stderr).toContain(`${name} did not get healthy: the upgrade ends here`);
  });

  it.each([
    ['secrets', ['secrets']],
    ['probe-records', ['secrets', 'probe-records']],
  ])('ends at %s if that fails', (name, expected) => {
    const { status, stderr, steps } = upgrade({ BROKEN: name });

    expect([status, steps]).toEqual([1, expected]);
    expect(stderr).toContain(`${name} failed: the upgrade ends here`);
  });

  it('reports the parts that it did not replace and whose settings have changed', () => {
    const changed = (faults: Readonly<Record<string, string>>): readonly string[] =>
      [...upgrade(faults).stderr.matchAll(/settings of (\w+) have changed/g)].map(([, name = '']) => name);

    expect(changed({})).toEqual([]);
    expect(changed({ CHANGED: 'redis' })).toEqual(['redis']);
    expect(changed({ CHANGED: 'proxy' })).toEqual(['proxy']);
    expect(changed({ MOUNTED: 'container-of-proxy' })).toEqual(['proxy']);
  });

  it('passes its options to every call of Compose, and names them in its advice', () => {
    const { calls, stderr } = upgrade({ CHANGED: 'redis' }, ['-p', 'other']);
    const compose = calls.filter((call) => call.startsWith('compose '));

    expect(compose.filter((call) => !call.startsWith('compose -p other '))).toEqual([]);
    expect(stderr).toContain('docker compose -p other up --detach --no-deps --force-recreate redis');
  });
});
