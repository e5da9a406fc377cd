/**
 * The extended errors about DNSSEC: algorithms, keys, signatures, and NSEC or NSEC3 records (RFC 8914 section 4 and the
 * registry).
 */
const dnssecErrors: ReadonlySet<number> = new Set([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 25, 27]);

export function isDnssecError(code: number): boolean {
  return dnssecErrors.has(code);
}

/** Stale Answer and Stale NXDOMAIN Answer. */
const staleErrors: ReadonlySet<number> = new Set([3, 19]);

/** True for an extended error that marks an answer from the cache of a resolver whose time to live is over (RFC 8767). */
export function isStaleError(code: number): boolean {
  return staleErrors.has(code);
}
