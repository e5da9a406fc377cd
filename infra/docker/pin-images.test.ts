import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const repository = join(import.meta.dirname, '../..');

describe('the pinning of base images', () => {
  let checkout: string;
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'vantage-pin-'));
    cpSync(join(repository, 'docker-compose.yml'), join(checkout, 'docker-compose.yml'));
    for (const name of readdirSync(import.meta.dirname).filter((file) => /Dockerfile$|^pin-images\.sh$/.test(file))) {
      cpSync(join(import.meta.dirname, name), join(checkout, 'infra/docker', name));
    }
    mkdirSync(join(checkout, 'bin'));
  });
  afterEach(() => rmSync(checkout, { recursive: true }));

  /** Runs the script with an engine whose images all have this digest, or none if it is empty. */
  function pin(digest: string): { readonly status: number | null; readonly stderr: string } {
    const inspect = digest === '' ? '' : `echo registry.example/image@sha256:${digest}`;
    writeFileSync(join(checkout, 'bin/docker'), `#!/bin/sh\n[ "$1" != image ] || { ${inspect || ':'}; }\n`, {
      mode: 0o755,
    });
    return spawnSync(join(checkout, 'infra/docker/pin-images.sh'), {
      encoding: 'utf8',
      env: { PATH: `${checkout}/bin:${process.env['PATH']}` },
    });
  }

  const images = (): readonly string[] =>
    [
      'docker-compose.yml',
      ...['coordinator', 'probe-agent', 'load'].map((name) => `infra/docker/${name}.Dockerfile`),
    ].flatMap((file) =>
      [...readFileSync(join(checkout, file), 'utf8').matchAll(/^(?:FROM| +image:) +(\S+:\S+)/gm)].map(
        ([, image = '']) => image,
      ),
    );

  it('writes a digest behind every tag, and a newer one in its place', () => {
    const before = images().map((image) => image.replace(/@.*/, ''));
    const digests = ['a'.repeat(64), 'b'.repeat(64)];

    for (const digest of digests) {
      expect(pin(digest).status).toBe(0);
      expect(images()).toEqual(before.map((image) => `${image}@sha256:${digest}`));
    }
    expect(before).toEqual(expect.arrayContaining(['node:24-bookworm-slim', 'redis:7-bookworm', 'nginx:1-bookworm']));
  });

  it('stops at an image that comes from no registry', () => {
    const { status, stderr } = pin('');

    expect(status).toBe(1);
    expect(stderr).toContain('has no digest: it comes from no registry');
    expect(images().filter((image) => image.includes('sha256'))).toEqual([]);
  });
});
