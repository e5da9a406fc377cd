import { SCREENSHOT_PIECE_BYTES } from '@vantage/contract';

/** The size of the pieces of screenshots: results and pings wait for the pieces that are in flight. */
export interface PieceSize {
  readonly bytes: () => number;
  /** To be called when a piece was acknowledged, with the time since it was sent. */
  readonly acknowledged: (ms: number) => void;
}

/** Minimum size: with smaller pieces, a busy gateway, which acknowledges late, would slow down a fast connection. */
const LEAST_BYTES = 4 * 1_024;
const FIRST_BYTES = 8 * 1_024;
/** Pieces grow if the acknowledgement takes less than this beyond a round trip. */
const FAST_MS = 500;
/** Pieces shrink if the acknowledgement takes more than this beyond a round trip. */
const SLOW_MS = 1_000;

/** @param rttMs round trip of the idle connection, which is subtracted: a distant gateway is no slow connection */
export function createPieceSize(rttMs: () => number): PieceSize {
  let bytes = FIRST_BYTES;
  return {
    bytes: () => bytes,
    acknowledged: (ms) => {
      const waitedMs = ms - rttMs();
      if (waitedMs > SLOW_MS) bytes = Math.max(LEAST_BYTES, bytes / 2);
      else if (waitedMs < FAST_MS) bytes = Math.min(SCREENSHOT_PIECE_BYTES, bytes * 2);
    },
  };
}
