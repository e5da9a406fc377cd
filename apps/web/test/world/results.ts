import type { Check } from '@vantage/contract';

import { places } from './probes.ts';

/** Start time of all checks. */
export const started = '2026-11-20T21:00:00.000Z';

type Results = Record<string, Record<string, unknown>>;

export function final(index: number, rt: number | null, more: Record<string, unknown>): Record<string, unknown> {
  return {
    result: 'success',
    rt,
    resolvedIp: '192.0.2.80',
    error: null,
    startedAt: started,
    finishedAt: `2026-11-20T21:00:0${1 + (index % 4)}.120Z`,
    ...more,
  };
}

export function failure(code: string, phase: string, source: string, message: string): Record<string, unknown> {
  return { code, phase, source, message };
}

export function check(id: string, type: string, host: string, results: Results): Check {
  return {
    testId: id,
    type,
    host,
    status: 'completed',
    createdAt: started,
    completedAt: '2026-11-20T21:00:04.310Z',
    results,
  };
}

const ids = places.map(([id]) => id);
export const eachProbe = (make: (id: string, index: number) => Record<string, unknown>): Results =>
  Object.fromEntries(ids.map((id, index) => [id, make(id, index)]));

/** Pseudo-random variation that is the same in each run. */
export function wobble(seed: number): number {
  return Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1;
}

export const round = (ms: number): number => Math.round(ms * 1000) / 1000;
