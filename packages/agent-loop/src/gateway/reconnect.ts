/** Delays before connection attempts, so that many agents do not connect at the same time. */
export interface Reconnect {
  /** The next pause after a failure, milliseconds. */
  readonly afterFailure: () => number;
  /** The longer pause after a refusal, milliseconds. */
  readonly afterRefusal: () => number;
  /**
   * The pause after a refusal of the key, milliseconds; longer each time, up to a limit, because a gateway counts such
   * refusals for all agents at the same address.
   */
  readonly afterUnknownKey: () => number;
  /** Delay before the first attempt to replace a silent connection, milliseconds. */
  readonly afterSilence: () => number;
  /** The pause before another attempt while one has no answer, milliseconds. */
  readonly beforeAnother: () => number;
  /** To be called when a connection has lasted for some time; resets the pauses. */
  readonly succeeded: () => void;
  /** To be called with the gateway's advice: the time over which agents that lose it together return. */
  readonly spreadOver: (ms: number) => void;
}

const SHORTEST_MS = 250;
const FIRST_MS = 3_000;
/**
 * Minimum spread of reconnections, even for a few agents. Low, because an agent must be back well within five seconds.
 */
const LEAST_SPREAD_MS = 1_500;
const LONGEST_MS = 30_000;
const ANOTHER_MS = 2_000;
/**
 * Divisor of the return time: agents leave a silent gateway at random times within this part of it. The last ones may
 * see the gateway recover.
 */
const SILENCE_PART = 6;
const REFUSED_MS = 15_000;
/** Largest factor by which repeated refusals of the key lengthen the pause. */
const LONGEST_REFUSED = 10;

/**
 * Random delays from `SHORTEST_MS` to an upper bound. Before a gateway has given advice, decorrelated jitter: the bound
 * is three times the previous delay, but not below `FIRST_MS` and not above `LONGEST_MS`. Afterwards the bound is the
 * advice, or `LEAST_SPREAD_MS` if that is longer.
 *
 * @param refusedMs the least pause after a refusal; the longest is twice as long
 */
export function createReconnect(random: () => number = Math.random, refusedMs = REFUSED_MS): Reconnect {
  let [first, longest] = [FIRST_MS, LONGEST_MS];
  let most = first;
  let unknown = 0;
  const between = (least: number, upTo: number): number => Math.round(least + random() * (upTo - least));
  const afterRefusal = (): number => between(refusedMs, 2 * refusedMs);
  return {
    afterFailure: () => {
      const pauseMs = between(SHORTEST_MS, most);
      most = Math.min(longest, Math.max(first, pauseMs * 3));
      return pauseMs;
    },
    afterRefusal,
    afterUnknownKey: () => {
      unknown = Math.min(LONGEST_REFUSED, unknown + 1);
      return unknown * afterRefusal();
    },
    afterSilence: () => between(0, first / SILENCE_PART),
    beforeAnother: () => between(ANOTHER_MS, Math.max(FIRST_MS, first)),
    succeeded: () => {
      most = first;
      unknown = 0;
    },
    spreadOver: (ms) => {
      longest = Math.max(LEAST_SPREAD_MS, ms);
      first = longest;
      most = longest;
    },
  };
}
