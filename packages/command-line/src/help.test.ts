import { describe, expect, it } from '@jest/globals';
import { checkTypes } from '@vantage/diagnostics/contract';

import { checkHelp } from './help.ts';

describe('the help of a check type', () => {
  it.each(Object.values(checkTypes))('fits a terminal of 80 columns: $type', (checkType) => {
    const lines = checkHelp('vantage', checkType, {}).split('\n');

    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
