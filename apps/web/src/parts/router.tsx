import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { routeOf, type Route } from '../route.ts';
import type { Service } from '../service.ts';

interface Router {
  readonly route: Route;
  readonly service: Service;
  /** Navigates to a path below the base URL without a page load. */
  readonly go: (path: string) => void;
  /** Grows with each navigation, also to the view that is shown. */
  readonly visit: number;
  /** Changes the query of the URL without a navigation. */
  readonly replaceQuery: (query: string) => void;
}

const RouterContext = createContext<Router | undefined>(undefined);

export function useRouter(): Router {
  return useContext(RouterContext)!;
}

export function useService(): Service {
  return useRouter().service;
}

export function RouterProvider(props: {
  readonly service: Service;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { service } = props;
  const [{ route, visit }, setView] = useState(() => ({ route: routeOf(location, service.basePath), visit: 0 }));
  const shown = useRef(hereWithoutHash());
  const show = useCallback(() => {
    shown.current = hereWithoutHash();
    setView((before) => ({ route: routeOf(location, service.basePath), visit: before.visit + 1 }));
  }, [service]);
  const replaceQuery = useCallback((query: string) => {
    history.replaceState(history.state, '', `${location.pathname}${query}`);
    shown.current = hereWithoutHash();
  }, []);
  const go = useCallback(
    (path: string) => {
      history.pushState(null, '', service.path(path));
      show();
      scrollTo(0, 0);
      // A followed link may no longer exist: move keyboard and screen-reader focus to the new view.
      document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
    },
    [service],
  );
  useEffect(() => {
    // A link to a part of the page is no navigation.
    const onPop = (): void => void (hereWithoutHash() !== shown.current && show());
    addEventListener('popstate', onPop);
    return () => removeEventListener('popstate', onPop);
  }, [service]);
  const router = useMemo(() => ({ route, service, go, visit, replaceQuery }), [route, service, go, visit]);
  return <RouterContext.Provider value={router}>{props.children}</RouterContext.Provider>;
}

function hereWithoutHash(): string {
  return `${location.pathname}${location.search}`;
}

/**
 * Runs a change of the URL after a pause, since browsers limit the rate of changes. Does not run it if the path or the
 * query has changed by then, as after a navigation whose old page is not removed yet.
 *
 * @returns a function that cancels it
 */
export function afterPause(pauseMs: number, run: () => void): () => void {
  const { pathname, search } = location;
  const timer = setTimeout(() => {
    if (pathname === location.pathname && search === location.search) run();
  }, pauseMs);
  return () => clearTimeout(timer);
}

interface LinkProps {
  /** A path below the base URL. */
  readonly to: string;
  readonly class?: string;
  readonly 'aria-current'?: 'page' | undefined;
  /** Name for screen readers, if the text alone is ambiguous. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** A link to another view. Clicks with a modifier or another button are left to the browser. */
export function Link(props: LinkProps): JSX.Element {
  const { to, children, label, ...rest } = props;
  const { go, service } = useRouter();
  return (
    <a
      {...rest}
      aria-label={label}
      href={service.path(to)}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
