/** Cost of an attempt by its outcome. */
const costs = {
  /** The agent was admitted or is known, or Redis was unavailable. */
  identified: 0,
  /** The connection closed before the outcome was known, for example because the gateway stalled. */
  abandoned: 1,
  refused: 64,
} as const;
export type AttemptEnd = keyof typeof costs;

/**
 * Cost per address and minute from which further attempts are refused before any cryptography: that of thirty refusals.
 */
const MOST_COST = 30 * costs.refused;
const WINDOW_MS = 60_000;
/** Concurrent handshakes per address: bounds the cost of failures before the first is counted. */
const AT_ONCE = 64;
/** Maximum number of remembered addresses. */
const MAX_ADDRESSES = 50_000;

interface State {
  open: number;
  cost: number;
  /** Start of the window on the monotonic clock, milliseconds. */
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
 * Limits failed identifications per address in this process, against guessing of tokens and floods of signatures.
 * Successes cost nothing, because many agents may share an address.
 *
 * @param nowMs monotonic clock
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
    // Removes states from the oldest on: those whose window is over, and others while there are too many.
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
