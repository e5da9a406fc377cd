/**
 * Runs `poll` with this pause before each run; does not keep the process alive. `stop` waits for the run in progress.
 */
export function startPolling(pollMs: number, poll: () => Promise<void>): { readonly stop: () => Promise<void> } {
  let running = Promise.resolve();
  let stopped = false;
  let timer = setTimeout(turn, pollMs).unref();

  function turn(): void {
    running = poll().then(() => {
      if (!stopped) timer = setTimeout(turn, pollMs).unref();
    });
  }

  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
