import type { Response } from 'express';
import { Readable } from 'node:stream';

import type { Completion, LiveCheck } from '../../checks/read/live-check.ts';
import { retryFrame, type EventFrames } from './event-frames.ts';
import { PIECE_BYTES, RETRY_MS, streamHeaders, STUCK_MS } from './send-events.ts';

/** Encodes the reconnection delay and all events of a completed check. */
export function wholeOf(frames: EventFrames, live: LiveCheck, id: string, completion: Completion): Buffer {
  const probes = live.since(-1).map((state) => frames.probe(id, state));
  return Buffer.concat([retryFrame(RETRY_MS), ...probes, frames.completed(completion)]);
}

/** Sends compressed events in pieces. A response whose buffer does not drain for `stuckMs` is closed. */
export function sendWhole(response: Response, bytes: Buffer, encoding: string, stuckMs = STUCK_MS): void {
  // The client may have left meanwhile, or a 503 was sent.
  if (response.destroyed || response.headersSent) return;
  response.vary('Accept-Encoding').writeHead(200, { ...streamHeaders, 'Content-Encoding': encoding });
  const stuck = setTimeout(() => response.destroy(), stuckMs);
  response.on('drain', () => stuck.refresh()).once('close', () => clearTimeout(stuck));
  Readable.from(piecesOf(bytes)).pipe(response);
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES);
}
