import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';

import type { Running } from '../src/data-folder.ts';

/** The real service as `npm start` runs it after setup, in a separate process. */
export interface Service {
  readonly url: string;
  /** Output so far. */
  readonly printed: () => string;
  readonly running: () => Running;
  /** Process id of the supervisor. */
  readonly pid: number;
  /** Resolves with the exit status. */
  readonly ended: Promise<number | null>;
  /** Sends SIGINT, as Ctrl-C does; resolves with the exit status. */
  readonly stop: () => Promise<number | null>;
}

const main = bundledProgram('standalone');

export function temporaryFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-e2e-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startService(
  dataFolder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
  /** A command that executes its arguments. */
  prefix: readonly string[] = [],
): Promise<Service> {
  const program = [process.execPath, main, '--port', '0', '--data', dataFolder, ...flags];
  const [command = '', ...words] = [...prefix, ...program];
  const child = spawn(command, words, {
    // Drops NODE_OPTIONS of the test runner. Screenshots are off by default, because browsers would add load.
    env: { ...process.env, NODE_OPTIONS: '', SCREENSHOTS: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const ended = once(child, 'exit') as Promise<[number | null]>;
  // The data folder may be in the process's own mount namespace.
  const running = `${prefix.length === 0 ? '' : `/proc/${child.pid}/root`}${dataFolder}/running.json`;
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const match = /^Vantage runs at (\S+) /m.exec(printed);
      // The message is complete with its last line, which contains this text.
      if (match !== null && printed.includes('results?wait=25')) resolve(match[1]!);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(([status]) => reject(new Error(`ended with status ${status}:\n${printed}\n${logsIn(dataFolder)}`)));
  });
  return {
    url,
    printed: () => printed,
    running: () => JSON.parse(readFileSync(running, 'utf8')) as Running,
    pid: child.pid!,
    ended: ended.then(([status]) => status),
    stop: async () => {
      child.kill('SIGINT');
      const [status] = await ended;
      return status;
    },
  };
}

/** The end of each log, since the folder is removed after the test. */
function logsIn(dataFolder: string): string {
  const folder = join(dataFolder, 'logs');
  const logs = existsSync(folder) ? readdirSync(folder) : [];
  return logs.map((name) => `${name}:\n${readFileSync(join(folder, name), 'utf8').slice(-2_000)}`).join('\n');
}
