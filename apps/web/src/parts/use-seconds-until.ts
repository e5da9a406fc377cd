import { useEffect, useState } from 'preact/hooks';

/**
 * Whole seconds until a time, counted down to 0.
 *
 * @param at milliseconds of `performance.now()`
 */
export function useSecondsUntil(at: number): number {
  const left = (): number => Math.max(0, Math.ceil((at - performance.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => {
      setSeconds(left());
      if (left() === 0) clearInterval(timer);
    }, 250);
    setSeconds(left());
    return () => clearInterval(timer);
  }, [at]);
  return seconds;
}
