import type { Redis } from 'ioredis';
import { isDenied } from '../../redis/store.ts';

/*
 * Redis executes HELLO and AUTH whatever the ACL says, and reads each request before it refuses it: names and requests
 * of megabytes delay all clients. An agent gives its connections no name.
 */

const LONGEST_LINE = 4_096;
const LARGE_BYTES = 1_048_576;
/** Twice the largest screenshot that an agent sends. */
const HUGE_BYTES = 8 * 1_048_576;
/** Number of connections with large requests at once that suspends a user. */
const FEWEST_LARGE = 3;
/** Idle seconds after which a connection may be left over from a network failure: it does not count as large. */
const LONGEST_IDLE = 1;
/** Seconds in which a refusal counts. */
const REFUSED_WITHIN = 2;

/** @param line of `CLIENT LIST` */
export function hasLongName(line: string): boolean {
  return line.length > LONGEST_LINE;
}

/**
 * True if the memory of the user's connections suggests requests that no agent sends. Of the connections that were used
 * within the last second or so, `FEWEST_LARGE` have more than 1 MiB, one has more than 8 MiB apart from its replies, or
 * one has more than 1 MiB and the last request that Redis refused, just now, is of this user.
 *
 * @param lines of `CLIENT LIST`, of one user
 */
export async function sendsLargeRequests(
  lines: readonly string[],
  user: string,
  refused: () => Promise<string | undefined>,
): Promise<boolean> {
  const large = lines.filter((line) => valueOf(line, 'tot-mem') > LARGE_BYTES && valueOf(line, 'idle') <= LONGEST_IDLE);
  if (large.length === 0) return false;
  if (large.length >= FEWEST_LARGE) return true;
  // `omem` is the memory of replies that the client has not read; the rest belongs to its requests.
  if (large.some((line) => valueOf(line, 'tot-mem') - valueOf(line, 'omem') > HUGE_BYTES)) return true;
  return (await refused()) === user;
}

/**
 * The user of the last request that Redis refused, if that was at most `REFUSED_WITHIN` seconds ago. Undefined too if
 * the coordinator may not read the log.
 */
export async function refusedUser(master: Redis): Promise<string | undefined> {
  try {
    const [entry = []] = (await master.call('ACL', 'LOG', '1')) as readonly (readonly (string | number)[])[];
    // Only names are compared: a value may be the name of a key, which the agent chooses.
    const value = (name: string): string =>
      String(entry.find((_value, index) => index % 2 === 1 && entry[index - 1] === name) ?? '');
    if (entry.length === 0 || Number(value('age-seconds')) > REFUSED_WITHIN) return undefined;
    return /(?:^| )user=(\S+)/.exec(value('client-info'))?.[1];
  } catch (error) {
    // The Redis user of the coordinator may not run the command.
    if (isDenied(error)) return undefined;
    throw error;
  }
}

function valueOf(line: string, name: string): number {
  return Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? 0);
}
