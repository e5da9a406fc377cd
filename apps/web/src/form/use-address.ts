import { useEffect } from 'preact/hooks';

import type { Selection } from './use-selection.ts';
import { SELECTION } from './where/saved-groups.ts';

/** Keeps the selection of probes in the URL of the page, for a reload or a bookmark; adds no entry to the history. */
export function useSelectionInAddress(selection: Selection): void {
  // Runs after every render, because a link to the start page keeps the form, but not the query.
  useEffect(() => {
    // Browsers limit the rate of changes; the URL follows the last one.
    const timer = setTimeout(() => {
      const search = searchWith(selection, location.search);
      if (search !== location.search) history.replaceState(history.state, '', `${location.pathname}${search}`);
    }, 100);
    return () => clearTimeout(timer);
  });
}

function searchWith(selection: Selection, search: string): string {
  const query = new URLSearchParams(search);
  const changed = SELECTION.filter((name) => selection[name].trim() !== (query.get(name) ?? '').trim());
  if (changed.length === 0) return search;
  for (const name of changed) {
    if (selection[name].trim() === '') query.delete(name);
    else query.set(name, selection[name].trim());
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
