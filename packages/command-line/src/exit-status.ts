/** Exit statuses of programs that run checks. */
export const exitStatus = {
  success: 0,
  failure: 1,
  invalid: 2,
  unreachable: 3,
  notMeasured: 4,
  interrupted: 130,
  /** Status of a program that SIGPIPE has ended: 128 + 13. */
  outputClosed: 141,
} as const;

/** The part of a result that the exit status depends on. */
export interface Measurement {
  readonly result?: string;
  readonly error?: { readonly code: string; readonly phase: string; readonly source: string } | null;
}

/** A result; one over both families has a second measurement. */
export interface MeasuredResult extends Measurement {
  readonly otherFamily?: Measurement;
}

/** Exit status of a completed check. Measurements that probes could not make are ignored, unless none could be made. */
export function statusOfResults(type: string, results: readonly MeasuredResult[]): number {
  const made = results.flatMap((result) => [result, ...(result.otherFamily === undefined ? [] : [result.otherFamily])]);
  const measured = made.filter((measurement) => isMeasured(type, measurement));
  if (measured.some(({ result }) => result === 'failure' || result === 'timeout')) return exitStatus.failure;
  return measured.some(({ result }) => result === 'success') ? exitStatus.success : exitStatus.notMeasured;
}

/** Failures of name resolution that may be about the name, by its servers or signatures. */
const mayBeOfName: ReadonlySet<string> = new Set([
  'dns_nxdomain',
  'dns_no_address',
  'dns_servfail',
  'dns_servers_silent',
]);

/**
 * False if the probe failed, or if the name was not resolved for a reason that lies neither in the target nor in the
 * name (`mayBeOfName`). A dns check measures the resolver, so failures of its resolution count.
 */
function isMeasured(type: string, { result, error }: Measurement): boolean {
  if (result === 'error' || error?.source === 'probe') return false;
  const isUnresolved = error?.phase === 'resolve' && error.source !== 'target' && !mayBeOfName.has(error.code);
  return type === 'dns' || !isUnresolved;
}
