import { randomBytes } from 'node:crypto';

import { addKey, startFuzzBed, type FuzzBed } from '../fuzz/bed.ts';

export interface KeyReport {
  readonly guesses: number;
  /** Guesses with the answer 401: they were looked up. Others were refused by the limit of the address before (429). */
  readonly lookedUp: number;
  readonly accepted: number;
  /** Requests with the valid key, sent from the same address at the same time, that were refused. */
  readonly rightRefused: number;
  /** Log lines and responses that contain the secret of a key. */
  readonly disclosures: readonly string[];
  readonly serverErrors: number;
  readonly longestMs: number;
}

/** Requests per address, minute and endpoint. */
const LIMIT = 20;
const PARALLEL = 8;
/** One guess out of this many is followed by a request with the valid key. */
const RIGHT_EVERY = 25;

/** Guesses keys from one address at a real coordinator that logs every request. */
export async function guessKeys(guesses: number): Promise<KeyReport> {
  const limits = { RATE_LIMIT_CHECK: String(LIMIT), RATE_LIMIT_PROBES: String(LIMIT), RATE_LIMIT_ME: String(LIMIT) };
  const bed = await startFuzzBed({ ...limits, LOG_LEVEL: 'trace' });
  try {
    return await guessAt(bed, guesses);
  } finally {
    await bed.stop();
  }
}

/** Upper bound of look-ups from one address: one limit per endpoint and minute. */
export function mostLookedUp(minutes: number): number {
  return 3 * LIMIT * (Math.ceil(minutes) + 1);
}

async function guessAt({ coordinator, redisUrl }: FuzzBed, guesses: number): Promise<KeyReport> {
  const key = addKey(redisUrl, 'check,read');
  const texts = Array.from({ length: guesses }, (_, index) => guess(key, index));
  const seen: string[] = [];
  const counts = { lookedUp: 0, accepted: 0, rightRefused: 0, serverErrors: 0, longestMs: 0 };
  const ask = async (text: string, index: number): Promise<number> => {
    const startedAt = performance.now();
    const headers = { Authorization: `Bearer ${text}` };
    const post = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
    const init = index % 3 === 2 ? { ...post, body: JSON.stringify({ type: text }) } : { headers };
    const answer = await fetch(`${coordinator.url}${['/probes', '/me', '/check'][index % 3]}`, init);
    seen.push(await answer.text());
    counts.longestMs = Math.max(counts.longestMs, performance.now() - startedAt);
    if (answer.status >= 500) counts.serverErrors += 1;
    return answer.status;
  };
  while ((await ask(key, 0)) !== 200);
  const queue = texts.entries();
  const worker = async (): Promise<void> => {
    for (const [index, text] of queue) {
      const status = await ask(text, index);
      if (status === 401) counts.lookedUp += 1;
      else if (status !== 429) counts.accepted += 1;
      if (index % RIGHT_EVERY === 0 && (await ask(key, index % 2)) !== 200) counts.rightRefused += 1;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  const disclosures = disclosing([...seen, ...coordinator.errors], [key, ...texts]);
  return { guesses, ...counts, disclosures };
}

const END_LENGTH = 20;

/** The texts that contain the last 20 characters of a key, with or without the rest of it. */
export function disclosing(texts: readonly string[], keys: readonly string[]): readonly string[] {
  const ends = new Set(keys.map((key) => key.slice(-END_LENGTH)));
  const hasEnd = (word: string): boolean => {
    for (let from = 0; from + END_LENGTH <= word.length; from += 1) {
      if (ends.has(word.slice(from, from + END_LENGTH))) return true;
    }
    return false;
  };
  return texts.filter((text) => (text.match(/[\w-]+/g) ?? []).some(hasEnd));
}

/** Half of the guesses begin like the valid key: with its visible prefix. */
function guess(key: string, index: number): string {
  const [, prefix = ''] = key.split('_');
  const secret = randomBytes(32).toString('base64url');
  return `vtg_${index % 2 === 0 ? prefix : 'abcd1234'}_${secret}`;
}
