import { setTimeout as sleep } from 'node:timers/promises';

/** Retries until there is a value, for at most forty seconds, because a machine may be busy or stall. */
export async function eventually<T>(attempt: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = performance.now() + 40_000;
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() > until) throw new Error('It did not come to be within forty seconds.');
    await sleep(10);
  }
}
