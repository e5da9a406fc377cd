import { spawnSync } from 'node:child_process';

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

/**
 * Runs a program quietly. @throws Error when it cannot be started, or with the end of what it printed when it does not
 * exit with 0
 */
export function execute(program, args, options = {}) {
  const run = spawnSync(program, args, { cwd: repository, encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (run.error !== undefined) throw new Error(`${program}: ${run.error.message}`);
  if (run.status === 0) return run.stdout;
  const output = `${run.stdout ?? ''}${run.stderr ?? ''}`.trim().split('\n').slice(-25).join('\n');
  throw new Error(`${[program, ...args].join(' ')} ended with status ${run.status ?? run.signal}:\n${output}`);
}
