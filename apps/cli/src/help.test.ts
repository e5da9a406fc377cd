import { describe, expect, it } from '@jest/globals';

import { helpText } from './help.ts';

describe('the help of the program', () => {
  it.each([undefined, 'monitors'] as const)('fits a terminal of 80 columns: %s', (topic) => {
    expect(
      helpText(topic)
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
  });
});
