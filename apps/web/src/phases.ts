export interface Timings {
  readonly dns?: number;
  readonly retries?: number;
  readonly connect?: number;
  readonly tls?: number;
  readonly firstByte?: number;
  readonly download?: number;
  readonly total: number;
}

export const phaseNames = ['dns', 'retries', 'connect', 'tls', 'firstByte', 'download'] as const;
export type PhaseName = (typeof phaseNames)[number];

export const phaseTitles: Readonly<Record<PhaseName, string>> = {
  dns: 'DNS',
  retries: 'Given up',
  connect: 'Connect',
  tls: 'TLS',
  firstByte: 'Waiting',
  download: 'Download',
};

export interface Phase {
  readonly name: PhaseName;
  readonly start: number;
  readonly length: number;
}

/** The measured phases, one after the other. The time of an interrupted phase is part of the total only. */
export function phasesOf(timings: Timings): readonly Phase[] {
  let start = 0;
  const phases: Phase[] = [];
  for (const name of phaseNames) {
    const length = timings[name];
    if (length === undefined) continue;
    phases.push({ name, start, length });
    start += length;
  }
  return phases;
}
