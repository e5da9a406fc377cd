/** A signal that follows another one. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Aborts `signal`, which no longer follows the other one. */
  readonly abort: () => void;
  /** Removes the time limit, and `signal` no longer follows the other one. */
  readonly release: () => void;
}

/** Reason of `abort`: one for all, because each new one would take a stack trace. */
const ended = new Error('The work has ended.');

/**
 * Creates a signal that aborts with another one, and after a time if one is given. Unlike `AbortSignal.any` and
 * `AbortSignal.timeout` it leaves no timer and no weak reference behind, if `abort` or `release` is called.
 */
export function linkSignal(other: AbortSignal, milliseconds?: number): LinkedSignal {
  const controller = new AbortController();
  const timer =
    milliseconds === undefined
      ? undefined
      : setTimeout(() => {
          release();
          controller.abort(new DOMException('The time is up.', 'TimeoutError'));
        }, milliseconds).unref();
  const follow = (): void => {
    release();
    controller.abort(other.reason);
  };
  const release = (): void => {
    clearTimeout(timer);
    other.removeEventListener('abort', follow);
  };
  other.addEventListener('abort', follow);
  if (other.aborted) follow();
  return {
    signal: controller.signal,
    release,
    abort: () => {
      release();
      controller.abort(ended);
    },
  };
}
