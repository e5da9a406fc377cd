import type { Fallback } from './fallback.ts';
import type { BundledSource, OperatorSource } from './sources.ts';

/** One source as returned by `sources()`. */
export interface GeoSource {
  /** Path of an operator's file, or the package that brings the data. */
  readonly name: string;
  readonly role: 'city' | 'asn' | 'isp' | 'fallback';
  readonly origin: 'operator' | 'bundled';
  /**
   * `idle`: loaded only when it is needed. `stale`: the file has become unusable, and its last valid contents are used.
   * `missing`: there is no usable data.
   */
  readonly state: 'ready' | 'stale' | 'missing' | 'idle' | 'loading';
  /** Why it is stale or missing; null otherwise. */
  readonly fault: string | null;
  readonly attribution: string | null;
  /** ISO 8601 date of the data; null if it is not known. */
  readonly date: string | null;
}

/** The operator's file as a list of one source; empty if the operator has named none for this role. */
export function operatorView(role: GeoSource['role'], source: OperatorSource | null): readonly GeoSource[] {
  if (source === null) return [];
  const { file } = source;
  const fault = file.fault();
  const read = file.current() !== null;
  const readyOrStale = fault === null ? 'ready' : 'stale';
  return [
    {
      name: file.path,
      role,
      origin: 'operator',
      state: read ? readyOrStale : 'missing',
      fault,
      attribution: read ? source.attribution() : null,
      date: source.date(),
    },
  ];
}

export function bundledView(role: GeoSource['role'], source: BundledSource): GeoSource {
  const fault = source.fault();
  return {
    name: source.name,
    role,
    origin: 'bundled',
    state: fault === null ? 'ready' : 'missing',
    fault,
    attribution: source.attribution(),
    date: source.date(),
  };
}

export function fallbackView(fallback: Fallback): GeoSource {
  return {
    name: 'geoip-lite',
    role: 'fallback',
    origin: 'bundled',
    state: fallback.state(),
    fault: fallback.fault(),
    attribution: fallback.attribution(),
    date: fallback.date(),
  };
}
