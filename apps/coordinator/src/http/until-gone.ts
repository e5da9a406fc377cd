import { linkSignal } from '@vantage/timers';
import type { Response } from 'express';

/** @returns a signal that aborts when the response has ended, or its client has left, or the service stops */
export function untilGone(response: Response, stopping: AbortSignal): AbortSignal {
  const { signal, abort } = linkSignal(stopping);
  response.once('close', abort);
  return signal;
}
