import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program, passes on the signals that end this process, and SIGTERM if the channel to the parent closes.
 *
 * @returns its exit status; after a signal to it or to this process never 0
 */
export async function runProgram(program, args, options) {
  const child = spawn(program, args, options);
  let stopped;
  const stop = (signal = 'SIGTERM') => {
    stopped = signal;
    child.kill(signal);
  };
  const stopAsOrphan = () => stop();
  for (const signal of signals) process.on(signal, stop);
  process.on('disconnect', stopAsOrphan);
  const [code, signal] = await once(child, 'exit').catch((error) => {
    console.error(error.message);
    return [1];
  });
  for (const signal of signals) process.off(signal, stop);
  process.off('disconnect', stopAsOrphan);
  if (code > 0) return code;
  const ending = signal ?? stopped;
  return ending === undefined ? 0 : 128 + constants.signals[ending];
}
