import type { Family, TargetPurpose } from '@vantage/contract';

import { parseAddress } from '../addresses/address.ts';
import { canonicalizeHost, type CanonicalHost } from '../hosts/canonical-host.ts';
import { canonicalizeUrl } from '../hosts/canonical-url.ts';
import { malformed, type Malformed, type MalformedCode } from '../hosts/malformed.ts';
import { evaluateName } from './evaluate-name.ts';
import { evaluateAddress, type TargetPolicy } from './policy.ts';
import { evaluatePort } from './evaluate-port.ts';
import type { Refusal, RefusalCode } from './refusal.ts';

export interface TargetRequest {
  /** `hostKind` and `purpose` of the check type. */
  readonly hostKind: 'host' | 'url' | 'name';
  readonly purpose: TargetPurpose;
  /** The host as the client wrote it. */
  readonly host: string;
  /** Destination port; for a URL it is part of the text. */
  readonly port?: number | undefined;
  readonly family?: Family | undefined;
}

export type TargetDecision =
  | {
      readonly verdict: 'accepted';
      /** The canonical text: a host, a URL or a name, according to `hostKind`. Later stages use only this. */
      readonly host: string;
      readonly canonical: CanonicalHost;
      readonly port: number | undefined;
    }
  /** The text is malformed: 400. */
  | { readonly verdict: 'malformed'; readonly code: MalformedCode; readonly message: string }
  /** The text is well-formed and the policy refuses it: 403. */
  | { readonly verdict: 'refused'; readonly code: RefusalCode; readonly message: string };

/**
 * Decides everything that needs no name resolution: syntax, literals, rules for names, the port. An agent decides again
 * before it sends packets (`createAdmission`).
 */
export function evaluateTarget(request: TargetRequest, policy: TargetPolicy): TargetDecision {
  const read = readHost(request, policy);
  if (!read.ok) return { verdict: 'malformed', code: read.code, message: read.message };
  const { host, canonical, port } = read;
  if (request.family !== undefined && canonical.kind !== 'name' && canonical.kind !== `ipv${request.family}`) {
    const { code, message } = malformed('family_mismatch');
    return { verdict: 'malformed', code, message };
  }
  const refused = evaluateHost(canonical, request, policy) ?? evaluateUsedPort(request, port);
  return refused === undefined ? { verdict: 'accepted', host, canonical, port } : { verdict: 'refused', ...refused };
}

interface ReadHost {
  readonly ok: true;
  readonly host: string;
  readonly canonical: CanonicalHost;
  readonly port: number | undefined;
}

function readHost({ hostKind, host, port }: TargetRequest, policy: TargetPolicy): ReadHost | Malformed {
  if (hostKind === 'url') {
    const url = canonicalizeUrl(host, policy.dotless);
    return url.ok ? { ok: true, host: url.url, canonical: url.host, port: url.port } : url;
  }
  const read = canonicalizeHost(host, hostKind, policy.dotless);
  return read.ok ? { ok: true, host: read.canonical.text, canonical: read.canonical, port } : read;
}

function evaluateHost(canonical: CanonicalHost, request: TargetRequest, policy: TargetPolicy): Refusal | undefined {
  const address = canonical.kind === 'name' ? undefined : parseAddress(canonical.text);
  if (address === undefined) {
    return evaluateName(canonical.text, request.hostKind === 'name' ? 'question' : 'connect', policy);
  }
  const standing = evaluateAddress(address, policy);
  return typeof standing === 'string' ? undefined : standing;
}

/** A queried name has no port: the resolver has one, and is a separate target. */
function evaluateUsedPort({ hostKind, purpose }: TargetRequest, port: number | undefined): Refusal | undefined {
  return hostKind === 'name' ? undefined : evaluatePort(purpose, port);
}
