import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface Later<Props> {
  /** The view, or an empty page until its code is there. */
  readonly View: (props: Props) => JSX.Element;
  /** Begins to load the code, so that it is there when it is wanted. */
  readonly load: () => void;
}

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
      const [, setLoaded] = useState(loaded !== undefined);
      useEffect(() => {
        if (loaded === undefined) void begin().then(() => setLoaded(true));
      }, []);
      const Component = loaded;
      return Component === undefined ? <main class="page" aria-busy="true" /> : <Component {...props} />;
    },
    load: () => void begin(),
  };
}
