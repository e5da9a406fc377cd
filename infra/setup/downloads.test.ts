import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const setup = import.meta.dirname;

/** A package with one program, which prints a word. */
interface Package {
  readonly name: string;
  readonly version: string;
  readonly tarball: Buffer;
}

function pack(name: string, version: string, word: string): Package {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-package-'));
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version, bin: { [name]: name } }));
  writeFileSync(join(folder, 'package', name), `#!/usr/bin/env node\nconsole.log(${JSON.stringify(word)});\n`, {
    mode: 0o755,
  });
  spawnSync('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package']);
  const tarball = readFileSync(join(folder, 'package.tgz'));
  rmSync(folder, { recursive: true });
  return { name, version, tarball };
}

function integrityOf({ tarball }: Package): string {
  return `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
}

/** Starts a registry that serves the packages, with metadata that match their contents. */
function startRegistry(packages: readonly Package[]): Server {
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    const found = packages.find(({ name }) => url === `/${name}` || url.startsWith(`/${name}/-/`));
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    if (url.endsWith('.tgz')) {
      response.end(found.tarball);
      return;
    }
    const { name, version } = found;
    const tarball = `http://${request.headers.host}/${name}/-/${name}-${version}.tgz`;
    const manifest = { name, version, bin: { [name]: name }, dist: { tarball, integrity: integrityOf(found) } };
    const time = { [version]: '2020-01-01T00:00:00.000Z' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: manifest }, time }));
  });
  return server.listen(0, '127.0.0.1');
}

describe('a registry that serves other contents than those that were pinned', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-downloads-'));
  const pnpm = pack('pnpm', '12.21.0', 'not the pnpm that was pinned');
  const [genuine, changed] = [pack('thing', '1.0.0', 'genuine'), pack('thing', '1.0.0', 'changed')];
  const registry = startRegistry([pnpm, changed]);
  let checkout: string;

  beforeAll(async () => {
    if (!registry.listening) await once(registry, 'listening');
  });
  afterAll(() => {
    registry.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    checkout = mkdtempSync(join(folder, 'checkout-'));
    const { port } = registry.address() as AddressInfo;
    writeFileSync(join(checkout, '.npmrc'), `registry=http://127.0.0.1:${port}/\nfetch-retries=0\n`);
  });

  /** Runs a program with an empty home directory, as on a machine where nothing was downloaded before. */
  async function run(program: string, args: readonly string[]): Promise<{ status: number; output: string }> {
    const { PATH } = process.env;
    const child = spawn(program, args, {
      cwd: checkout,
      env: { PATH, HOME: checkout, NO_PROXY: '127.0.0.1' },
    });
    const [out, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { status: status as number, output: `${out}${errors}` };
  }

  describe('as pnpm', () => {
    const lockfile = (): string => join(checkout, 'infra/setup/pnpm/package-lock.json');
    beforeEach(() => {
      for (const name of ['pnpm.mjs', 'repository.mjs', 'step.mjs', 'pnpm/package.json', 'pnpm/package-lock.json']) {
        cpSync(join(setup, name), join(checkout, 'infra/setup', name));
      }
    });

    it('is refused by its hash', async () => {
      const { status, output } = await run(process.execPath, ['infra/setup/pnpm.mjs', '--version']);

      expect(output).toContain('EINTEGRITY');
      expect(output).not.toContain('not the pnpm');
      expect(status).not.toBe(0);
    });

    it('would be run if the lockfile had its hash', async () => {
      const lock = JSON.parse(readFileSync(lockfile(), 'utf8')) as { packages: Record<string, { integrity?: string }> };
      lock.packages = {
        '': lock.packages['']!,
        'node_modules/pnpm': { ...lock.packages['node_modules/pnpm'], integrity: integrityOf(pnpm) },
      };
      writeFileSync(lockfile(), JSON.stringify(lock));

      expect(await run(process.execPath, ['infra/setup/pnpm.mjs', '--version'])).toEqual({
        status: 0,
        output: 'not the pnpm that was pinned\n',
      });
    });
  });

  describe('as a dependency', () => {
    const install = [join(setup, 'pnpm.mjs'), 'install', '--frozen-lockfile', '--ignore-scripts'];
    function lock(integrity: string): void {
      // A package that was just published would be too new.
      writeFileSync(join(checkout, 'pnpm-workspace.yaml'), 'minimumReleaseAge: 0\nfetchRetries: 0\n');
      writeFileSync(join(checkout, 'package.json'), JSON.stringify({ dependencies: { thing: '1.0.0' } }));
      writeFileSync(
        join(checkout, 'pnpm-lock.yaml'),
        [
          "lockfileVersion: '9.0'",
          '',
          'importers:',
          '',
          '  .:',
          '    dependencies:',
          '      thing:',
          '        specifier: 1.0.0',
          '        version: 1.0.0',
          '',
          'packages:',
          '',
          '  thing@1.0.0:',
          `    resolution: {integrity: ${integrity}}`,
          '',
          'snapshots:',
          '',
          '  thing@1.0.0: {}',
          '',
        ].join('\n'),
      );
    }

    it('is refused by its hash', async () => {
      lock(integrityOf(genuine));
      const { status, output } = await run(process.execPath, install);

      expect(output).toMatch(/integrity/i);
      expect(status).not.toBe(0);
    });

    it('would be installed if the lockfile had its hash', async () => {
      lock(integrityOf(changed));
      const { status } = await run(process.execPath, install);

      expect(status).toBe(0);
      expect(readFileSync(join(checkout, 'node_modules/thing/thing'), 'utf8')).toContain('changed');
    });
  });
});
