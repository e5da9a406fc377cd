import data from '../data/special-ranges.json' with { type: 'json' };

/** One row of the table of special-purpose prefixes. */
export interface RangeRow {
  readonly cidr: string;
  readonly name: string;
  readonly rfc: string;
  readonly refuse: boolean;
  readonly reason: string;
}

/** An address pattern: matches if `address & mask` equals `value`. IPv6 only. */
export interface PatternRow {
  readonly name: string;
  readonly rfc: string;
  readonly mask: string;
  readonly value: string;
  readonly reason: string;
}

export interface NameRow {
  readonly name: string;
  readonly source: string;
  readonly refuse: boolean;
  /** `suffix` also matches every name below. */
  readonly match: 'suffix' | 'exact';
}

interface SpecialData {
  readonly ranges: readonly RangeRow[];
  readonly patterns: readonly PatternRow[];
  readonly metadataAddresses: readonly { readonly cidr: string; readonly platform: string }[];
  readonly hosts: readonly NameRow[];
  readonly ports: {
    readonly http: { readonly refuse: readonly number[]; readonly alsoRefuse: readonly number[] };
    readonly tcp: { readonly refuse: readonly number[] };
    readonly udp: { readonly refuse: readonly number[] };
    readonly dns: { readonly serverPorts: readonly number[] };
  };
}

export const specialData = data as SpecialData;
