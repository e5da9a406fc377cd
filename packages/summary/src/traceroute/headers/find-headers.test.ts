import { describe, expect, it } from '@jest/globals';

import { textOf } from '../../../test/cases.ts';
import { marked, rewritten } from '../../../test/finding-cases/headers.ts';

describe('the sentence about a changed DSCP', () => {
  it('names two routers if both of them quote packets', () => {
    expect(textOf(marked(46, 46, 0, 0), 'dscp_changed')).toMatch(
      /^DSCP 46 becomes 0 at hop 3, .*: that router or the one before it rewrites the field\.$/,
    );
  });

  it.each([
    ['hops before do not agree', marked(46, [0, 46], 0, 0), /^DSCP 46 becomes 0 by hop 3, /],
    ['no hop quotes the value that was sent', marked(0, 0, 0, 0), /^DSCP 46 becomes 0 by hop 1, /],
  ])('names no router if %s', (_what, summary, begin) => {
    expect(textOf(summary, 'dscp_changed')).toMatch(begin);
    expect(textOf(summary, 'dscp_changed')).toMatch(/: the field is rewritten there or earlier\.$/);
  });
});

describe('the sentence about translated addresses', () => {
  it.each([
    [['ports'], 'routers quote other ports than fra-1 sent'],
    [['source', 'ports'], 'routers quote another source address and other ports than fra-1 sent'],
  ] as const)('names the fields: %j', (fields, part) => {
    expect(textOf(rewritten(undefined, [...fields], [...fields], [...fields]), 'path_translated')).toContain(part);
  });
});
