import { agentCommands, agentUser } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { isDenied } from '../../redis/store.ts';

/** Finds, in the slow log of Redis, the probes whose Redis users send requests that no agent sends in such sizes. */
export interface SlowRequests {
  /**
   * @param users of the current connections, by address: the slow log names no users
   * @returns probes to suspend; further calls return them again for up to `WITHIN_SECONDS`, until `forget`
   * @throws if Redis does not reply; the next call reads the entries that this one did not
   */
  readonly poll: (users: ReadonlyMap<string, string>) => Promise<readonly string[]>;
  readonly forget: (probe: string) => void;
}

/**
 * A user is suspended at this number of slow requests within `WITHIN_SECONDS`: an agent of an older release may send a
 * larger request that is slow by chance.
 */
const SUSPENDED_AT = 3;
const WITHIN_SECONDS = 30;
/** Maximum entries read per poll; by default the slow log of Redis is shorter. */
const MOST_READ = 1_024;

const PROBE_KEY = /^p:\{([a-z0-9][a-z0-9-]{0,62})\}:/;
/** Texts that the slow log of Redis has in place of omitted words and bytes. */
const MORE_WORDS = /^\.\.\. \(\d+ more arguments\)$/;
const MORE_BYTES = /\.\.\. \(\d+ more bytes\)$/;
/** Commands with which agents send values; coordinators check the size of these values when they read them. */
const WITH_VALUES: ReadonlySet<string> = new Set(['xadd', 'set', 'publish']);

type Entry = readonly [id: number, atSeconds: number, micros: number, words: readonly string[], address: string];

interface Strike {
  readonly probe: string;
  readonly atSeconds: number;
}

export function createSlowRequests(redis: Redis, log: Log): SlowRequests {
  /** Newest entry that was read, by server. */
  const read = new Map<string, number>();
  let strikes: Strike[] = [];
  /** Users of the connections at the previous poll: a connection may be closed by now. */
  let earlier: ReadonlyMap<string, string> = new Map();
  const allowed = agentCommands();
  let isRefused = false;

  const slowLog = async (master: Redis, count: number): Promise<readonly Entry[]> => {
    try {
      return (await master.call('SLOWLOG', 'GET', String(count))) as readonly Entry[];
    } catch (error) {
      if (!isDenied(error)) throw error;
      // Logged once, not at each poll.
      if (!isRefused)
        log.warn({ error }, 'the slow log of Redis may not be read: stolen agent logins are noticed later');
      isRefused = true;
      return [];
    }
  };

  const probeOf = ([, , , words, address]: Entry, users: ReadonlyMap<string, string>): string | undefined => {
    const [command = '', ...others] = words;
    if (!allowed.has(command.toLowerCase())) return undefined;
    const user = users.get(address) ?? earlier.get(address);
    if (user === undefined) return others.flatMap((word) => PROBE_KEY.exec(word)?.[1] ?? [])[0];
    return user.startsWith(agentUser('')) ? user.slice(agentUser('').length) : undefined;
  };

  const readNew = async (master: Redis, users: ReadonlyMap<string, string>): Promise<readonly Strike[]> => {
    const { name, entries } = await readEntries(master, read, slowLog);
    const found = entries.filter(({ 3: words }) => isLargerThanAny(words));
    const [newest] = entries;
    if (newest !== undefined) read.set(name, newest[0]);
    return found.flatMap((entry) => {
      const probe = probeOf(entry, users);
      return probe === undefined ? [] : [{ probe, atSeconds: entry[1] }];
    });
  };

  return {
    poll: async (users) => {
      for (const master of mastersOf(redis)) {
        strikes.push(...(await readNew(master, users)));
        if (strikes.length === 0) continue;
        const now = Number((await master.time())[0]);
        strikes = strikes.filter(({ atSeconds }) => Math.abs(now - atSeconds) <= WITHIN_SECONDS);
      }
      earlier = users;
      const counts = new Map<string, number>();
      for (const { probe } of strikes) counts.set(probe, (counts.get(probe) ?? 0) + 1);
      return [...counts].flatMap(([probe, count]) => (count >= SUSPENDED_AT ? [probe] : []));
    },
    forget: (probe) => {
      strikes = strikes.filter((strike) => strike.probe !== probe);
    },
  };
}

/** Entries newer than the last that was read, newest first. */
async function readEntries(
  master: Redis,
  read: ReadonlyMap<string, number>,
  slowLog: (master: Redis, count: number) => Promise<readonly Entry[]>,
): Promise<{ readonly name: string; readonly entries: readonly Entry[] }> {
  const name = `${master.options.host}:${master.options.port}`;
  const last = read.get(name) ?? -1;
  const [newest] = await slowLog(master, 1);
  if (newest === undefined || newest[0] === last) return { name, entries: [] };
  // Ids begin again with each start of Redis.
  const isRestarted = newest[0] < last;
  const count = Math.min(MOST_READ, isRestarted ? newest[0] + 1 : newest[0] - last);
  const entries = count === 1 ? [newest] : await slowLog(master, count);
  return { name, entries: entries.filter(([id]) => isRestarted || id > last) };
}

function isLargerThanAny(words: readonly string[]): boolean {
  if (words.some((word) => MORE_WORDS.test(word))) return true;
  return !WITH_VALUES.has(words[0]?.toLowerCase() ?? '') && words.some((word) => MORE_BYTES.test(word));
}
