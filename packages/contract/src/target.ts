import type { Failure } from './failure.ts';
import type { Family } from './formats.ts';

/** Purpose of a target; selects the port rules of the policy. */
export type TargetPurpose = 'icmp' | 'tcp' | 'udp' | 'http' | 'dns' | 'info';

export interface AdmissionRequest {
  /** Host name or address literal; canonicalised again by `admit`, even if the caller did so. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly purpose: TargetPurpose;
  /** Restricts the address family. Default: IPv4 if the name has an A record and the probe has IPv4, else IPv6. */
  readonly family?: Family | undefined;
}

/** A host that passed the policy, pinned to one address. The name is not resolved again. */
export interface Target {
  /** Canonical host. */
  readonly host: string;
  readonly address: string;
  readonly family: Family;
  /** All addresses of the name, checked by the policy, in answer order. */
  readonly addresses: readonly string[];
  /** Addresses in families that the probe supports, the pinned one first. Absent: the pinned one only. */
  readonly candidates?: readonly string[] | undefined;
  /** Resolution time; 0 for a literal. */
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

/** Checks, resolves and pins what a diagnostic measures. Rejects only with the reason of `signal`. */
export type Admit = (request: AdmissionRequest, signal: AbortSignal) => Promise<Admission>;

/** Lookups for display; their results are never connected to. */
export interface NameLookup {
  /** PTR names of an address, escaped and bounded; empty if none is known. */
  readonly reverse: (address: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Addresses of a name in one family; empty if it has none, null if that is not known. */
  readonly forward: (name: string, family: Family, signal: AbortSignal) => Promise<readonly string[] | null>;
}
