import { HEARTBEAT_EVERY_MS } from '@vantage/contract';

import type { Beats } from './beats.ts';
import type { Connections } from './connections.ts';

const POLL_INTERVAL_MS = 1_000;
/**
 * Number of polls in which each connection looks for jobs once, because announcements of jobs may be lost. More than
 * 100 connections take longer, because at most `MOST_POLLS` of them look for jobs at each poll.
 */
const POLL_ALL_WITHIN_POLLS = 10;
const MOST_POLLS = 10;
/** Interval at which heartbeats are examined for changes. */
const STATUS_EVERY_MS = 2_000;
/** Interval of the search for silent connections: twice that of the pings of agents. */
const QUIET_CHECK_INTERVAL_MS = 4_000;
/** Interval of pongs while a message arrives slowly; half of that of the pings of agents. */
const ANSWER_PARTS_MS = 1_000;

/**
 * Looks for jobs, silent connections and slow ones, writes heartbeats and renews the lease of the gateway.
 *
 * @returns functions that stop the timers
 */
export function startTimers(connections: Connections, beats: Beats, renewLease: () => void): readonly (() => void)[] {
  let next = 0;
  const lookInTurn = (): void => {
    const all = connections.all();
    const count = Math.min(MOST_POLLS, Math.ceil(all.length / POLL_ALL_WITHIN_POLLS));
    for (let index = 0; index < count; index += 1) all[(next + index) % all.length]?.wake();
    next = all.length === 0 ? 0 : (next + count) % all.length;
  };
  const lookForQuiet = (): void => {
    for (const { socket } of connections.all()) socket.poll();
  };
  const answerParts = (): void => {
    for (const { socket } of connections.all()) socket.answerPart();
  };
  const timers = [
    setInterval(lookInTurn, POLL_INTERVAL_MS),
    setInterval(lookForQuiet, QUIET_CHECK_INTERVAL_MS),
    setInterval(answerParts, ANSWER_PARTS_MS),
    setInterval(beats.beatAll, STATUS_EVERY_MS),
    setInterval(renewLease, HEARTBEAT_EVERY_MS),
  ];
  return timers.map((timer) => () => clearInterval(timer));
}
