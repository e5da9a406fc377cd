import type { FailureCode } from '@vantage/contract';

import type { ProbeResult } from './probe-result.ts';

/** True if the name was not resolved, and neither the name nor the probe is the known cause. Not for dns checks. */
export function isUnresolved({ result: { error } }: ProbeResult): boolean {
  if (error?.phase !== 'resolve' || ofName.has(error.code)) return false;
  return error.source !== 'target' && error.source !== 'probe';
}

/** Answers about the name. Agents of earlier releases may name the resolver as their source. */
const ofName: ReadonlySet<FailureCode> = new Set(['dns_nxdomain', 'dns_no_address']);

/**
 * Probes whose resolvers failed, which is no evidence about the target. SERVFAIL may be about the name, because of its
 * name servers or signatures: it is evidence if no probe resolved the name, or if two or more, half of those that have
 * either, agree.
 */
export function withFailedResolver(probeResults: readonly ProbeResult[]): ReadonlySet<ProbeResult> {
  const unresolved = probeResults.filter(isUnresolved);
  const servfails = unresolved.filter(({ result }) => result.error?.code === 'dns_servfail');
  const resolved = probeResults.filter(isResolved);
  const isAboutName =
    resolved.length === 0 || (servfails.length >= 2 && servfails.length * 2 >= servfails.length + resolved.length);
  return new Set(isAboutName ? unresolved.filter((probeResult) => !servfails.includes(probeResult)) : unresolved);
}

/** True if the probe got an answer about the name: an address, or that there is none. */
function isResolved({ result: { resolvedIp, error } }: ProbeResult): boolean {
  return (error?.phase === 'resolve' && ofName.has(error.code)) || (resolvedIp !== null && resolvedIp !== undefined);
}
