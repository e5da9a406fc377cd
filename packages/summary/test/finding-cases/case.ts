import type { FindingCode, Summary } from '@vantage/contract';

/** In which situation, and what the summary says of it. */
export type Case = readonly [situation: string, summary: Summary];

/** Of one finding: where it must be, and the nearest situations in which it would be false. */
export interface CodeCases {
  readonly present: readonly Case[];
  readonly absent: readonly Case[];
}

export type FindingCases = Readonly<Partial<Record<FindingCode, CodeCases>>>;
