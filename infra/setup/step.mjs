import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

import { repository } from './repository.mjs';

/** Prints the title of a step, runs it, and prints how long it took. */
export function step(title, work) {
  const started = performance.now();
  process.stderr.write(`· ${title} … `);
  try {
    const value = work();
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
    return value;
  } catch (error) {
    process.stderr.write('failed\n');
    throw error;
  }
}

/** Runs a step while others run: prints one line at its end. */
export async function concurrentStep(title, work) {
  const started = performance.now();
  const end = (text) => process.stderr.write(`· ${title} … ${text}\n`);
  try {
    const value = await work();
    end(`${((performance.now() - started) / 1000).toFixed(1)} s`);
    return value;
  } catch (error) {
    end('failed');
    throw error;
  }
}

/**
 * Runs a program quietly. @throws Error when it cannot be started, or with the end of what it printed when it does not
 * exit with 0
 */
export function execute(program, args, options = {}) {
  const run = spawnSync(program, args, { cwd: repository, encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  return outputOf([program, ...args], run);
}

/** Like `execute`, but other programs can run meanwhile. */
export async function executeConcurrently(program, args, options = {}) {
  return outputOf([program, ...args], await spawnConcurrently(program, args, options));
}

/** @returns what `spawnSync` returns; other programs can run meanwhile */
export async function spawnConcurrently(program, args, options = {}) {
  const child = spawn(program, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve({ error }));
    child.on('close', (status, signal) => resolve({ status, signal }));
  });
  const [stdout, stderr, run] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, ...run };
}

function outputOf(words, { error, status, signal, stdout, stderr }) {
  if (error !== undefined) throw new Error(`${words[0]}: ${error.message}`);
  if (status === 0) return stdout;
  const output = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-25).join('\n');
  throw new Error(`${words.join(' ')} ended with status ${status ?? signal}:\n${output}`);
}
