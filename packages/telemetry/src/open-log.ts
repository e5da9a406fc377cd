import { pino, stdSerializers, type Logger, type LoggerOptions } from 'pino';

import { openTextOutput } from './text-output.ts';

const STANDARD_OUTPUT = 1;

export interface OpenLog {
  readonly log: Logger;
  /** Lines dropped since the start, because the disk is full or the pipe is not read. */
  readonly dropped: () => number;
}

/** Opens a log on standard output, as `TextOutput` writes it: lines that cannot be written are dropped and counted. */
export function openLog(options: LoggerOptions): OpenLog {
  const output = openTextOutput(STANDARD_OUTPUT, {
    onResumed: (lines) => log.warn(lines, 'log lines dropped'),
  });
  const { write, flushSync, dropped } = output;
  process.once('exit', flushSync);
  const serializers = { err: describeError, ...options.serializers };
  const log = pino({ ...options, serializers }, { write, flushSync } as { readonly write: (line: string) => void });
  return { log, dropped };
}

/**
 * The fields of an error for a line. Of a Redis command only the name is kept: its arguments may be a password, or data
 * of a client.
 */
export function describeError(error: Error): unknown {
  const fields: unknown = stdSerializers.err(error);
  return typeof fields === 'object' && fields !== null ? withoutArguments(fields) : fields;
}

function withoutArguments<T extends object>(fields: T): T {
  for (const [key, value] of Object.entries(fields) as [keyof T, unknown][]) {
    if (typeof value !== 'object' || value === null) continue;
    if ('name' in value && 'args' in value) fields[key] = value.name as T[keyof T];
    else if (key === 'aggregateErrors' || 'stack' in value) withoutArguments(value);
    else if (Array.isArray(fields)) withoutArguments(value);
  }
  return fields;
}
