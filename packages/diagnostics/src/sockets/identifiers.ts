import { randomInt } from 'node:crypto';

import type { Family } from '@vantage/contract';

import { errnoError } from './errno.ts';
import type { PacketSocketOptions } from './packet-socket.ts';

/** Number of identifiers per announcement, at each of which the packet process replaces its filter. */
const EXPECTED_AT_A_TIME = 64;
/** First port above those that Linux assigns by default (32768–60999). */
const FIRST_PORT = 61_000;
const MAX_TRIES = 1_000;

function identifierKey({ family, protocol }: PacketSocketOptions, identifier: number): string {
  return `${family}/${protocol}/${identifier}`;
}

/**
 * A random identifier that is not taken; other hosts cannot predict it.
 *
 * @throws `NodeJS.ErrnoException` EADDRINUSE if no free one is found
 */
function freeIdentifier(options: PacketSocketOptions, taken: ReadonlySet<string>): number {
  const first = options.protocol === 'icmp' ? 1 : FIRST_PORT;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const identifier = randomInt(first, 0x1_0000);
    if (!taken.has(identifierKey(options, identifier))) return identifier;
  }
  throw errnoError('EADDRINUSE', 'No identifier is free.');
}

/** The identifiers of open sockets, and those of the next ICMP sockets, which the packet process knows in advance. */
export class Identifiers {
  private readonly taken = new Set<string>();
  private readonly expected = new Map<Family, number[]>();
  private readonly announce: (family: Family, identifiers: readonly number[]) => void;

  /** @param announce sends the packet process the identifiers of the next ICMP sockets of a family */
  constructor(announce: (family: Family, identifiers: readonly number[]) => void) {
    this.announce = announce;
  }

  /** @throws `NodeJS.ErrnoException` EADDRINUSE if no free one is found */
  draw(options: PacketSocketOptions): number {
    if (options.protocol !== 'icmp') return freeIdentifier(options, this.taken);
    let expected = this.expected.get(options.family) ?? [];
    if (expected.length === 0) {
      expected = Array.from({ length: EXPECTED_AT_A_TIME }, () => freeIdentifier(options, this.taken));
      this.expected.set(options.family, expected);
      this.announce(options.family, [...expected]);
    }
    const identifier = expected.pop()!;
    // Another socket may have taken the identifier since it was announced.
    return this.taken.has(identifierKey(options, identifier)) ? freeIdentifier(options, this.taken) : identifier;
  }

  /**
   * Reserves the identifier of a socket; a watch sends nothing and reserves none.
   *
   * @returns a function that releases it
   * @throws `NodeJS.ErrnoException` EADDRINUSE
   */
  hold(wanted: PacketSocketOptions, identifier: number): () => void {
    if (wanted.errorsOnly !== undefined) return () => undefined;
    const key = identifierKey(wanted, identifier);
    if (this.taken.has(key)) throw errnoError('EADDRINUSE', `The identifier ${identifier} is in use.`);
    this.taken.add(key);
    return () => void this.taken.delete(key);
  }

  clear(): void {
    this.taken.clear();
    this.expected.clear();
  }
}
