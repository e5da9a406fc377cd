import type { Response } from 'express';

/**
 * True if the client has closed its connection: after a stall of the process, requests are read whose clients gave up
 * long ago. Waits two turns of the event loop, in which Node can read an end that has arrived behind the request.
 */
export function clientHasLeft(response: Response): Promise<boolean> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(() => resolve(response.destroyed || response.req.socket.readableEnded)));
  });
}
