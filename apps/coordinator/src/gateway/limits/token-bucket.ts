/** Bounds a rate, with room for bursts. */
export interface TokenBucket {
  /** @returns milliseconds for which to pause; 0 while the rate is within the limit */
  readonly take: (tokens: number) => number;
}

export interface TokenBucketOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** Monotonic. */
  readonly nowMs?: () => number;
}

export function createTokenBucket({
  perSecond,
  burst,
  nowMs = (): number => performance.now(),
}: TokenBucketOptions): TokenBucket {
  let left = burst;
  let filledMs = nowMs();
  return {
    take: (tokens) => {
      const now = nowMs();
      left = Math.min(burst, left + ((now - filledMs) / 1_000) * perSecond) - tokens;
      filledMs = now;
      return left >= 0 ? 0 : Math.ceil((-left / perSecond) * 1_000);
    },
  };
}
