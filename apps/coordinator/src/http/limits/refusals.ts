/** Enough for a flood of addresses: some 10 MB at the worst. */
const MAX_CLIENTS = 100_000;

/** Clients that a limit refused, until it would admit them again. */
export interface Refusals {
  readonly remember: (client: string, resetMs: number) => void;
  /** Milliseconds until the client would be admitted; undefined where it may be now. */
  readonly leftMs: (client: string) => number | undefined;
}

/**
 * A count falls with time alone, so a client that was refused is refused until then, whoever counts it.
 *
 * @param nowMs monotonic
 */
export function createRefusals(nowMs: () => number, maxClients = MAX_CLIENTS): Refusals {
  const until = new Map<string, number>();
  return {
    remember: (client, resetMs) => {
      until.delete(client);
      until.set(client, nowMs() + resetMs);
      const [oldest] = until.size > maxClients ? until.keys() : [];
      if (oldest !== undefined) until.delete(oldest);
    },
    leftMs: (client) => {
      const at = until.get(client);
      if (at === undefined) return undefined;
      const left = at - nowMs();
      if (left > 0) return left;
      until.delete(client);
      return undefined;
    },
  };
}
