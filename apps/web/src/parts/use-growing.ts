import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

/** Grows to a number by a step per frame, because a long list in one frame would block the page. Immediate in print. */
export function useGrowing(all: number, step: number): number {
  const isPrinting = usePrinting();
  const [count, setCount] = useState(step);
  useEffect(() => {
    if (count >= all) return undefined;
    const frame = requestAnimationFrame(() => setCount(count + step));
    return () => cancelAnimationFrame(frame);
  }, [count, all]);
  return isPrinting ? all : Math.min(count, all);
}

/** True while the page is printed: lists are complete on paper. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = (): void => setPrinting(true);
    const end = (): void => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

/** Renders its child again only when one of the values has changed, so that a step of growth renders new parts only. */
export function Kept({ of, children }: { readonly of: readonly unknown[]; readonly children: VNode }): VNode {
  return useMemo(() => children, of);
}
