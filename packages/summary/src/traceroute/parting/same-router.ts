import type { Step } from '../trace.ts';

/**
 * Private, shared, unique local and link-local addresses (RFC 1918, 6598, 4193, 3927, 4291): many networks have them.
 */
const LOCAL =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|f[cd]|fe[89ab])/i;

/** True if one router alone has the address: in the network of a local target, local addresses are unique. */
function isUnique(ip: string, target: string | null): boolean {
  return !LOCAL.test(ip) || (target !== null && LOCAL.test(target));
}

/** True if a router answered at both hops, on paths to this target. */
export function isSameRouter(a: Step, b: Step, target: string | null): boolean {
  return a.routers.some(({ ip }) => isUnique(ip, target) && b.routers.some((one) => one.ip === ip));
}
