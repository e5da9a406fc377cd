import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { exitStatus } from '@vantage/command-line';
import { programEnv } from '@vantage/test-support/programs/program-env';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const check = { checkId: 'qPUXvL1sQx2rGJm0Zf7N4w', status: 'pending', message: 'It runs.' };

interface Ended {
  readonly status: number | null;
  readonly errors: string;
}

describe('the exit status of the program', () => {
  let server: Server;
  let onHeld = (): void => undefined;

  beforeAll(async () => {
    server = createServer(({ url, method }, response) => {
      response.setHeader('Content-Type', 'application/json');
      if (url === '/me') response.end('{"ip":"192.0.2.1"}');
      else if (method === 'POST') response.end(JSON.stringify(check));
      else onHeld();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** @param output a descriptor, `pipe` for a pipe that this process reads, or `gone` for a pipe without a reader */
  async function vantage(words: readonly string[], output: number | 'gone' | 'pipe', signal?: string): Promise<Ended> {
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, ['--conditions=vantage-source', MAIN, ...words], {
      env: programEnv({ VANTAGE_URL: `http://127.0.0.1:${port}` }),
      stdio: ['ignore', output === 'gone' ? 'pipe' : output, 'pipe'],
    });
    if (output === 'gone') child.stdout!.destroy();
    onHeld = () => void (signal !== undefined && child.kill(signal as NodeJS.Signals));
    let errors = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const [status] = (await once(child, 'close')) as [number | null];
    return { status, errors };
  }

  it('is that of an ended pipe if nothing reads the output any more, as of every program', async () => {
    expect(await vantage(['me'], 'gone')).toEqual({ status: exitStatus.outputClosed, errors: '' });
  });

  it('is not that of a check if the output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const ended = await vantage(['me'], full);
    closeSync(full);

    expect(ended).toEqual({ status: exitStatus.invalid, errors: expect.stringMatching(/^standard output: ENOSPC/) });
  });

  it('says that it was interrupted', async () => {
    const { status, errors } = await vantage(['tcp', 'a.example', '443'], 'pipe', 'SIGINT');

    expect([status, errors]).toEqual([exitStatus.interrupted, `The check goes on: vantage show ${check.checkId}\n`]);
  });

  it('has its meaning in the help and in the documentation, each of them', async () => {
    const documented = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
    const rows = [...documented.slice(documented.indexOf('## Exit status')).matchAll(/^\| (\d+) \|/gm)];
    const { helpText } = await import('./help.ts');
    const inHelp = /Exit status: [\s\S]+/.exec(helpText(undefined))![0].matchAll(/(?<=[:;]\s)\d+(?=\s)/g);
    const all = Object.values(exitStatus).map(String);

    expect(rows.map(([, status]) => status)).toEqual(all);
    expect([...inHelp].map(([status]) => status)).toEqual(all);
  });
});
