/** Bounds a rate, with room for bursts. */
export interface TokenBucket {
  /** @returns milliseconds for which to pause; 0 while the rate is within the limit */
  readonly take: (tokens: number) => number;
  /** Tokens at hand; negative while a pause is due. */
  readonly left: () => number;
}

export interface TokenBucketOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** Monotonic clock; default `performance.now`. */
  readonly nowMs?: () => number;
}

export function createTokenBucket({
  perSecond,
  burst,
  nowMs = (): number => performance.now(),
}: TokenBucketOptions): TokenBucket {
  let left = burst;
  let filledMs = nowMs();
  const fill = (): void => {
    const now = nowMs();
    left = Math.min(burst, left + ((now - filledMs) / 1_000) * perSecond);
    filledMs = now;
  };
  return {
    take: (tokens) => {
      fill();
      left -= tokens;
      return left >= 0 ? 0 : Math.ceil((-left / perSecond) * 1_000);
    },
    left: () => {
      fill();
      return left;
    },
  };
}
