export interface Throttle<T> {
  /** Notes a state; cheap. */
  readonly offer: (state: T) => void;
  /** Nothing is shown after it. */
  readonly close: () => void;
}

/** A run that is done before it shows nothing but its result. */
const PARTIAL_EVERY_MS = 250;

/** Shows the newest state at most once per interval, the first time an interval after the start. */
export function throttle<T>(show: (state: T) => void, everyMs: number = PARTIAL_EVERY_MS): Throttle<T> {
  let newest: { readonly state: T } | undefined;
  const timer = setInterval(() => {
    if (newest === undefined) return;
    const { state } = newest;
    newest = undefined;
    show(state);
  }, everyMs);
  return {
    offer: (state) => (newest = { state }),
    close: () => {
      clearInterval(timer);
      newest = undefined;
    },
  };
}
