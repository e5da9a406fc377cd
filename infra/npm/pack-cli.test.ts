import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const check = {
  testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
  type: 'tcp',
  host: 'a.example',
  status: 'completed',
  results: {
    'fra-1': {
      result: 'success',
      rt: 1.5,
      resolvedIp: '192.0.2.1',
      error: null,
      state: 'open',
      port: 443,
      screenshot: Buffer.from('picture').toString('base64'),
    },
  },
};

/** The parts of Windows that a program sees in Node. */
const windows = `
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
const program = readFileSync(process.env.PROGRAM, 'base64');
Object.defineProperty(process, 'platform', { value: 'win32' });
Object.defineProperty(os, 'EOL', { value: '\\r\\n' });
Object.assign(path, path.win32);
os.homedir = () => process.env.USERPROFILE;
process.getuid = process.geteuid = undefined;
syncBuiltinESMExports();
// Loaded as a module without a path, because Node's loader uses the replaced functions for paths, too.
await import('data:text/javascript;base64,' + program);
`;

describe('the npm package of the command line', () => {
  // A space and non-ASCII letters, as in home directories of users.
  const folder = join(mkdtempSync(join(tmpdir(), 'vantage-npm-')), 'my prögrams');
  const installed = join(folder, 'node_modules', '@vantage', 'cli');
  const posted: unknown[] = [];
  let server: Server;

  beforeAll(async () => {
    mkdirSync(folder);
    const words = ['--conditions=vantage-source', join(import.meta.dirname, 'main.ts'), folder, 'cli'];
    const tarball = execFileSync(process.execPath, words, { encoding: 'utf8' }).trim();
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, stdio: 'pipe' });
    server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
    rmSync(join(folder, '..'), { recursive: true });
  });

  async function answer(
    ...[request, response]: Parameters<Parameters<typeof createServer>[1] & object>
  ): Promise<void> {
    const { url = '', method } = request;
    response.setHeader('Content-Type', 'application/json');
    if (method === 'POST') {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      posted.push(JSON.parse(text));
      response.end(JSON.stringify({ checkId: check.testId, status: 'pending', message: 'It runs.' }));
    } else if (url.includes('/events')) {
      response.setHeader('Content-Type', 'text/event-stream');
      response.end(`id: 1\nevent: completed\ndata: ${JSON.stringify(check)}\n\n`);
    } else if (url.includes('/summary')) {
      response.end(JSON.stringify({ status: 'completed', verdict: 'up', headline: 'Port 443 is open.', findings: [] }));
    } else response.end(JSON.stringify(url.includes('/results') ? check : {}));
  }

  async function vantage(...words: readonly string[]): Promise<string> {
    const program = join(folder, 'node_modules', '.bin', 'vantage');
    const { port } = server.address() as AddressInfo;
    const env = { ...process.env, VANTAGE_URL: `http://127.0.0.1:${port}`, NODE_OPTIONS: '' };
    return (await promisify(execFile)(program, words, { env, encoding: 'utf8' })).stdout;
  }

  it('is one program without dependencies, scripts and native parts', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;

    expect(readdirSync(join(folder, 'node_modules', '@vantage'))).toEqual(['cli']);
    expect(readdirSync(installed).toSorted()).toEqual([
      'LICENSE',
      'LICENSES.txt',
      'NOTICE',
      'README.md',
      'package.json',
      'vantage.js',
    ]);
    expect(Object.keys(manifest)).toEqual(['name', 'version', 'description', 'license', 'type', 'bin', 'engines']);
    // Links into the repository lead nowhere here.
    expect(readFileSync(join(installed, 'README.md'), 'utf8')).not.toMatch(/\]\((?!https?:|#)/);
    const imports = readFileSync(join(installed, 'vantage.js'), 'utf8').matchAll(/^import .* from "([^"]+)";$/gm);
    expect([...imports].map(([, name]) => name!).filter((name) => !name.startsWith('node:'))).toEqual([]);
  });

  it('runs where Node has the paths, line ends and variables of Windows', async () => {
    const start = join(folder, 'windows.mjs');
    writeFileSync(start, windows);
    const program = join(installed, 'vantage.js');
    const { port } = server.address() as AddressInfo;
    const file = String.raw`C:\Users\Jörg Ö\picture.png`;
    const words = [start, 'http', 'a.example', '--save-screenshot', file];
    const env = { PROGRAM: program, VANTAGE_URL: `http://127.0.0.1:${port}`, USERPROFILE: String.raw`C:\Users\Jörg Ö` };

    const { stdout, stderr } = await promisify(execFile)(process.execPath, words, {
      env,
      cwd: folder,
      encoding: 'utf8',
    });

    // npm makes its .cmd and .ps1 from this line.
    expect(readFileSync(program, 'utf8').split('\n', 1)).toEqual(['#!/usr/bin/env node']);
    expect([stdout, stderr]).toEqual([expect.stringContaining('up  Port 443 is open.'), '']);
    expect(stdout).not.toContain('\r');
    // The file name reaches the system unchanged.
    expect(readFileSync(join(folder, file), 'latin1')).toBe('picture');
  });

  it('runs a check', async () => {
    posted.length = 0;
    const shown = await vantage('tcp', 'a.example:443');

    expect(posted).toEqual([{ type: 'tcp', host: 'a.example', port: 443 }]);
    expect(shown).toMatch(/fra-1 .*192\.0\.2\.1, open/);
    expect(shown).toContain('up  Port 443 is open.');
    expect(await vantage('--version')).toBe('0.1.0\n');
    expect(await vantage('tcp', 'a.example', '443', '--csv')).toMatch(/^checkId,.*\n[^,]*,tcp,a\.example,fra-1,/);
  });
});
