import { setTimeout as sleep } from 'node:timers/promises';

const AGAIN_MS = 500;

/**
 * `fetch`, repeated while the answer is 503: the service accepted nothing, as when a busy machine holds Redis up for
 * seconds. The caller's own time limit bounds it.
 */
export const fetchAccepted: typeof fetch = async (input, init) => {
  for (;;) {
    // The body of a request object can be read once only.
    const response = await fetch(input instanceof Request ? input.clone() : input, init);
    if (response.status !== 503) return response;
    await response.body?.cancel();
    await sleep(AGAIN_MS);
  }
};
