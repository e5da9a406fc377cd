import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Running } from '../src/data-folder.ts';

/** The real thing, as `npm start` runs it after the set-up: a process of its own with its children. */
export interface Service {
  readonly url: string;
  /** All it printed. */
  readonly printed: () => string;
  readonly running: () => Running;
  /** Of the supervisor. */
  readonly pid: number;
  /** Resolves with the exit status, however it ends. */
  readonly ended: Promise<number | null>;
  /** SIGINT, as Ctrl-C; resolves with the exit status. */
  readonly stop: () => Promise<number | null>;
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export function temporaryFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-e2e-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startService(
  dataFolder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
  /** A command that becomes what follows it. */
  prefix: readonly string[] = [],
): Promise<Service> {
  const program = [process.execPath, '--conditions=source', main, '--port', '0', '--data', dataFolder, ...flags];
  const [command = '', ...words] = [...prefix, ...program];
  const child = spawn(command, words, {
    // NODE_OPTIONS of the test runner are its own.
    // Browsers would take the machine from what a test looks at; those about screenshots ask for them.
    env: { ...process.env, NODE_OPTIONS: '', SCREENSHOTS: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const ended = once(child, 'exit') as Promise<[number | null]>;
  // Its data may be on a disk that it alone sees.
  const running = `${prefix.length === 0 ? '' : `/proc/${child.pid}/root`}${dataFolder}/running.json`;
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const match = /^Vantage runs at (\S+) /m.exec(printed);
      // All of the text, so that what follows the address is there too.
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

/** The end of each log: the folder is gone by the time that somebody looks. */
function logsIn(dataFolder: string): string {
  const folder = join(dataFolder, 'logs');
  const logs = existsSync(folder) ? readdirSync(folder) : [];
  return logs.map((name) => `${name}:\n${readFileSync(join(folder, name), 'utf8').slice(-2_000)}`).join('\n');
}
