import { useEffect, useState } from 'preact/hooks';

import { afterPause } from '../parts/router.tsx';
import { readView, writeView, type ViewState } from './view-state.ts';

/** Pause before the URL is changed. */
const PAUSE_MS = 100;

/** The view in the URL of the page; a change replaces the query and adds no entry to the history. */
export function useViewState(): readonly [ViewState, (change: Partial<ViewState>) => void] {
  const [view, setView] = useState(() => readView(location.search));
  useEffect(() => {
    const write = (): void => {
      const search = writeView(view);
      if (search !== location.search) history.replaceState(history.state, '', `${location.pathname}${search}`);
    };
    return afterPause(PAUSE_MS, write);
  }, [view]);
  return [view, (change) => setView((before) => ({ ...before, ...change }))];
}
