import type { JSX } from 'preact';
import { useEffect, useReducer } from 'preact/hooks';

import { serviceNow } from './service-clock.ts';
import { ago } from '../format.ts';

const EVERY_MS = 5_000;

/** The age of a time, such as `5 minutes ago`, which stays true on a page that is left open. */
export function Age({ of }: { readonly of: string }): JSX.Element {
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(render, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return <>{ago(of, serviceNow())}</>;
}
