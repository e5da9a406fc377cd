import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { Envelope } from './envelope.ts';

const repository = join(import.meta.dirname, '../..');
const COORDINATOR_IMAGE = 'a'.repeat(64);

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly resolvedDependencies: readonly { readonly uri: string; readonly digest: object }[];
    };
  };
}

describe('the commands of the supply chain', () => {
  let folder: string;
  let key: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-release-'));
    key = join(folder, 'key');
    engineHas(`sha256:${COORDINATOR_IMAGE}`);
    writeFileSync(join(folder, 'vantage-coordinator.cdx.json'), '{}');
    writeFileSync(join(folder, 'notes.txt'), 'no bill of materials');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** An engine whose only image is that of the coordinator, with this identifier. */
  function engineHas(id: string): void {
    const script = `#!/bin/sh\nfor last; do :; done\n[ "$last" = vantage-coordinator ] && echo '${id}'\n`;
    writeFileSync(join(folder, 'docker'), script, { mode: 0o755 });
  }

  function run(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
    const main = join(import.meta.dirname, 'main.ts');
    const program = ['--conditions=vantage-source', '--no-warnings', main, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, program, {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${folder}:${process.env['PATH']}` },
    });
    return { status, output: `${stdout}${stderr}` };
  }

  const attest = (): ReturnType<typeof run> => run('attest', '--key', key, '--out', folder);
  const verify = (): ReturnType<typeof run> => run('verify', '--key', `${key}.pub`, '--out', folder);
  const git = (...args: readonly string[]): string =>
    spawnSync('git', args, { cwd: repository, encoding: 'utf8' }).stdout.trim();

  it('make a key that only its owner reads, and replace none', () => {
    expect(run('keys', '--key', key).status).toBe(0);
    const secret = readFileSync(key, 'utf8');

    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(createPublicKey(secret)).toEqual(createPublicKey(readFileSync(`${key}.pub`)));
    expect(run('keys', '--key', key)).toEqual({ status: 1, output: `${key} is there already\n` });
    expect(readFileSync(key, 'utf8')).toBe(secret);
  });

  it('attest the bills of materials and the images, with the commit and what pins the rest', () => {
    run('keys', '--key', key);

    expect(attest()).toMatchObject({ status: 0, output: expect.stringMatching(/^2 files and images attested/) });
    const { payload } = JSON.parse(readFileSync(join(folder, 'provenance.dsse.json'), 'utf8')) as Envelope;
    const { subject, predicate } = JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement;
    expect(subject).toEqual([
      { name: 'vantage-coordinator.cdx.json', digest: { sha256: expect.stringMatching(/^44136fa3/) } },
      { name: 'vantage-coordinator', digest: { sha256: COORDINATOR_IMAGE } },
    ]);
    expect(predicate.buildDefinition.resolvedDependencies).toEqual(
      expect.arrayContaining([
        { uri: 'git+file:.', digest: { gitCommit: git('rev-parse', 'HEAD') } },
        { uri: 'file:pnpm-lock.yaml', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
        { uri: 'file:infra/setup/pnpm/package-lock.json', digest: expect.anything() },
        { uri: 'file:infra/docker/coordinator.Dockerfile', digest: expect.anything() },
      ]),
    );
  });

  it('verify what was attested, and name a file or an image that is another one', () => {
    run('keys', '--key', key);
    attest();
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    const first = verify();

    engineHas(`sha256:${'b'.repeat(64)}`);
    const otherImage = verify();
    engineHas(`sha256:${COORDINATOR_IMAGE}`);
    writeFileSync(join(folder, 'vantage-coordinator.cdx.json'), '{ }');
    const otherFile = verify();

    expect(first.status).toBe(0);
    expect(first.output).toContain(`2 files and images are those built from ${git('rev-parse', 'HEAD')}`);
    expect(first.output.includes('with changes that no commit has')).toBe(isChanged);
    expect(otherImage).toMatchObject({
      status: 1,
      output: expect.stringMatching(/^vantage-coordinator is another one/),
    });
    expect(otherFile).toMatchObject({
      status: 1,
      output: expect.stringMatching(/^vantage-coordinator\.cdx\.json is another one/),
    });
  });

  it('verify nothing by another key', () => {
    run('keys', '--key', key);
    attest();
    rmSync(key);
    run('keys', '--key', key);

    expect(verify()).toMatchObject({ status: 1, output: expect.stringContaining('the signature is not of this key') });
  });

  it('attest nothing where there is nothing', () => {
    run('keys', '--key', key);
    rmSync(join(folder, 'vantage-coordinator.cdx.json'));
    writeFileSync(join(folder, 'docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });

    expect(attest()).toMatchObject({ status: 1, output: expect.stringContaining('has no bills of materials') });
  });

  it.each([['no command'], ['an unknown command', 'sign'], ['no key', 'attest'], ['a word too many', 'sbom', 'now']])(
    'end with their usage at %s',
    (_which, ...args) => {
      expect(run(...args)).toMatchObject({ status: 2, output: expect.stringContaining('supply-chain -- sbom') });
    },
  );
});
