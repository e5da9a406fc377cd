import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface LazyView<Props> {
  /** The view; a placeholder until its code is loaded. */
  readonly View: (props: Props) => JSX.Element;
  /** Preloads the code; resolves when it is there or has failed. */
  readonly load: () => Promise<void>;
  readonly isLoaded: () => boolean;
}

/** Retry interval, for a service that is briefly unavailable. */
const RETRY_MS = 1_000;

/**
 * A view whose code is loaded on demand.
 *
 * @param Placeholder shown until the code is loaded
 */
export function lazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Placeholder: (props: { readonly hasFailed: boolean }) => JSX.Element | null = Awaited,
): LazyView<Props> {
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
      return Component === undefined ? <Placeholder hasFailed={hasFailed} /> : <Component {...props} />;
    },
    load: begin,
    isLoaded: () => loaded !== undefined,
  };
}

/**
 * Placeholder until the code is loaded. Loading may fail for good if a new release has replaced the files since the
 * page was opened.
 */
function Awaited({ hasFailed }: { readonly hasFailed: boolean }): JSX.Element {
  return (
    <main class="page" aria-busy="true">
      <p class="note" role="status">
        {hasFailed ? 'This part of the page has not come yet. If it does not come soon, load the page again.' : ''}
      </p>
    </main>
  );
}
