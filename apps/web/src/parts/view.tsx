import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface LazyView<Props> {
  /** The view, or a notice if its code cannot be loaded. */
  readonly View: (props: Props) => JSX.Element;
  /** Preloads the code. */
  readonly load: () => void;
}

/** Retry interval, for a service that is briefly unavailable. */
const RETRY_MS = 1_000;

/** A view whose code is loaded on demand. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyView<Props> {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      () => {
        // Permit another attempt.
        loading = undefined;
      },
    );
    return loading;
  };
  return {
    View: (props) => {
      const [isLoaded, setLoaded] = useState(loaded !== undefined);
      const [hasFailed, fail] = useState(false);
      useEffect(() => {
        // The code may have loaded between render and effect; the rendered state decides.
        if (isLoaded) return undefined;
        let isWanted = true;
        let timer: ReturnType<typeof setTimeout> | undefined;
        const want = async (): Promise<void> => {
          await begin();
          if (!isWanted) return;
          if (loaded !== undefined) return setLoaded(true);
          fail(true);
          timer = setTimeout(() => void want(), RETRY_MS);
        };
        void want();
        return () => {
          isWanted = false;
          clearTimeout(timer);
        };
      }, []);
      const Component = loaded;
      return Component === undefined ? <Awaited hasFailed={hasFailed} /> : <Component {...props} />;
    },
    load: () => void begin(),
  };
}

/** Loading may fail for good if a new release has replaced the files since the page was opened. */
function Awaited({ hasFailed }: { readonly hasFailed: boolean }): JSX.Element {
  return (
    <main class="page" aria-busy="true">
      <p class="note" role="status">
        {hasFailed ? 'This part of the page has not come yet. If it does not come soon, load the page again.' : ''}
      </p>
    </main>
  );
}
