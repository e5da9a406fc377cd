import { pino, type Logger, type LoggerOptions } from 'pino';

import { openTextOutput } from './text-output.ts';

const STANDARD_OUTPUT = 1;

export interface OpenLog {
  readonly log: Logger;
  /** Lines dropped since the start, because the disk is full or the pipe is not read. */
  readonly dropped: () => number;
}

/**
 * Opens a log on standard output that never blocks the process; lines that cannot be written are dropped and counted.
 */
export function openLog(options: LoggerOptions): OpenLog {
  const output = openTextOutput(STANDARD_OUTPUT, {
    onResumed: (lines) => log.warn(lines, 'log lines dropped'),
  });
  const { write, flushSync, dropped } = output;
  process.once('exit', flushSync);
  const log = pino(options, { write, flushSync } as { readonly write: (line: string) => void });
  return { log, dropped };
}
