import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
}

/**
 * Loads something when the component appears, and again every so often while the page is seen.
 *
 * @param everyMs undefined: once
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    const ended = new AbortController();
    const once = (): void => {
      if (document.hidden) return;
      load(ended.signal).then(
        (value) => setLoaded({ value, error: undefined }),
        (error: unknown) => {
          if (!ended.signal.aborted) setLoaded(({ value }) => ({ value, error }));
        },
      );
    };
    once();
    const timer = everyMs === undefined ? undefined : setInterval(once, everyMs);
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  }, []);
  return loaded;
}
