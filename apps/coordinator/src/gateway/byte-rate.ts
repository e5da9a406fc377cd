/** Bounds what one connection sends, with room for bursts. */
export interface ByteRate {
  /** @returns for how long nothing more should be read, milliseconds; 0 while the rate holds */
  readonly take: (bytes: number) => number;
}

export interface ByteRateOptions {
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
  /** Monotonic. */
  readonly nowMs?: () => number;
}

/** A token bucket. */
export function createByteRate({
  bytesPerSecond,
  burstBytes,
  nowMs = (): number => performance.now(),
}: ByteRateOptions): ByteRate {
  let left = burstBytes;
  let filledMs = nowMs();
  return {
    take: (bytes) => {
      const now = nowMs();
      left = Math.min(burstBytes, left + ((now - filledMs) / 1_000) * bytesPerSecond) - bytes;
      filledMs = now;
      return left >= 0 ? 0 : Math.ceil((-left / bytesPerSecond) * 1_000);
    },
  };
}
