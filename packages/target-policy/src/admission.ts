import type { Admission, AdmissionRequest, Admit, Failure, Family, Target } from '@vantage/contract';
import { roundMs } from '@vantage/contract';

import { formatAddress, parseAddress, type Address } from './addresses/address.ts';
import { canonicalizeHost } from './hosts/canonical-host.ts';
import { evaluateName } from './rules/evaluate-name.ts';
import {
  compileOwnNetwork,
  evaluateBroadcast,
  evaluateOwn,
  evaluateRedis,
  evaluateRedisName,
  type ProtectedEndpoint,
  type OwnAddresses,
  type OwnNetwork,
} from './own/own-network.ts';
import { evaluateAddress, type TargetPolicy } from './rules/policy.ts';
import { effectivePort, evaluatePort } from './rules/evaluate-port.ts';
import { refusal, type Refusal } from './rules/refusal.ts';
import { allAddresses, resolutionFailure, resolveOnce, type Resolution } from './resolver/resolution.ts';
import type { NameResolver } from './resolver/resolver.ts';

export interface AdmissionOptions {
  readonly policy: TargetPolicy;
  readonly resolver: NameResolver;
  /**
   * Addresses and networks of the agent; called at each admission, so it must be cheap. Returns the same object until
   * they change.
   */
  readonly ownAddresses: () => OwnAddresses;
  /**
   * The servers of the agent's Redis, or its proxy or gateway: those configured, and the addresses at which they were
   * reached. No exception of the policy admits one.
   */
  readonly redis: () => readonly ProtectedEndpoint[];
  readonly haveIpv4: () => boolean;
  readonly haveIpv6: () => boolean;
  /** Wait for an AAAA answer after an A answer that will be used, milliseconds; default: `LATE_AAAA_MS`. */
  readonly lateAaaaMs?: number | undefined;
}

/**
 * The decisive admission: canonicalises again, checks name and port, resolves once, checks every address, and pins the
 * first of the preferred family: IPv4 if the name has an A record and the probe has IPv4, else IPv6. With `family`,
 * only that family is queried. One refused address refuses the name.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const ownNetwork = compileWhenChanged(options);
  return async (request, signal) => {
    signal.throwIfAborted();
    const { policy } = options;
    const read = canonicalizeHost(request.host, 'host', policy.dotless);
    if (!read.ok) return refuse(read);
    const port = effectivePort(request.purpose, request.port);
    const portRefusal = evaluatePort(request.purpose, port);
    if (portRefusal !== undefined) return refuse(portRefusal);

    const host = read.canonical.text;
    const own = ownNetwork();
    const deny = (address: Address): Refusal | undefined => evaluateAll(address, request, port, policy, own);
    if (read.canonical.kind !== 'name') return admitLiteral(host, request, deny, options);

    const nameRefusal = evaluateName(host, 'connect', policy) ?? evaluateRedisName(host, port, own);
    if (nameRefusal !== undefined) return refuse(nameRefusal);
    return admitName(host, request, deny, options, signal);
  };
}

/** Compiles again only when the addresses or the servers have changed. */
function compileWhenChanged({ ownAddresses, redis }: AdmissionOptions): () => OwnNetwork {
  let last: { readonly own: OwnAddresses; readonly endpoints: string; readonly compiled: OwnNetwork } | undefined;
  return () => {
    const own = ownAddresses();
    const endpoints = JSON.stringify(redis());
    if (last?.own !== own || last.endpoints !== endpoints) {
      last = { own, endpoints, compiled: compileOwnNetwork(own, redis()) };
    }
    return last.compiled;
  };
}

type Deny = (address: Address) => Refusal | undefined;

function admitLiteral(text: string, { family }: AdmissionRequest, deny: Deny, options: AdmissionOptions): Admission {
  const address = parseAddress(text)!;
  const refused = deny(address);
  if (refused !== undefined) return refuse(refused, [text]);
  if (family !== undefined && family !== address.family) return fail(noSuchFamily(text, family), [text]);
  if (!isUsable(address, options)) return fail(familyUnavailable(address.family), [text]);
  return admit({ host: text, address: text, family: address.family, addresses: [text], resolveMs: 0 });
}

