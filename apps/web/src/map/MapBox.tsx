import type { ComponentChildren, JSX } from 'preact';

import { map } from './world-map.ts';

/** The box of the map, which has its size before its outlines are loaded. */
export function MapBox({ children }: { readonly children?: ComponentChildren }): JSX.Element {
  return (
    <svg class="land" viewBox={`0 0 ${map.width} ${map.height}`} width={map.width} height={map.height}>
      {children}
    </svg>
  );
}
