import { describe, expect, it } from '@jest/globals';
import { MAX_RESULT_BYTES } from '@vantage/contract';

import { fitResult } from './fit-result.ts';

const required = new Set(['result', 'state']);

describe('a result that is written', () => {
  it('stays whole up to the limit, to the byte', () => {
    const bare = Buffer.byteLength(JSON.stringify({ result: 'success', text: '' }));
    const text = 'x'.repeat(MAX_RESULT_BYTES - bare);

    expect(fitResult({ result: 'success', text }, required).left).toEqual([]);
    expect(fitResult({ result: 'success', text: `${text}x` }, required).left).toEqual(['text']);
  });

  it('loses its largest fields first, and no more than it must', () => {
    const result = { result: 'success', small: 'x', large: 'x'.repeat(50_000), larger: 'x'.repeat(60_000) };

    const { json, left } = fitResult(result, required);

    expect(left).toEqual(['larger']);
    expect(JSON.parse(json!)).toEqual({ result: 'success', small: 'x', large: result.large });
  });

  it('counts bytes, not characters', () => {
    expect(fitResult({ result: 'success', text: 'ü'.repeat(40_000) }, required).left).toEqual(['text']);
  });

  it('is none when what it must have is too long', () => {
    expect(fitResult({ result: 'success', state: 'x'.repeat(MAX_RESULT_BYTES) }, required).fault).toMatch('longer');
  });
});
