import { isFinalRefusal } from '@vantage/client';
import { useEffect, useState } from 'preact/hooks';

import { retryAfterMs } from '../faults.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  /** Error of the last attempt. */
  readonly error: unknown;
}

const RETRY_MS = 5000;

/**
 * Loads data when the component is mounted and the page is visible, then at an interval while it is visible. Failures
 * are retried, except final refusals.
 *
 * @param everyMs undefined: load once
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = (): void => {
      // A page opened in a background tab loads when it becomes visible.
      if (document.hidden) return document.addEventListener('visibilitychange', once, { once: true, signal });
      load(signal).then(
        (value) => {
          if (signal.aborted) return;
          setLoaded({ value, error: undefined });
          if (everyMs !== undefined) timer = setTimeout(once, everyMs);
        },
        (error: unknown) => {
          if (signal.aborted) return;
          setLoaded(({ value }) => ({ value, error }));
          if (!isFinalRefusal(error)) timer = setTimeout(once, retryAfterMs(error, everyMs ?? RETRY_MS));
        },
      );
    };
    once();
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, []);
  return loaded;
}
