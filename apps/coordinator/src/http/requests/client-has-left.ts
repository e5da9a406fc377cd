import { setImmediate } from 'node:timers/promises';

import type { Response } from 'express';

/**
 * True if the client has closed its connection, also if that has arrived unread: after a stall of the process, requests
 * are read whose clients gave up long ago. The socket is read once per turn of the event loop, the end after the request.
 */
export async function clientHasLeft(response: Response): Promise<boolean> {
  await setImmediate();
  await setImmediate();
  return response.destroyed || response.req.socket.readableEnded;
}
