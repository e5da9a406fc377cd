export type FindingStatus = 'ok' | 'warning' | 'error';

export interface DoctorFinding {
  /** Stable name for programs, such as `redis.eviction`. */
  readonly check: string;
  readonly status: FindingStatus;
  /** The finding, in sentences. */
  readonly message: string;
  /** Recommended action; null if none is needed. */
  readonly remedy: string | null;
}

export function ok(check: string, message: string): DoctorFinding {
  return { check, status: 'ok', message, remedy: null };
}

export function warning(check: string, message: string, remedy: string): DoctorFinding {
  return { check, status: 'warning', message, remedy };
}

export function error(check: string, message: string, remedy: string): DoctorFinding {
  return { check, status: 'error', message, remedy };
}

/** The most severe status; `ok` for an empty list. */
export function worstOf(findings: readonly DoctorFinding[]): FindingStatus {
  if (findings.some(({ status }) => status === 'error')) return 'error';
  return findings.some(({ status }) => status === 'warning') ? 'warning' : 'ok';
}

/** Formats as MiB, or GiB from 1 GiB. */
export function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1_048_576;
  return mebibytes < 1_024
    ? `${mebibytes.toFixed(mebibytes < 10 ? 1 : 0)} MiB`
    : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}

export function reasonOf(fault: unknown): string {
  return Error.isError(fault) ? fault.message : String(fault);
}

/** `1 probe`, `2 probes`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
