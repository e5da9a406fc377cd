import { isUnique } from '../../ends-before-target.ts';
import type { Step } from '../trace.ts';

/** True if a router answered at both hops, on paths to this target. */
export function isSameRouter(a: Step, b: Step, target: string | null): boolean {
  return a.routers.some(({ ip }) => isUnique(ip, target) && b.routers.some((one) => one.ip === ip));
}
