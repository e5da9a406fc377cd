/** Time from the first job after a release until memory is released again. */
const AFTER_MS = 5_000;
/** Interval of retries while jobs run: a release would delay them, because it blocks the process for a millisecond. */
const AGAIN_MS = 250;
/** Longest wait for a moment without jobs, so that an agent that always has jobs keeps no more memory than others. */
const AT_LATEST_MS = 10_000;

/**
 * Returns memory to the system after jobs. V8 compiles the code of the checks in small blocks, which malloc keeps when
 * they are freed: 12 MiB of an agent.
 *
 * @param release returns what malloc keeps; undefined if that is not possible
 * @returns a function that runs a job
 */
export function releaseMemoryAfterJobs(
  release: (() => void) | undefined,
  { afterMs = AFTER_MS, againMs = AGAIN_MS, atLatestMs = AT_LATEST_MS } = {},
): (run: () => Promise<void>) => Promise<void> {
  if (release === undefined) return (run) => run();
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  let waitedMs = 0;
  const poll = (): void => {
    if (running > 0 && waitedMs < atLatestMs) {
      waitedMs += againMs;
      return pollIn(againMs);
    }
    [timer, waitedMs] = [undefined, 0];
    release();
  };
  const pollIn = (milliseconds: number): void => {
    timer = setTimeout(poll, milliseconds).unref();
  };
  return async (run) => {
    running += 1;
    if (timer === undefined) pollIn(afterMs);
    try {
      await run();
    } finally {
      running -= 1;
    }
  };
}
