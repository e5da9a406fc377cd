import type { Probes } from '@vantage/contract';
import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext } from 'preact/hooks';

import { useService } from './router.tsx';
import { useLoad } from './use-load.ts';

const ProbesContext = createContext<Probes | undefined>(undefined);

const none: Probes = {};

/** The list of probes is loaded once for all views: what says where a probe is does not change while one looks. */
export function ProbesProvider({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const { client } = useService();
  const { value, error } = useLoad((signal) => client.probes({ signal }));
  return (
    <ProbesContext.Provider value={value ?? (error === undefined ? undefined : none)}>
      {children}
    </ProbesContext.Provider>
  );
}

/** Undefined until it is there; without any where it cannot be had. */
export function useProbes(): Probes | undefined {
  return useContext(ProbesContext);
}
