import type { BaseLogger } from 'pino';

/** The subset of a pino logger that the core uses. Untrusted strings go into fields, never into the message. */
export type Log = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
