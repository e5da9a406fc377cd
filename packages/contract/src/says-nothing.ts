interface Reason {
  readonly code?: unknown;
  readonly phase?: unknown;
  readonly source?: unknown;
}

/** Failures of name resolution that may be about the name, by its servers or signatures, or that are answers about it. */
const mayBeOfName: ReadonlySet<unknown> = new Set([
  'dns_nxdomain',
  'dns_no_address',
  'dns_servfail',
  'dns_servers_silent',
]);

/**
 * True for the `error` of a result that says nothing about the target: the probe or its resolver failed. SERVFAIL, and
 * silence about the name alone, may be about the name: the summary decides this by the results of all probes.
 */
export function saysNothing(error: Reason | null | undefined): boolean {
  const { code, phase, source } = error ?? {};
  if (source === 'probe' || (typeof code === 'string' && code.startsWith('dns_resolver_'))) return true;
  return phase === 'resolve' && source !== 'target' && !mayBeOfName.has(code);
}
