import { describeCaller, type Caller } from '../caller.ts';
import { callerKey } from '../limits/axes.ts';
import { HttpProblem } from '../problem.ts';

/** Limits of concurrent event streams. */
export interface StreamBounds {
  /** Maximum per API key, or per address without a key; IPv6 addresses count by /64. */
  readonly perClient: number;
  readonly total: number;
}

export interface StreamPlaces {
  /**
   * Acquires a slot for a stream.
   *
   * @returns a function that releases the slot
   * @throws HttpProblem 429 or 503
   */
  readonly take: (caller: Caller) => () => void;
  readonly taken: () => number;
}

/** Headers of a refused stream. Most checks, and so their streams, last seconds; monitors share the slots. */
const RETRY_AFTER = { 'Retry-After': '5' };

export function createStreamPlaces({ perClient, total }: StreamBounds): StreamPlaces {
  const byClient = new Map<string, number>();
  let taken = 0;

  return {
    take: (caller) => {
      const client = callerKey(caller);
      const own = byClient.get(client) ?? 0;
      if (own >= perClient) {
        const detail = `${own} event streams are open for ${describeCaller(caller)}; that is the limit.`;
        throw new HttpProblem('too-many-streams', detail, { headers: RETRY_AFTER });
      }
      if (taken >= total) {
        throw new HttpProblem('unavailable', 'The service has as many event streams open as it can serve.', {
          headers: RETRY_AFTER,
        });
      }
      taken += 1;
      byClient.set(client, own + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        taken -= 1;
        const left = (byClient.get(client) ?? 1) - 1;
        if (left === 0) byClient.delete(client);
        else byClient.set(client, left);
      };
    },
    taken: () => taken,
  };
}
