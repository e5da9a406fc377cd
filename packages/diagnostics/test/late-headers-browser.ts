import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LATE_MS = 1_000;

/**
 * Relays DevTools messages between agent (descriptors 3 and 4) and browser; delays the events about headers
 * (`…ExtraInfo`).
 */
const program = (executablePath: string): string => `#!${process.execPath}
const { spawn } = require('node:child_process');
const { createReadStream, createWriteStream } = require('node:fs');
const browser = spawn(${JSON.stringify(executablePath)}, process.argv.slice(2), {
  stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'],
});
createReadStream('', { fd: 3 }).on('error', () => undefined).pipe(browser.stdio[3]).on('error', () => undefined);
const toAgent = createWriteStream('', { fd: 4 }).on('error', () => process.exit());
let text = '';
browser.stdio[4].setEncoding('utf8').on('data', (piece) => {
  const messages = (text + piece).split('\\0');
  text = messages.pop();
  for (const message of messages) {
    const late = /^{"method":"Network\\.\\w+ExtraInfo"/.test(message) ? ${LATE_MS} : 0;
    if (late === 0) toAgent.write(message + '\\0');
    else setTimeout(() => toAgent.write(message + '\\0'), late);
  }
});
browser.on('exit', (code) => process.exit(code ?? 1));
`;

export interface MadeProgram {
  readonly path: string;
  readonly remove: () => void;
}

/**
 * A program that runs the browser as a busy machine may: reports about the headers of requests and responses, which
 * another process sends, arrive after all else.
 */
export function lateHeadersBrowser(executablePath: string): MadeProgram {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-late-headers-'));
  const path = join(folder, 'browser');
  writeFileSync(path, program(executablePath), { mode: 0o755 });
  // Browsers run as another user than root, which must be able to start the program.
  chmodSync(folder, 0o755);
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}
