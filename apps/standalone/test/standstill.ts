/** How long this process, and with it the machine, has stood still: time in which nobody could have kept a promise. */
export interface Standstill {
  /** Ends the watch; milliseconds. */
  readonly stop: () => number;
}

const LOOK_EVERY_MS = 20;
/** A timer that comes later than this was kept from running. */
const NOTICED_MS = 60;

export function watchStandstill(): Standstill {
  let lookedAt = performance.now();
  let totalMs = 0;
  const look = (): void => {
    const passedMs = performance.now() - lookedAt;
    if (passedMs > NOTICED_MS) totalMs += passedMs;
    lookedAt += passedMs;
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(looking);
      look();
      return totalMs;
    },
  };
}
