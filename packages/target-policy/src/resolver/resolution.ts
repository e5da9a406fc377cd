import type { Failure, Family } from '@vantage/contract';
import { linkSignal, readFirstTimer } from '@vantage/timers';

import type { AddressAnswer, NameResolver } from './resolver.ts';

/**
 * Addresses of a name by family, or the failure of the query; empty for a family that was not queried, or whose late
 * answer was not awaited.
 */
export interface Resolution {
  readonly 4: AddressAnswer;
  readonly 6: AddressAnswer;
}

/**
 * Wait for the AAAA answer after an A answer that will be used, or for the A answer after NXDOMAIN for AAAA. Some servers
 * do not answer AAAA queries, which must not use up the time of the check.
 */
const LATE_AAAA_MS = 1_000;

const NONE: AddressAnswer = { ok: true, addresses: [] };

export interface ResolutionRequest {
  readonly name: string;
  /** Queries this family only. */
  readonly family?: Family | undefined;
  /** True if an A record is preferred. */
  readonly prefersIpv4: boolean;
  /** Wait for an AAAA answer after an A answer that will be used, milliseconds; default: `LATE_AAAA_MS`. */
  readonly lateAaaaMs?: number | undefined;
}

/**
 * Queries the A and AAAA records of a name once, or only those of `family`.
 *
 * @throws the reason of `signal`
 */
export async function resolveOnce(
  { name, family, prefersIpv4, lateAaaaMs = LATE_AAAA_MS }: ResolutionRequest,
  resolver: NameResolver,
  signal: AbortSignal,
): Promise<Resolution> {
  if (family === 4) return { 4: await resolver.addresses(name, 4, signal), 6: NONE };
  if (family === 6) return { 4: NONE, 6: await onlyIpv6(name, resolver, signal) };

  const late = linkSignal(signal);
  const ipv6 = resolver.addresses(name, 6, late.signal).catch(() => NONE);
  try {
    const ipv4 = await resolver.addresses(name, 4, signal);
    const decided = prefersIpv4 && ipv4.ok && ipv4.addresses.length > 0;
    const stopTimer = decided ? readFirstTimer(late.abort, lateAaaaMs) : undefined;
    const resolution = { 4: ipv4, 6: await ipv6 };
    stopTimer?.();
    if (ipv4.ok || ipv4.failure.code !== 'dns_servers_silent') signal.throwIfAborted();
    return resolution;
  } finally {
    late.release();
  }
}

/**
 * Queries the AAAA records alone. Some servers answer NXDOMAIN to that although the name has A records (RFC 4074 section
 * 4.2), which are queried then: such a name has no IPv6 address, but exists.
 */
async function onlyIpv6(name: string, resolver: NameResolver, signal: AbortSignal): Promise<AddressAnswer> {
  const ipv6 = await resolver.addresses(name, 6, signal);
  if (ipv6.ok || ipv6.failure.code !== 'dns_nxdomain') return ipv6;
  const { signal: bounded, release } = linkSignal(signal, LATE_AAAA_MS);
  const ipv4 = await resolver.addresses(name, 4, bounded).catch(() => ipv6);
  release();
  return ipv4.ok ? NONE : ipv6;
}

/** Every address of the answers, A before AAAA. */
export function allAddresses(resolution: Resolution): readonly string[] {
  return [resolution[4], resolution[6]].flatMap((answer) => (answer.ok ? answer.addresses : []));
}

/**
 * Why there is no address. NXDOMAIN applies to both families; a resolver failure is more informative than NODATA of the
 * other family.
 */
export function resolutionFailure(resolution: Resolution, name: string): Failure {
  const failures = [resolution[4], resolution[6]].flatMap((answer) => (answer.ok ? [] : [answer.failure]));
  return (
    failures.find(({ code }) => code === 'dns_nxdomain') ??
    failures.find(({ code }) => code !== 'dns_no_address') ??
    noAddress(name)
  );
}

function noAddress(name: string): Failure {
  return {
    code: 'dns_no_address',
    phase: 'resolve',
    source: 'target',
    message: `${name} has no address of the family asked for.`,
  };
}
