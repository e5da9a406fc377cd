import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { openTextOutput, type TextOutput } from './text-output.ts';

describe('lines to a file', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'vantage-output-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('arrive in their order', async () => {
    const file = join(folder, 'log');
    const descriptor = openSync(file, 'a');
    const output = openTextOutput(descriptor);
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`);

    for (const line of lines) output.write(line);
    while (readFileSync(file, 'utf8').length < lines.join('').length) await sleep(5);

    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    expect(output.dropped()).toBe(0);
    closeSync(descriptor);
  });

  it('are dropped and counted where the disk is full', async () => {
    const descriptor = openSync('/dev/full', 'w');
    const output = openTextOutput(descriptor);

    for (let sent = 0; sent < 10; sent += 1) output.write(`line ${sent}\n`);
    await untilDropped(output, 10);

    expect(output.dropped()).toBe(10);
    closeSync(descriptor);
  });
});

/** Starts a program with this module, whose standard output is an unread pipe. */
function start(source: string): ChildProcess & { readonly stdout: Readable; readonly stderr: Readable } {
  const module = new URL('text-output.ts', import.meta.url).href;
  const program = `
    const { openTextOutput } = await import(${JSON.stringify(module)});
    const { writeSync } = await import('node:fs');
    const say = (text) => writeSync(2, text + '\\n');
    ${source}`;
  return spawn(process.execPath, ['--conditions=vantage-source', '--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

describe('lines to a pipe', () => {
  it('never stop the program without a reader, and report dropped lines to the next one', async () => {
    const program = start(`
      const output = openTextOutput(1, { onResumed: (lines) => output.write(JSON.stringify(lines) + '\\n') });
      for (let sent = 0; sent < 40; sent += 1) output.write('x'.repeat(65_535) + '\\n');
      say(String(output.dropped()));
      setInterval(() => undefined, 1_000);
    `);
    const [said] = (await once(program.stderr, 'data')) as [Buffer];
    const dropped = Number(said.toString());

    // Reads only now: the program has made progress without a reader.
    let read = '';
    for await (const chunk of program.stdout) {
      read += String(chunk);
      if (read.includes('}\n')) break;
    }
    program.kill('SIGKILL');
    const lines = read.trim().split('\n');

    expect(dropped).toBeGreaterThan(20);
    expect(lines.slice(0, -1).every((line) => line === 'x'.repeat(65_535))).toBe(true);
    expect(lines.length - 1 + dropped).toBe(40);
    expect(JSON.parse(lines.at(-1)!)).toEqual({ dropped, cause: 'EAGAIN' });
  });

  it('do not keep a program from its end', async () => {
    const program = start(`
      const output = openTextOutput(1);
      process.on('exit', output.flushSync);
      for (let sent = 0; sent < 40; sent += 1) output.write('x'.repeat(65_535) + '\\n');
    `);
    const [status] = (await once(program, 'exit')) as [number];

    expect(status).toBe(0);
  });

  it('are all there, in their order, when the program ends at once', async () => {
    const ends = Array.from({ length: 8 }, async () => {
      const program = start(`
        const output = openTextOutput(1);
        process.on('exit', output.flushSync);
        for (let sent = 0; sent < 5; sent += 1) output.write('line ' + sent + '\\n');
        process.exit(0);
      `);
      return text(program.stdout);
    });

    expect(await Promise.all(ends)).toEqual(ends.map(() => 'line 0\nline 1\nline 2\nline 3\nline 4\n'));
  });

  it('are dropped where the reader has gone, and the program runs on', async () => {
    const program = start(`
      const output = openTextOutput(1);
      process.stdin.once('data', () => {
        output.write('unread\\n');
        const look = setInterval(() => {
          if (output.dropped() === 0) return;
          say(String(output.dropped()));
          clearInterval(look);
          process.stdin.destroy();
        }, 5);
      });
    `);
    const said = text(program.stderr);
    program.stdout.destroy();
    program.stdin!.write('go\n');
    const [status] = (await once(program, 'exit')) as [number];

    expect([status, await said]).toEqual([0, '1\n']);
  });
});

async function untilDropped(output: TextOutput, lines: number): Promise<void> {
  while (output.dropped() < lines) await sleep(5);
}
