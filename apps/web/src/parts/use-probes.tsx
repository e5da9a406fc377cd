import type { Probes } from '@vantage/contract';
import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext } from 'preact/hooks';

import { useService } from './router.tsx';
import { useLoad } from './use-load.ts';

const ProbesContext = createContext<Probes | undefined>(undefined);

const none: Probes = {};

/** Loads the list of probes once for all views. */
export function ProbesProvider({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const { client } = useService();
  const { value, error } = useLoad((signal) => client.probes({ signal }));
  return (
    <ProbesContext.Provider value={value ?? (error === undefined ? undefined : none)}>
      {children}
    </ProbesContext.Provider>
  );
}

/** The list of probes; undefined while it is loading, empty as long as it could not be loaded. */
export function useProbes(): Probes | undefined {
  return useContext(ProbesContext);
}
