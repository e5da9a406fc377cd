import { isFromNameServer, uncachedName, type Query } from '@vantage/contract/dns-message';
import { linkSignal, readFirstTimer } from '@vantage/timers';

import { readAnswer } from './stub-answer.ts';
import { readOrNothing } from './stub-message.ts';
import { askServer, type ResolverAddress } from './stub-transport.ts';

/** Distinguishes a resolver that answers nothing from one that answers every question except that about the name. */
export interface ControlQuestion {
  /** Called when a server is asked about the name; the control query follows if there is no answer for some time. */
  readonly watch: (server: ResolverAddress) => void;
  /** True if a server answered the control question, and had the time to answer the one about the name. */
  readonly isAnswered: () => boolean;
  /**
   * Asks the servers at once, twice if there is no answer. True if one answers, or if the name is a top-level domain,
   * for which there is no control question.
   */
  readonly answersNow: (servers: readonly ResolverAddress[]) => Promise<boolean>;
}

/**
 * Multiples of the first wait for a server: the time until the control question is sent, and the time that the name's
 * servers must have had before their silence counts.
 */
const [UNTIL_SENT, LEAST] = [2 / 3, 4 / 3] as const;

/**
 * Asks for a made-up name in the same top-level domain, whose servers are probably up. The query requests signatures,
 * which reveal an answer that the resolver derives from its cache (RFC 8198).
 *
 * @param timeoutMs first wait for a server
 * @param signal aborts when the query about the name is over
 */
export function createControlQuestion(
  about: Omit<Query, 'id'>,
  timeoutMs: number,
  signal: AbortSignal,
): ControlQuestion {
  const name = uncachedName(about.name);
  const askedAtMs = new Map<ResolverAddress, number>();
  const answering = new Set<ResolverAddress>();
  const ask = async (server: ResolverAddress, until: AbortSignal): Promise<void> => {
    if (name === undefined) return;
    const query = { ...about, name, edns: { dnssecOk: true, nsid: false } };
    try {
      if (reachesOthers(await askServer(server, query, until), query)) answering.add(server);
    } catch {
      // Without an answer, the server may be down: this proves nothing about the name.
    }
  };
  const answersNow = async (server: ResolverAddress): Promise<boolean> => {
    for (let round = 0; round < 2 && !answering.has(server); round++) {
      const { signal: bounded, release } = linkSignal(signal, timeoutMs);
      await ask(server, bounded);
      release();
    }
    return answering.has(server);
  };
  return {
    watch: (server) => {
      if (name === undefined || askedAtMs.has(server)) return;
      askedAtMs.set(server, performance.now());
      const stopTimer = readFirstTimer(() => void ask(server, signal), timeoutMs * UNTIL_SENT);
      signal.addEventListener('abort', stopTimer, { once: true });
    },
    isAnswered: () => [...answering].some((server) => performance.now() - askedAtMs.get(server)! >= timeoutMs * LEAST),
    // For a top-level domain there is no control question, so the resolver counts as working.
    answersNow: async (servers) => name === undefined || (await Promise.all(servers.map(answersNow))).includes(true),
  };
}

function reachesOthers(bytes: Uint8Array, query: Omit<Query, 'id'>): boolean {
  const answer = readAnswer(bytes, query);
  const message = readOrNothing(bytes);
  return (answer.ok || answer.final) && message !== undefined && isFromNameServer(message);
}
