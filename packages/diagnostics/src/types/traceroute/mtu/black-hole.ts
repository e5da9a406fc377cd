import { pause } from '@vantage/timers';

import type { Answer } from './try-packet.ts';

/**
 * Sends a packet of `bytes` bytes, up to `tries` times while there is no answer, and more often if the probe stalls.
 * Undefined if packets or time did not suffice.
 *
 * @param proof set for a packet that is to prove a black hole: it is awaited as long as a late error may take, and for
 *   `small` answers to earlier packets do not count
 */
export type Try = (bytes: number, tries: number, proof?: 'small' | 'large') => Promise<Answer | undefined>;

export type TooBig = Extract<Answer, { readonly kind: 'too-big' }>;

/**
 * Sizes of packets: the smaller one is answered, by the target or a router that refuses it, the larger one vanishes.
 */
export interface Bracket {
  readonly answered: number;
  readonly vanished: number;
}

/** `cut`: no time or packets left; `unproved`: the target answers no echo requests, or loses packets of any size. */
export type Inconclusive = 'cut' | 'unproved';

/** Maximum wait for an answer, milliseconds: some routers delay their ICMP errors. */
export const MAX_WAIT_MS = 4_000;
/**
 * Pairs of packets, one of each size, required to claim that one size arrives and the next is lost. If packets of both
 * sizes were lost with the same probability, this result would have a probability of at most 1/65,000. The packets of a
 * pair are sent together, in an aperiodic order, so that a rate limit affects both sizes alike.
 */
const PROVING_PAIRS = ['large', 'small', 'small', 'large', 'small', 'large', 'large', 'small'] as const;
const PAIR_EVERY_MS = 250;

/** The pairs of a proof: which packet of each is sent first, and the time between two pairs. */
export interface Pairs {
  readonly first: readonly ('large' | 'small')[];
  readonly everyMs: number;
}

const ECHO_PAIRS: Pairs = { first: PROVING_PAIRS, everyMs: PAIR_EVERY_MS };

/**
 * Narrows the sizes between those that are answered and those that vanish, two sizes at a time, each with one packet.
 * The size that seems to vanish gets a second packet together with the next sizes.
 *
 * @param stopsAtRefusal ends with the first error of a router that refuses packets
 */
export async function narrow(
  attempt: Try,
  { answered, vanished }: Bracket,
  stopsAtRefusal: boolean,
): Promise<(Bracket & { readonly refusal?: TooBig }) | Inconclusive> {
  // Lost packets by size; two end the search at that size. The initial upper size starts at two, although after a
  // router's refusal only one may have been lost: the proof decides.
  const losses = new Map([[vanished, 2]]);
  let [low, high] = [answered, vanished];
  for (let isFirst = true; isFirst || high - low > 1 || losses.get(high)! < 2; isFirst = false) {
    const again = losses.get(high)! < 2 ? [high] : [];
    const sizes = [...(isFirst ? [low] : []), ...between(low, high), ...again];
    const answers = await Promise.all(sizes.map((bytes) => attempt(bytes, 1)));
    if (answers.includes(undefined)) return 'cut';
    for (const [index, bytes] of sizes.entries()) {
      if (answers[index]!.kind === 'silent') losses.set(bytes, (losses.get(bytes) ?? 0) + 1);
      else losses.delete(bytes);
    }
    const known = sizes.filter((_, index) => answers[index]!.kind !== 'silent');
    if (isFirst && known.length === 0) return 'unproved';
    low = Math.max(low, ...known);
    high = Math.min(...[...losses.keys()].filter((bytes) => bytes > low));
    const refusal = answers.find((answer) => answer?.kind === 'too-big');
    if (stopsAtRefusal && refusal !== undefined) return { answered: low, vanished: high, refusal };
  }
  return { answered: low, vanished: high };
}

/** Up to two sizes that divide the sizes between two others into equal parts. */
function between(low: number, high: number): readonly number[] {
  const third = Math.max(1, Math.floor((high - low) / 3));
  return [...new Set([low + third, high - third])].filter((bytes) => bytes > low && bytes < high);
}

/**
 * Proves by pairs of packets that one size is answered and a larger one vanishes. If a larger packet does not vanish
 * after all, its answer, or that it was not sent, is returned: the loss was random, or the router delays its errors.
 */
export async function prove(
  attempt: Try,
  { answered, vanished }: Bracket,
  signal: AbortSignal,
  { first: firsts, everyMs }: Pairs = ECHO_PAIRS,
): Promise<'proved' | Exclude<Answer, { readonly kind: 'silent' }> | Inconclusive> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const pairs = firsts.map(async (first, index) => {
    await pause(index * everyMs, ended).catch(() => undefined);
    if (ended.aborted) return undefined;
    const trySmall = (): ReturnType<Try> => attempt(answered, 1, 'small');
    const tryLarge = (): ReturnType<Try> => attempt(vanished, 1, 'large');
    const [one, other] = await Promise.all(first === 'small' ? [trySmall(), tryLarge()] : [tryLarge(), trySmall()]);
    const pair = first === 'small' ? { small: one, large: other } : { small: other, large: one };
    if (pair.small?.kind === 'silent' || pair.large?.kind !== 'silent') over.abort();
    return pair;
  });
  const seen = (await Promise.all(pairs)).filter((pair) => pair !== undefined);
  for (const { large } of seen) if (large !== undefined && large.kind !== 'silent') return large;
  if (seen.some(({ small }) => small?.kind === 'silent')) return 'unproved';
  const isProved = seen.length === firsts.length && seen.every(({ small, large }) => small && large);
  return isProved ? 'proved' : 'cut';
}
