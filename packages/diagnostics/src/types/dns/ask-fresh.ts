import { setTimeout as delay } from 'node:timers/promises';

import { isStaleError } from '@vantage/contract/dns-message';

import { ask, type AskedResolver, type AskOptions } from './ask.ts';
import type { NameServer, PreparedQuery } from './transport/exchange.ts';

/** Milliseconds for the name servers to answer a resolver that asks them after it has answered. */
const REFRESH_MS = 1_000;

const NOERROR = 0;
const NXDOMAIN = 3;

/**
 * Queries a resolver, and again if its answer has expired. Some resolvers give an expired answer at once and refresh it
 * afterwards (RFC 8767; unbound with `serve-expired-client-timeout: 0`), so only the second one shows that they could
 * not.
 */
export async function askFresh(
  server: NameServer,
  prepared: PreparedQuery,
  options: AskOptions,
  signal: AbortSignal,
): Promise<AskedResolver> {
  const asked = await ask(server, prepared, options, signal);
  if (!isStale(asked)) return asked;
  await delay(REFRESH_MS, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return asked;
  const again = await ask(server, prepared, options, signal);
  const rcode = again.answer?.message.rcode;
  return rcode === NOERROR || rcode === NXDOMAIN ? again : asked;
}

function isStale({ answer }: AskedResolver): boolean {
  return answer?.message.edns?.extendedErrors.some(({ code }) => isStaleError(code)) === true;
}
