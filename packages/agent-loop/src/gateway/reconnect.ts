/** Pauses before attempts to connect, so that many agents do not come at the same time. */
export interface Reconnect {
  /** The next pause after a failure, milliseconds. */
  readonly afterFailure: () => number;
  /** The pause after a refusal that only an operator can end. */
  readonly afterRefusal: () => number;
  /** Call when a connection has proved itself. */
  readonly succeeded: () => void;
}

const SHORTEST_MS = 250;
const FIRST_MS = 3_000;
const LONGEST_MS = 30_000;
const REFUSED_MS = { least: 15_000, most: 30_000 } as const;

/** Decorrelated jitter: each pause is random up to three times the one before. */
export function createReconnect(random: () => number = Math.random): Reconnect {
  let most = FIRST_MS;
  const between = (least: number, upTo: number): number => Math.round(least + random() * (upTo - least));
  return {
    afterFailure: () => {
      const pauseMs = between(SHORTEST_MS, most);
      most = Math.min(LONGEST_MS, Math.max(FIRST_MS, pauseMs * 3));
      return pauseMs;
    },
    afterRefusal: () => between(REFUSED_MS.least, REFUSED_MS.most),
    succeeded: () => {
      most = FIRST_MS;
    },
  };
}
