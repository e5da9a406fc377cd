import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Netlab } from './netlab.ts';
import type { CheckOrder, CheckOutcome, CheckProgress } from './run-check.ts';

/** Runs checks on the lab's probe, in one process there. */
export interface CheckRunner {
  readonly pid: number;
  /** @param onRounds called while a trace runs, with the number of rounds that are sent */
  readonly run: (
    order: Omit<CheckOrder, 'id' | 'rounds'>,
    onRounds?: (rounds: number) => void,
  ) => Promise<Omit<CheckOutcome, 'id'>>;
  readonly stop: () => Promise<void>;
}

/** @param busyShare share of time for which the process of the checks does other work, 0 to 1 */
export function startCheckRunner(lab: Pick<Netlab, 'start'>, busyShare = 0): CheckRunner {
  const program = fileURLToPath(new URL('run-check.ts', import.meta.url));
  const child = lab.start('probe', process.execPath, '--conditions=vantage-source', program, String(busyShare));
  const waiting = new Map<number, PromiseWithResolvers<Omit<CheckOutcome, 'id'>>>();
  const listeners = new Map<number, (rounds: number) => void>();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const read = JSON.parse(line) as CheckOutcome | CheckProgress;
    if ('rounds' in read) return listeners.get(read.id)?.(read.rounds);
    const { id, ...outcome } = read;
    waiting.get(id)?.resolve(outcome);
    waiting.delete(id);
    listeners.delete(id);
  });
  let hasEnded: Error | undefined;
  child.once('exit', (code) => {
    hasEnded = new Error(`The check runner ended with status ${code}.`);
    for (const { reject } of waiting.values()) reject(hasEnded);
  });
  let last = 0;
  const run: CheckRunner['run'] = (order, onRounds) => {
    if (hasEnded !== undefined) return Promise.reject(hasEnded);
    const outcome = Promise.withResolvers<Omit<CheckOutcome, 'id'>>();
    waiting.set((last += 1), outcome);
    if (onRounds !== undefined) listeners.set(last, onRounds);
    const rounds = onRounds !== undefined;
    child.stdin!.write(`${JSON.stringify({ id: last, ...order, rounds } satisfies CheckOrder)}\n`);
    return outcome.promise;
  };
  const stop = (): Promise<void> => {
    child.stdin!.end();
    return ended;
  };
  return { pid: child.pid!, run, stop };
}

/** The rounds of traces that run at the same time, so that a test acts at a round at any speed of the machine. */
export interface SentRounds {
  /** Adds a trace. @returns its listener */
  readonly ofTrace: () => (rounds: number) => void;
  /** Resolves when each trace has sent this many rounds. */
  readonly reach: (least: number) => Promise<void>;
}

export function sentRounds(): SentRounds {
  const sent: number[] = [];
  const waiting = new Map<() => void, number>();
  const poll = (): void => {
    for (const [resolve, least] of waiting) {
      if (sent.some((rounds) => rounds < least)) continue;
      resolve();
      waiting.delete(resolve);
    }
  };
  return {
    ofTrace: () => {
      const index = sent.push(0) - 1;
      return (rounds) => {
        sent[index] = rounds;
        poll();
      };
    },
    reach: (least) =>
      new Promise((resolve) => {
        waiting.set(resolve, least);
        poll();
      }),
  };
}
