import { uncachedName, type Query } from '@vantage/contract/dns-message';
import { readFirstTimer } from '@vantage/timers';

import { readAnswer } from './stub-answer.ts';
import { askServer, type ResolverAddress } from './stub-transport.ts';

/** Tells a resolver that answers nothing from one that answers all but the question about a name. */
export interface ControlQuestion {
  /** Called when a server is asked about the name; the control question follows if there is no answer for some time. */
  readonly watch: (server: ResolverAddress) => void;
  /** True if a server answered the control question, and had the time to answer the one about the name. */
  readonly isAnswered: () => boolean;
}

/** Shares of the first wait for a server: before the control question is sent, and for the name's servers to answer. */
const [UNTIL_SENT, LEAST] = [2 / 3, 4 / 3] as const;

/**
 * Asks for a made-up name in the same top-level domain: its servers are up, and a resolver must reach them to answer,
 * unless it derives that the name does not exist from cached NSEC records (RFC 8198).
 *
 * @param timeoutMs first wait for a server
 * @param signal aborts when the question about the name is over
 */
export function createControlQuestion(
  about: Omit<Query, 'id'>,
  timeoutMs: number,
  signal: AbortSignal,
): ControlQuestion {
  const name = uncachedName(about.name);
  const askedAtMs = new Map<ResolverAddress, number>();
  const answering = new Set<ResolverAddress>();
  const ask = async (server: ResolverAddress, query: Omit<Query, 'id'>): Promise<void> => {
    try {
      const answer = readAnswer(await askServer(server, query, signal, () => undefined), query);
      if (answer.ok || answer.final) answering.add(server);
    } catch {
      // Without an answer, the server may be down: this proves nothing about the name.
    }
  };
  return {
    watch: (server) => {
      if (name === undefined || askedAtMs.has(server)) return;
      askedAtMs.set(server, performance.now());
      const query = { ...about, name };
      const stopTimer = readFirstTimer(() => void ask(server, query), timeoutMs * UNTIL_SENT);
      signal.addEventListener('abort', stopTimer, { once: true });
    },
    isAnswered: () => [...answering].some((server) => performance.now() - askedAtMs.get(server)! >= timeoutMs * LEAST),
  };
}
