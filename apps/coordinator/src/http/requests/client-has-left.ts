import type { Response } from 'express';

/**
 * True if the client has closed its connection, even if the close has not been read yet: after a stall of the process,
 * requests are read whose clients gave up long ago. A socket is read once per turn of the event loop, so the end of the
 * connection is read in a later turn than the request.
 */
export function clientHasLeft(response: Response): Promise<boolean> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve(response.destroyed || response.req.socket.readableEnded)));
  });
}
