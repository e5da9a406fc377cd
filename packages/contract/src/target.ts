import type { Failure } from './failure.ts';
import type { Family } from './words.ts';

/** What is about to be sent to a target; it decides which ports the policy refuses. */
export type TargetPurpose = 'icmp' | 'tcp' | 'udp' | 'http' | 'dns' | 'info';

export interface AdmissionRequest {
  /** A host name or an address literal; canonicalised again by the admission, whoever did so before. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly purpose: TargetPurpose;
  /** Only this family; without it IPv4 where the name has an A record and the probe has IPv4, else IPv6. */
  readonly family?: Family | undefined;
}

/** A host that passed the policy, pinned to one address. From here on nothing resolves the name again. */
export interface Target {
  /** Canonical host. */
  readonly host: string;
  readonly address: string;
  readonly family: Family;
  /** Every address that the name resolved to and that the policy saw, in the order of the answers. */
  readonly addresses: readonly string[];
  /** Those of them that the probe can connect to by their family, the pinned one first; absent: the pinned one alone. */
  readonly candidates?: readonly string[] | undefined;
  /** Time the resolution took; 0 for a literal. */
  readonly resolveMs: number;
}

export type Admission =
  | { readonly admitted: true; readonly target: Target }
  | {
      readonly admitted: false;
      readonly failure: Failure;
      readonly addresses: readonly string[];
      readonly resolveMs: number;
    };

/** The only door to name resolution that a diagnostic has. Rejects only with the reason of `signal`. */
export type Admit = (request: AdmissionRequest, signal: AbortSignal) => Promise<Admission>;

/** Look-ups whose answers are shown, never connected to. */
export interface NameLookup {
  /** The PTR names of an address, escaped and bounded; empty when there are none or the resolver fails. */
  readonly reverse: (address: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** The addresses of a name in one family; empty when it has none, null where that is not known: the resolver failed. */
  readonly forward: (name: string, family: Family, signal: AbortSignal) => Promise<readonly string[] | null>;
}
