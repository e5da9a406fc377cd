import { setTimeout as sleep } from 'node:timers/promises';

/** Tries until there is an answer, for at most ten seconds. */
export async function eventually<T>(attempt: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = performance.now() + 10_000;
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() > until) throw new Error('It did not come to be within ten seconds.');
    await sleep(10);
  }
}
