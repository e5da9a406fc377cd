import { saysNothing } from '@vantage/contract';

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

/**
 * False if the probe failed, or if its resolver did and that is not about the name. A dns check measures the resolver,
 * so failures of its resolution count.
 */
function isMeasured(type: string, { result, error }: Measurement): boolean {
  if (result === 'error' || error?.source === 'probe') return false;
  return type === 'dns' || !saysNothing(error);
}