async function admitName(
  name: string,
  { family }: AdmissionRequest,
  deny: Deny,
  options: AdmissionOptions,
  signal: AbortSignal,
): Promise<Admission> {
  const startedMs = performance.now();
  const request = { name, family, prefersIpv4: options.haveIpv4(), lateAaaaMs: options.lateAaaaMs };
  const resolution = await resolveOnce(request, options.resolver, signal);
  const resolveMs = roundMs(performance.now() - startedMs);
  const addresses = allAddresses(resolution);
  if (addresses.length === 0) return fail(ofFamily(resolutionFailure(resolution, name), family), addresses, resolveMs);

  for (const text of addresses) {
    const refused = evaluateAnswer(name, text, deny);
    if (refused !== undefined) return refuse(refused, addresses, resolveMs);
  }
  const usable = usableOf(resolution, options);
  const [pinned] = usable;
  if (pinned === undefined) {
    return fail(unusable(resolution, parseAddress(addresses[0]!)!.family), addresses, resolveMs);
  }
  const candidates = usable.map(formatAddress);
  return admit({ host: name, address: candidates[0]!, family: pinned.family, addresses, candidates, resolveMs });
}

/** Adds the only family that was queried: the name may have addresses of the other one. */
function ofFamily(failure: Failure, family: Family | undefined): Failure {
  return failure.code === 'dns_no_address' && family !== undefined ? { ...failure, family } : failure;
}

/** Why no address is usable: a resolver failure for the other family, if there is one, else the missing family. */
function unusable(resolution: Resolution, family: Family): Failure {
  const other = resolution[family === 4 ? 6 : 4];
  return other.ok || other.failure.source === 'target' ? familyUnavailable(family) : other.failure;
}

/** Addresses of the families that the probe supports, IPv4 first. */
function usableOf(resolution: Resolution, options: AdmissionOptions): readonly Address[] {
  return ([4, 6] as const).flatMap((family) => {
    const answer = resolution[family];
    if (!answer.ok) return [];
    return answer.addresses.flatMap((text) => {
      const address = parseAddress(text);
      return address !== undefined && isUsable(address, options) ? [address] : [];
    });
  });
}

function evaluateAnswer(name: string, text: string, deny: Deny): Refusal | undefined {
  const address = parseAddress(text);
  if (address === undefined) return refusal('address_special', `${name} resolves to something that is no address.`);
  const refused = deny(address);
  return refused && { ...refused, message: `${name} resolves to a refused address: ${refused.message}` };
}

/**
 * Why an address is refused; undefined if it is not. The agent's Redis comes first, because no exception admits it;
 * then the operator's lists, whose exceptions override the agent's own lists, except for broadcast addresses.
 */
function evaluateAll(
  address: Address,
  request: AdmissionRequest,
  port: number | undefined,
  policy: TargetPolicy,
  own: OwnNetwork,
): Refusal | undefined {
  const redis = evaluateRedis(address, port, own);
  if (redis !== undefined) return redis;
  const standing = evaluateAddress(address, policy);
  if (standing === 'allowed') return evaluateBroadcast(address, own);
  return standing === 'public' ? evaluateOwn(address, request.purpose, own) : standing;
}

/** True if the probe has connectivity in the family of the address; loopback needs none. */
function isUsable(address: Address, { haveIpv4, haveIpv6 }: AdmissionOptions): boolean {
  if (address.family === 4) return address.value >> 24n === 127n || haveIpv4();
  return address.value === 1n || haveIpv6();
}

function admit(target: Target): Admission {
  return { admitted: true, target };
}

function refuse(
  { message }: { readonly message: string },
  addresses: readonly string[] = [],
  resolveMs = 0,
): Admission {
  return fail({ code: 'target_refused_by_policy', phase: 'resolve', source: 'probe', message }, addresses, resolveMs);
}

function fail(failure: Failure, addresses: readonly string[], resolveMs = 0): Admission {
  return { admitted: false, failure, addresses, resolveMs };
}

function noSuchFamily(text: string, family: Family): Failure {
  const message = `${text} is not an IPv${family} address.`;
  return { code: 'dns_no_address', phase: 'resolve', source: 'target', message };
}

function familyUnavailable(family: Family): Failure {
  const message = `The target has IPv${family} addresses only, and this probe has no IPv${family} address with a default route.`;
  return { code: 'family_unavailable', phase: 'resolve', source: 'probe', message };
}
