import { randomInt } from 'node:crypto';

import { errnoError } from './errno.ts';
import type { PacketSocketOptions } from './packet-socket.ts';

/** Local ports outside the range that Linux gives to others by default (32768–60999). */
const FIRST_PORT = 61_000;
const MAX_TRIES = 1_000;

export function identifierKey({ family, protocol }: PacketSocketOptions, identifier: number): string {
  return `${family}/${protocol}/${identifier}`;
}

/**
 * A random identifier, which other hosts cannot predict; few of the possible values are in use.
 *
 * @throws `NodeJS.ErrnoException` EADDRINUSE if no free one is found
 */
export function freeIdentifier(options: PacketSocketOptions, taken: ReadonlySet<string>): number {
  const first = options.protocol === 'icmp' ? 1 : FIRST_PORT;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const identifier = randomInt(first, 0x1_0000);
    if (!taken.has(identifierKey(options, identifier))) return identifier;
  }
  throw errnoError('EADDRINUSE', 'No identifier is free.');
}
