/** How an attempt ended, and how much of the limit that uses. */
const costs = {
  /** The agent has the key of its probe. */
  identified: 0,
  /** The agent left before it had identified itself, as its attempts at a gateway that stalled do. No signature was verified. */
  abandoned: 1,
  refused: 64,
} as const;
export type AttemptEnd = keyof typeof costs;

/** Thirty refusals of one address a minute; each further attempt is refused before any cryptography. */
const MOST_COST = 30 * costs.refused;
const WINDOW_MS = 60_000;
/** Handshakes of one address at the same time: what its failures can cost before the first of them is known. */
const AT_ONCE = 64;
/** Some 10 MB at the worst. */
const MAX_ADDRESSES = 50_000;

interface State {
  open: number;
  cost: number;
  /** Begin of the window of the cost. */
  since: number;
}

export type Attempt =
  | { readonly admitted: true; /** Ends the attempt, once. */ readonly end: (how: AttemptEnd) => void }
  | { readonly admitted: false; readonly retryAfterMs: number };

export interface AttemptLimit {
  /**
   * Begins the handshake of a connection.
   *
   * @param network address of the agent, or its /64: see `axesOf`
   */
  readonly begin: (network: string) => Attempt;
}

/**
 * Limits failed identifications by address, in this process: tokens cannot be guessed, and signatures are not verified at
 * the speed of the line. Successes are free, so that any number of agents can share an address.
 *
 * @param nowMs monotonic
 */
export function createAttemptLimit(nowMs = (): number => performance.now()): AttemptLimit {
  const states = new Map<string, State>();

  const stateOf = (network: string): State => {
    const now = nowMs();
    const known = states.get(network);
    if (known !== undefined && (known.open > 0 || now - known.since < WINDOW_MS)) {
      if (now - known.since >= WINDOW_MS) Object.assign(known, { cost: 0, since: now });
      return known;
    }
    const state = { open: 0, cost: 0, since: now };
    states.delete(network);
    states.set(network, state);
    // Oldest first.
    for (const [other, { open, since }] of states) {
      const isOver = open === 0 && now - since >= WINDOW_MS;
      if (!isOver && states.size <= MAX_ADDRESSES) break;
      if (other !== network) states.delete(other);
    }
    return state;
  };

  return {
    begin: (network) => {
      const state = stateOf(network);
      if (state.cost >= MOST_COST) {
        return { admitted: false, retryAfterMs: Math.ceil(state.since + WINDOW_MS - nowMs()) };
      }
      if (state.open >= AT_ONCE) return { admitted: false, retryAfterMs: 1_000 };
      state.open += 1;
      let isOpen = true;
      return {
        admitted: true,
        end: (how) => {
          if (!isOpen) return;
          isOpen = false;
          state.open -= 1;
          state.cost += costs[how];
        },
      };
    },
  };
}
