import { isUnique } from '../../ends-before-target.ts';
import type { Step } from '../trace.ts';

/**
 * True if a router answered at both hops of paths to this target; one whose address is not `isUnique` does not count.
 */
export function isSameRouter(a: Step, b: Step, target: string | null): boolean {
  return a.routers.some(({ ip }) => isUnique(ip, target) && b.routers.some((one) => one.ip === ip));
}
