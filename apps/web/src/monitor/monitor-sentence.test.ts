import { describe, expect, it } from '@jest/globals';

import { sentenceOf } from './monitor-sentence.ts';

describe('the sentence of a monitor', () => {
  it.each([
    ['the last run', { headline: 'It answers.', alarmSince: null }, 'It answers.'],
    ['that it is new', { headline: null, alarmSince: null }, 'It has not run yet.'],
    [
      'that it was changed in its alarm',
      { headline: null, alarmSince: '2026-11-20T21:01:00.000Z' },
      'It was bad, was changed, and has not run since.',
    ],
  ])('says %s', (_what, monitor, sentence) => {
    expect(sentenceOf(monitor)).toBe(sentence);
  });
});
