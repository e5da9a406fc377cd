import type { Response } from 'express';

import { createLiveList, type LiveList } from '../live-list.ts';

/** Reason of the signal when its response has closed: a new `DOMException` for each would take a stack trace. */
const gone = new Error('The response has closed.');

const openUntil = new WeakMap<AbortSignal, LiveList<AbortController>>();

/** @returns a signal that aborts when the response has ended, or its client has left, or the service stops */
export function untilGone(response: Response, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const remove = openOf(stopping).add(controller);
  response.once('close', () => {
    remove();
    controller.abort(gone);
  });
  if (stopping.aborted) controller.abort(stopping.reason);
  return controller.signal;
}

/**
 * The open responses, behind one listener of the signal: adding or removing a listener searches all listeners of a
 * signal, which takes long if each of many thousand responses has one.
 */
function openOf(stopping: AbortSignal): LiveList<AbortController> {
  const known = openUntil.get(stopping);
  if (known !== undefined) return known;
  const open = createLiveList<AbortController>();
  openUntil.set(stopping, open);
  stopping.addEventListener('abort', () => {
    for (const controller of open) controller.abort(stopping.reason);
  });
  return open;
}
