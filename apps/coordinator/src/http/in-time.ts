/** A timer that fires this late was held up by this process or its machine, and so was what it waits for. */
const HELD_UP_MS = 50;
/** What has come meanwhile, or comes as slowly, is given this long again; and as often as it is held up, up to a bound. */
const RESPITE_MS = 500;
const MAX_RESPITES = 4;

/**
 * Runs a function after a time in which something else should have happened.
 *
 * @returns a function that keeps it from running
 */
export function afterPatience(milliseconds: number, run: () => void): () => void {
  let respites = 0;
  let timer: NodeJS.Timeout | undefined;
  const arm = (waitMs: number): void => {
    const due = performance.now() + waitMs;
    timer = setTimeout(() => {
      if (performance.now() - due < HELD_UP_MS || respites === MAX_RESPITES) {
        run();
        return;
      }
      respites += 1;
      arm(RESPITE_MS);
    }, waitMs);
  };
  arm(milliseconds);
  return () => clearTimeout(timer);
}

/**
 * Waits for work no longer than a time. Work that ends later ends unseen.
 *
 * @throws what `late` makes
 */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = afterPatience(milliseconds, () => reject(late()));
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel();
  }
}
