import { describe, expect, it } from '@jest/globals';
import type { FindingCode } from '@vantage/contract';

import { lines } from '../test/cases.ts';
import { findingCases } from '../test/finding-cases/index.ts';
import { findingRules } from './rules.ts';

const codes = Object.keys(findingRules) as FindingCode[];
const rows = (side: 'present' | 'absent') =>
  codes.flatMap((code) =>
    (findingCases[code]?.[side] ?? []).map(([situation, summary]) => ({ code, situation, summary })),
  );

describe('each finding', () => {
  it.each(codes)('has situations in which it must be, and in which it must not: %s', (code) => {
    expect(findingCases[code]?.present.length ?? 0).toBeGreaterThan(0);
    expect(findingCases[code]?.absent.length ?? 0).toBeGreaterThan(0);
  });

  it.each(rows('present'))('is there when it is true: $code, $situation', ({ code, summary }) => {
    const found = summary.findings.filter((finding) => finding.code === code);

    expect([lines(summary), found.length > 0]).toEqual([lines(summary), true]);
    for (const { severity } of found) expect(findingRules[code].severities).toContain(severity);
  });

  it('says nothing twice in one sentence', () => {
    const sentences = [...rows('present'), ...rows('absent')].flatMap(({ summary }) => [
      summary.headline,
      ...summary.findings.map(({ text }) => text),
    ]);
    expect(sentences.filter((sentence) => /\b([\w ]{12,})[ :(,]+\1\b/i.test(sentence))).toEqual([]);
    expect(sentences.filter((sentence) => /\bcertificate is refused: the certificate\b/.test(sentence))).toEqual([]);
  });

  it.each(rows('absent'))('is not there when it is false: $code, $situation', ({ code, summary }) => {
    expect(lines(summary).filter((line) => line.startsWith(`${code} `))).toEqual([]);
  });
});
