import { MAX_SCREENSHOT_BYTES, type Failure } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { blankPng } from '../../../test/photo.ts';
import { createAcceptScreenshot } from './validate-screenshot.ts';

const accept = createAcceptScreenshot();
const taken = JSON.stringify({ failure: null });
const png = blankPng();

describe('what a probe writes of a screenshot', () => {
  it('is a PNG of the right size', () => {
    expect(accept(taken, png)).toEqual({ png, valid: true });
  });

  it('is a screenshot whatever a later release adds to the report', () => {
    expect(accept(JSON.stringify({ failure: null, tookMs: 3 }), png).valid).toBe(true);
  });

  it('is a screenshot with the limits that the page went over', () => {
    expect(accept(JSON.stringify({ failure: null, cutAt: ['hosts'] }), png)).toEqual({
      png,
      valid: true,
      cutAt: ['hosts'],
    });
    expect(accept(JSON.stringify({ failure: null, cutAt: ['patience'] }), png).valid).toBe(false);
  });

  it('is the failure that it names', () => {
    const failure: Failure = { code: 'timed_out', phase: 'response', source: 'target', message: 'Too slow.' };

    expect(accept(JSON.stringify({ failure }), undefined)).toEqual({ failure, valid: true });
  });

  it.each<[string, string, Buffer | undefined]>([
    ['without a screenshot', taken, undefined],
    ['with an empty screenshot', taken, Buffer.alloc(0)],
    ['with another format', taken, Buffer.concat([Buffer.from('GIF89a'), png])],
    ['with the head of a PNG alone', taken, png.subarray(0, 33)],
    ['with a screenshot that is cut off', taken, png.subarray(0, -1)],
    ['with something behind the screenshot', taken, Buffer.concat([png, Buffer.from('x')])],
    ['with another width', taken, blankPng({ width: 1281, height: 800 })],
    ['with another height', taken, blankPng({ width: 1280, height: 8000 })],
    [
      'with more than 4 MiB',
      taken,
      Buffer.concat([png.subarray(0, -12), Buffer.alloc(MAX_SCREENSHOT_BYTES), png.subarray(-12)]),
    ],
    ['that is no JSON', '{', png],
    ['that is JSON and no report', '[]', png],
    ['with a failure of no known code', JSON.stringify({ failure: { code: 'x' } }), undefined],
    ['that is very long', JSON.stringify({ failure: null, more: 'x'.repeat(20_000) }), png],
  ])('is no valid report %s', (_name, data, picture) => {
    expect(accept(data, picture)).toMatchObject({ valid: false, failure: { code: 'invalid_result' } });
  });
});
