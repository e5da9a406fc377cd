export interface Timings {
  readonly dns?: number;
  readonly retries?: number;
  readonly connect?: number;
  readonly tls?: number;
  readonly firstByte?: number;
  readonly download?: number;
  readonly total: number;
}

const measured = ['dns', 'retries', 'connect', 'tls', 'firstByte', 'download'] as const;
/** `unfinished` is the phase in which the request failed or still is. */
export type PhaseName = (typeof measured)[number] | 'unfinished';

export const phaseTitles: Readonly<Record<PhaseName, string>> = {
  dns: 'DNS',
  retries: 'Given up',
  connect: 'Connect',
  tls: 'TLS',
  firstByte: 'Waiting',
  download: 'Download',
  unfinished: 'Not finished',
};

export interface Phase {
  readonly name: PhaseName;
  readonly start: number;
  readonly length: number;
}

/** The phases, one after the other. A phase that was interrupted has the rest of the total. */
export function phasesOf(timings: Timings): readonly Phase[] {
  let start = 0;
  const phases: Phase[] = [];
  for (const name of measured) {
    const length = timings[name];
    if (length === undefined) continue;
    phases.push({ name, start, length });
    start += length;
  }
  const rest = timings.total - start;
  return rest < RESOLUTION_MS ? phases : [...phases, { name: 'unfinished', start, length: rest }];
}

/** Phases and their total have three decimals, and their differences errors of rounding. */
const RESOLUTION_MS = 0.0005;

/** Phases that the legend always has. */
const common: ReadonlySet<PhaseName> = new Set(['dns', 'connect', 'tls', 'firstByte', 'download']);

/** The phases to explain for these requests, in their order. */
export function legendOf(all: readonly (Timings | undefined)[]): readonly PhaseName[] {
  const drawn = new Set(
    all.flatMap((timings) => (timings === undefined ? [] : phasesOf(timings)).map(({ name }) => name)),
  );
  return ([...measured, 'unfinished'] as const).filter((name) => common.has(name) || drawn.has(name));
}
