import type { X509Certificate } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import type { Certificate } from './certificate.ts';
import { daysLeft } from './describe-certificate.ts';

const DAY_MS = 86_400_000;
const end = Date.parse('2026-01-10T12:00:00Z');

describe('the days until a certificate expires', () => {
  it.each([
    ['sixty days before, to the second', 60, 60],
    ['some hours less than that', 59.5, 59],
    ['on the last day', 0.5, 0],
    ['an hour after its end', -1 / 24, -1],
    ['a day and a half after', -1.5, -1],
    ['three days after, to the second', -3, -3],
    ['three days and an hour after', -3 - 1 / 24, -3],
  ])('are whole ones, and negative once it has: %s', (_when, days, expected) => {
    const certificate = { parsed: { validToDate: new Date(end) } as X509Certificate } as Certificate;

    expect(daysLeft(certificate, end - days * DAY_MS)).toBe(expected);
  });

  it('are not known of an end that is no date', () => {
    const certificate = { parsed: { validToDate: new Date(Number.NaN) } as X509Certificate } as Certificate;

    expect(daysLeft(certificate, end)).toBeNull();
  });
});
