import type { BaseLogger } from 'pino';

/** The part of a pino logger that the core writes to. Strings of strangers go into the fields, never into the message. */
export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
