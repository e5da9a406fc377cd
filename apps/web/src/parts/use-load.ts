import { useEffect, useState } from 'preact/hooks';

import { isFinalRefusal, retryAfterMs } from '../faults.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  /** Of the last attempt. */
  readonly error: unknown;
}

const RETRY_MS = 5000;

/**
 * Loads something when the component appears, or is first seen, and again every so often while the page is seen. What fails
 * is tried again.
 *
 * @param everyMs undefined: until it is there
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = (): void => {
      // A page that was opened behind another is looked at later.
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
