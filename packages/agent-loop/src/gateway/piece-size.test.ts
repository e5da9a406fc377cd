import { SCREENSHOT_PIECE_BYTES, SCREENSHOT_PIECES_IN_FLIGHT } from '@vantage/contract';
import { expect, it } from '@jest/globals';

import { createPieceSize } from './piece-size.ts';

/** Sends pieces over a simulated connection. @returns the time for which a result waits at the end, milliseconds */
function waitBehindPieces(bytesPerSecond: number, rttMs: number): { readonly waitMs: number; readonly bytes: number } {
  const size = createPieceSize(() => rttMs);
  const waitOf = (): number => (SCREENSHOT_PIECES_IN_FLIGHT * size.bytes() * 1_000) / bytesPerSecond;
  for (let piece = 0; piece < 50; piece += 1) size.acknowledged(rttMs + waitOf());
  return { waitMs: waitOf(), bytes: size.bytes() };
}

it.each([
  ['a modem', 7_000, 150],
  ['a mobile connection', 32_000, 80],
  ['a distant slow one', 16_000, 600],
])('a result waits for at most about a second behind the pieces on %s', (_name, bytesPerSecond, rttMs) => {
  expect(waitBehindPieces(bytesPerSecond, rttMs).waitMs).toBeLessThanOrEqual(1_200);
});

it.each([
  ['a fast connection', 10_000_000, 1],
  ['a satellite', 1_000_000, 700],
])('pieces have their full size on %s', (_name, bytesPerSecond, rttMs) => {
  expect(waitBehindPieces(bytesPerSecond, rttMs).bytes).toBe(SCREENSHOT_PIECE_BYTES);
});
