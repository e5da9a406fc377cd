import type { Query } from '@vantage/contract/dns-message';
import { linkSignal, readFirstTimer } from '@vantage/timers';

import { isReached, UNREACHABLE } from './most-telling.ts';
import { probeShortage } from './probe-shortage.ts';
import { failure, readAnswer, type StubAnswer } from './stub-answer.ts';
import { askServer, type Overheard, type ResolverAddress } from './stub-transport.ts';

export type Question = Omit<Query, 'id'>;

/** Wait for the answer to a query before it is sent again, milliseconds. */
const AGAIN_MS = 500;

/**
 * Sends a query to a server, and again while there is no answer about the name. Never rejects. EDNS provides large
 * answers and extended errors; some servers, forwarders and firewalls drop such a query, fail, refuse, or answer
 * garbage (RFC 6891 section 7). So the query is also sent without EDNS if there is no quick answer, or none about the
 * name. Packets get lost: while there is no answer it is sent again, in turn with EDNS and without.
 *
 * @param waitMs after this time nothing is sent again; the first query without EDNS is sent regardless
 * @param overheard as of `askServer`, for each query
 */
export async function askRepeatedly(
  server: ResolverAddress,
  query: Question,
  waitMs: number,
  signal: AbortSignal,
  overheard: Overheard,
): Promise<StubAnswer> {
  const { signal: either, abort } = linkSignal(signal);
  const plain = { ...query, edns: null };
  const asked = [askOnceAsIs(server, query, either, overheard)] as [Promise<StubAnswer>, ...Promise<StubAnswer>[]];
  try {
    const first = await orLater(asked[0], AGAIN_MS);
    if (first !== undefined && (first.ok || first.final || !isReached(first))) return first;
    asked.push(askOnceAsIs(server, plain, either, overheard));
    for (let sent = 2; first === undefined && sent * AGAIN_MS < waitMs; sent++) {
      const known = await orLater(firstAboutName(asked), AGAIN_MS);
      if (known !== undefined) return known;
      asked.push(askOnceAsIs(server, sent % 2 === 0 ? query : plain, either, overheard));
    }
    return await firstAboutName(asked);
  } finally {
    abort();
  }
}

/** @returns the value of the promise; undefined if it takes longer */
async function orLater<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const stopTimer = readFirstTimer(() => resolve(undefined), milliseconds);
  try {
    return await Promise.race([promise, late]);
  } finally {
    stopTimer();
  }
}

/** Resolves with the first answer that is about the name; if there is none, with the answer to the first query. */
async function firstAboutName(asked: readonly [Promise<StubAnswer>, ...Promise<StubAnswer>[]]): Promise<StubAnswer> {
  const telling = asked.map(async (each) => {
    const answer = await each;
    return answer.ok || answer.final ? answer : Promise.reject(new Error(answer.failure.message));
  });
  try {
    return await Promise.any(telling);
  } catch {
    return asked[0];
  }
}

async function askOnceAsIs(
  server: ResolverAddress,
  query: Question,
  signal: AbortSignal,
  overheard: Overheard,
): Promise<StubAnswer> {
  try {
    return readAnswer(await askServer(server, query, signal, overheard), query);
  } catch (error) {
    const unreached = failure(query.name, UNREACHABLE, 'was not resolved: no resolver could be reached.');
    return { ok: false, final: false, failure: probeShortage(error, server, query.name) ?? unreached };
  }
}
