import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

describe('the script that builds images', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-images-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  interface Engine {
    readonly driver: string;
    /** Folder in which the engine keeps images. */
    readonly store?: string;
  }

  /** Runs the script with a fake engine that records its arguments. */
  function build(engine: Engine, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    writeFileSync(
      join(folder, 'docker'),
      `#!/bin/sh
case "$1 $2" in
  'version --format') echo linux/amd64 ;;
  'info --format') echo '${engine.store ?? '[[Backing Filesystem extfs]]'}' ;;
  'buildx inspect') [ -z "\${3:-}" ] || exit 1; echo 'Driver: ${engine.driver}' ;;
  'build '* | 'buildx build' | 'buildx create') echo "$*" >> '${folder}/asked' ;;
esac
`,
      { mode: 0o755 },
    );
    writeFileSync(join(folder, 'asked'), '');
    const { status, stderr } = spawnSync(join(import.meta.dirname, 'build-images.sh'), args, {
      encoding: 'utf8',
      env: { PATH: `${folder}:${process.env['PATH']}`, ...env },
    });
    return { status, stderr, asked: readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n') };
  }

  it('builds for its own machine with any Docker', () => {
    const { status, asked } = build({ driver: 'docker' }, []);

    expect(status).toBe(0);
    expect(asked).toEqual([
      expect.stringMatching(/^build --tag vantage-coordinator:\S+ --file infra\/docker\/coordinator\.Dockerfile \.$/),
      expect.stringMatching(/^build --tag vantage-probe-agent:\S+ --file infra\/docker\/probe-agent\.Dockerfile \.$/),
      expect.stringMatching(/^build --tag vantage-probe-agent-slim:\S+ .* --build-arg BROWSER=none \.$/),
    ]);
  });

  it.each([
    ['an old engine gets a builder in a container', { driver: 'docker' }, true],
    [
      'an engine with images in containerd does not',
      { driver: 'docker', store: '[[driver-type io.containerd.snapshotter.v1]]' },
      false,
    ],
    ['a builder in a container is used as it is', { driver: 'docker-container' }, false],
  ])('pushes both architectures: %s', (_case, engine, isMade) => {
    const { status, asked } = build(engine, ['registry.example.com/net', '1.2']);
    const first = asked.find((command) => command.startsWith('buildx build')) ?? '';

    expect(status).toBe(0);
    expect(asked.some((command) => command.startsWith('buildx create --name vantage-images'))).toBe(isMade);
    expect(first.includes('--builder vantage-images')).toBe(isMade);
    expect(first).toContain(
      '--platform linux/amd64,linux/arm64 --tag registry.example.com/net/vantage-coordinator:1.2',
    );
    expect(first).toContain('--output type=registry');
  });

  it('refuses two architectures for an engine', () => {
    const { status, stderr, asked } = build({ driver: 'docker' }, [], {
      OUTPUT: 'load',
      PLATFORMS: 'linux/amd64,linux/arm64',
    });

    expect(status).toBe(1);
    expect(stderr).toContain('OUTPUT=load takes one architecture');
    expect(asked).toEqual(['']);
  });
});
