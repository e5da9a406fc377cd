import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Time for the processes of a stopped program to remove what they have made, before they are killed. */
const GRACE_MS = 30_000;

/**
 * Starts a program, passes on the signals that end this process, and SIGTERM if the channel to the parent closes.
 *
 * @returns `ended` resolves when the program and, if it was stopped, all processes below it have ended, with its exit
 *   status; after a signal to it or to this process never 0
 */
export function startProgram(program, args, options) {
  const child = spawn(program, args, options);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
  let stopped;
  let below = [];
  const stop = (signal = 'SIGTERM') => {
    if (stopped === undefined) below = descendants(child.pid);
    stopped = signal;
    child.kill(signal);
  };
  const stopAsOrphan = () => stop();
  for (const signal of signals) process.on(signal, stop);
  process.on('disconnect', stopAsOrphan);
  const ended = async () => {
    const closed = once(child, 'close').catch(() => undefined);
    const [code, signal] = await once(child, 'exit').catch((error) => {
      output.push(Buffer.from(`${error.message}\n`));
      if (child.stderr === null) console.error(error.message);
      return [1];
    });
    await (stopped === undefined ? closed : endOf(below));
    for (const signal of signals) process.off(signal, stop);
    process.off('disconnect', stopAsOrphan);
    if (code > 0) return code;
    const ending = signal ?? stopped;
    return ending === undefined ? 0 : 128 + constants.signals[ending];
  };
  return {
    child,
    stop,
    ended: ended(),
    isStopped: () => stopped !== undefined,
    output: () => Buffer.concat(output).toString(),
  };
}

/** Waits until the processes have ended, and kills those that have not after `GRACE_MS`. */
async function endOf(pids) {
  const killAt = Date.now() + GRACE_MS;
  for (let left = pids.filter(isRunning); left.length > 0; left = left.filter(isRunning)) {
    if (Date.now() >= killAt) left.forEach((pid) => signalTo(pid, 'SIGKILL'));
    await sleep(50);
  }
}

/** Ids of all processes below one; none on a system without the lists of Linux. */
function descendants(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readIfAny(`/proc/${pid}/task/${thread}/children`) ?? '');
    const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
    return [...children, ...children.flatMap(descendants)];
  } catch {
    return [];
  }
}

/** Whether a process runs; one that has ended, and that nothing has waited for, does not. */
function isRunning(pid) {
  const stat = readIfAny(`/proc/${pid}/stat`);
  return stat !== undefined && stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
}

function signalTo(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

function readIfAny(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
