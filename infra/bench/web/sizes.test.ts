import { describe, expect, it } from '@jest/globals';

import { sizes } from './sizes.ts';

describe('the built page', () => {
  it.each(sizes().filter(({ atMost }) => atMost !== undefined))('is small: $name', ({ value, atMost }) => {
    expect(value).toBeLessThanOrEqual(atMost!);
  });
});
