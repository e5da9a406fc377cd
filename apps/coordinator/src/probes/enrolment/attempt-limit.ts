/** Failures a minute of one address; each further attempt is refused before any cryptography. */
const FAILURES = 30;
const WINDOW_MS = 60_000;
/** Handshakes of one address at the same time: what its failures can cost before the first of them is known. */
const AT_ONCE = 64;
/** Some 10 MB at the worst. */
const MAX_ADDRESSES = 50_000;

interface State {
  open: number;
  failures: number;
  /** Begin of the window of the failures. */
  since: number;
}

export type Attempt =
  | { readonly admitted: true; /** Ends the attempt, once. */ readonly end: (succeeded: boolean) => void }
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
      if (now - known.since >= WINDOW_MS) Object.assign(known, { failures: 0, since: now });
      return known;
    }
    const state = { open: 0, failures: 0, since: now };
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
      if (state.failures >= FAILURES) {
        return { admitted: false, retryAfterMs: Math.ceil(state.since + WINDOW_MS - nowMs()) };
      }
      if (state.open >= AT_ONCE) return { admitted: false, retryAfterMs: 1_000 };
      state.open += 1;
      let isOpen = true;
      return {
        admitted: true,
        end: (succeeded) => {
          if (!isOpen) return;
          isOpen = false;
          state.open -= 1;
          if (!succeeded) state.failures += 1;
        },
      };
    },
  };
}
