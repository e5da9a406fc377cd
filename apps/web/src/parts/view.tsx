import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface Later<Props> {
  /** The view, or a page that says so where its code does not come. */
  readonly View: (props: Props) => JSX.Element;
  /** Begins to load the code, so that it is there when it is wanted. */
  readonly load: () => void;
}

/** A page that nobody answers for a moment is not lost. */
const RETRY_MS = 1_000;

/** A view whose code is not part of the first load. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): Later<Props> {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      () => {
        // The next who wants it tries again.
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
        // The code may have come since the empty page was drawn: what counts is what was drawn.
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

/** Code that does not come may be that of a release which has been replaced since the page was opened. */
function Awaited({ hasFailed }: { readonly hasFailed: boolean }): JSX.Element {
  return (
    <main class="page" aria-busy="true">
      <p class="note" role="status">
        {hasFailed ? 'This part of the page has not come yet. If it does not come soon, load the page again.' : ''}
      </p>
    </main>
  );
}
