import type { FindingCode, Summary } from '@vantage/contract';

export type Case = readonly [situation: string, summary: Summary];

/** Per finding: situations that require it, and the nearest ones that must not produce it. */
export interface CodeCases {
  readonly present: readonly Case[];
  readonly absent: readonly Case[];
}

export type FindingCases = Readonly<Partial<Record<FindingCode, CodeCases>>>;
