import type { Duplex } from 'node:stream';

import { STATUS_CODES } from '../node-http.ts';

/** Refuses a WebSocket request with an HTTP response, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: 400 | 429 | 503, retryAfterMs?: number): void {
  const retry = retryAfterMs === undefined ? '' : `Retry-After: ${Math.max(1, Math.ceil(retryAfterMs / 1_000))}\r\n`;
  socket.on('error', () => undefined);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retry}Content-Length: 0\r\nConnection: close\r\n\r\n`,
    () => socket.destroy(),
  );
}
