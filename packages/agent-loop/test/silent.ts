import { pino, type Logger } from 'pino';

export const silent: Logger = pino({ level: 'silent' });
