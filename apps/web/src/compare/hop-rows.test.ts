import { describe, expect, it } from '@jest/globals';
import type { PathComparison } from '@vantage/contract';

import { hopRowsOf } from './hop-rows.ts';

type Change = PathComparison['changes'][number];

const path = (text: string): PathComparison['a'] => ({
  hash: '0'.repeat(16),
  hops: text.split(' ').map((word) => (word === '*' ? [] : word.split('/'))),
});

const rows = (a: string, b: string, changes: readonly Change[]): readonly string[] =>
  hopRowsOf({ relation: 'changed', a: path(a), b: path(b), changes: [...changes] }).map(
    (row) => `${row.a?.join('/') ?? '–'} ${row.differs ? '≠' : '='} ${row.b?.join('/') ?? '–'}`,
  );

describe('the rows of two paths', () => {
  it.each<[string, string, string, readonly Change[], readonly string[]]>([
    ['equal', 'p q', 'p q', [], ['p = p', 'q = q']],
    ['a silent hop', 'p * q', 'p r q', [], ['p = p', ' = r', 'q = q']],
    ['one replaced', 'p q t', 'p r t', [{ hopA: 2, hopB: 2, a: [['q']], b: [['r']] }], ['p = p', 'q ≠ r', 't = t']],
    ['one more', 'p t', 'p r t', [{ hopA: null, hopB: 2, a: [], b: [['r']] }], ['p = p', '– ≠ r', 't = t']],
    [
      'one less, then one replaced by two',
      'p q r s t',
      'p r x y t',
      [
        { hopA: 2, hopB: null, a: [['q']], b: [] },
        { hopA: 4, hopB: 3, a: [['s']], b: [['x'], ['y']] },
      ],
      ['p = p', 'q ≠ –', 'r = r', 's ≠ x', '– ≠ y', 't = t'],
    ],
    ['one that ends earlier', 'p', 'p q', [], ['p = p', '– = q']],
  ])('stand in line: %s', (_reason, a, b, changes, expected) => {
    expect(rows(a, b, changes)).toEqual(expected);
  });
});
