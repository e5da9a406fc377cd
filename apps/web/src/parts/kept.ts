import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';

/** Renders its child again only when one of the values has changed. */
export function Kept({ of, children }: { readonly of: readonly unknown[]; readonly children: VNode }): VNode {
  return useMemo(() => children, of);
}
