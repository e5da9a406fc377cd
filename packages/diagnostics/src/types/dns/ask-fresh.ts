import { setTimeout as delay } from 'node:timers/promises';

import { isStaleError } from '@vantage/contract/dns-message';

import { queryServer, type ResolverOutcome, type QueryOptions } from './query-server.ts';
import type { NameServer, PreparedQuery } from './transport/query.ts';

/**
 * Milliseconds before each further query, for the name servers to answer a resolver that asks them after it has answered:
 * less than the shortest time to live, after which the refreshed answer has expired, too.
 */
const REFRESH_MS = [250, 750] as const;

const NOERROR = 0;
const NXDOMAIN = 3;

/**
 * Queries a resolver, and again if its answer has expired, up to twice. Some resolvers give an expired answer at once and
 * refresh it afterwards (RFC 8767; unbound with `serve-expired-client-timeout: 0`), so only a later one shows that they
 * could not.
 */
export async function askFresh(
  server: NameServer,
  prepared: PreparedQuery,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<ResolverOutcome> {
  let asked = await queryServer(server, prepared, options, signal);
  for (const pauseMs of REFRESH_MS) {
    if (!isStale(asked)) return asked;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return asked;
    const again = await queryServer(server, prepared, options, signal);
    const rcode = again.answer?.message.rcode;
    if (rcode !== NOERROR && rcode !== NXDOMAIN) return asked;
    asked = again;
  }
  return asked;
}

function isStale({ answer }: ResolverOutcome): boolean {
  return answer?.message.edns?.extendedErrors.some(({ code }) => isStaleError(code)) === true;
}
