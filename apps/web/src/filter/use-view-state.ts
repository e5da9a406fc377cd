import { useEffect, useState } from 'preact/hooks';

import { readView, writeView, type ViewState } from './view-state.ts';

/** The view in the URL of the page; a change replaces the query and adds no entry to the history. */
export function useViewState(): readonly [ViewState, (change: Partial<ViewState>) => void] {
  const [view, setView] = useState(() => readView(location.search));
  useEffect(() => {
    const { pathname } = location;
    // Browsers limit the rate of changes; the URL follows the last one.
    const timer = setTimeout(() => {
      const search = writeView(view);
      // After a navigation the query is that of another page, also before this one is removed.
      if (pathname === location.pathname && search !== location.search)
        history.replaceState(history.state, '', `${location.pathname}${search}`);
    }, 100);
    return () => clearTimeout(timer);
  }, [view]);
  return [view, (change) => setView((before) => ({ ...before, ...change }))];
}
