import type { AnyCheckType, Place } from '@vantage/contract';
import { describe, expect, it, jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { echo } from '../../../test/echo-type.ts';
import { quiet } from '../../../test/core-bed.ts';
import { success } from '../../../test/check-steps.ts';
import type { CountedResult } from '../check-metrics.ts';
import { acceptResult, type Accepted } from './validate-result.ts';
import { resultValidators } from './result-validators.ts';

const lookUpPlace = (): Place => ({ country: 'Nowhere' }) as Place;

const accept = (data: string, kind: 'final' | 'partial' = 'final', checkType: AnyCheckType = echo): Accepted =>
  acceptResult({ validatorsOf: resultValidators, lookUpPlace, log: quiet }, checkType, {
    kind,
    data,
    writtenAtMs: 86_400_000,
  });

describe('a result that a probe wrote', () => {
  it('is kept with what the coordinator knows of the place', () => {
    const accepted = accept(JSON.stringify(success('x')));

    expect(accepted).toMatchObject({ kind: 'final', valid: true });
    expect(JSON.parse(accepted.valid ? accepted.json : '')).toEqual({ ...success('x'), country: 'Nowhere' });
  });

  it('is kept as it is when the place cannot be looked up', () => {
    const failing: AnyCheckType = {
      ...echo,
      annotate: () => {
        throw new Error('no data');
      },
    };

    const accepted = accept(JSON.stringify(success('x')), 'final', failing);

    expect(JSON.parse(accepted.valid ? accepted.json : '')).toEqual(success('x'));
  });

  it.each<[string, CountedResult]>([
    ['target_refused_by_policy', 'refused'],
    ['target_rate_limited', 'refused'],
    ['capability_missing', 'error'],
  ])('is counted by whose doing it is: %s', (code, counted) => {
    const error = { code, phase: 'resolve', source: 'probe', message: 'No.' };

    const accepted = accept(JSON.stringify({ ...success('x'), result: 'error', error }));

    expect(accepted).toMatchObject({ valid: true, result: counted });
    expect(JSON.parse('json' in accepted ? accepted.json : '')).toMatchObject({ result: 'error' });
  });

  it('says what is wrong with it, and not what was in it', () => {
    const accepted = accept(JSON.stringify({ ...success('x'), steps: ['secret'] }));

    expect(accepted).toMatchObject({ kind: 'final', valid: false });
    expect(JSON.parse('json' in accepted ? accepted.json : '')).toMatchObject({
      result: 'error',
      finishedAt: '1970-01-02T00:00:00.000Z',
      error: { code: 'invalid_result', message: 'The result is not valid: /steps/0 must be integer.' },
    });
  });

  it('has no characters that an agent escapes', () => {
    const accepted = accept(JSON.stringify({ ...success('\u001b[31mred\u202e, \ud800 and more'), rt: 2 }));

    expect(accepted).toMatchObject({ valid: true });
    const { said } = JSON.parse('json' in accepted ? accepted.json : '') as { readonly said: string };
    expect(said).toMatch(/^\\u\{1b\}\[31mred/);
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  });

  it.each([
    ['at the limit', 65_536, true],
    ['one byte over it', 65_537, false],
  ])('may be as large as the limit in bytes: %s', (_reason, bytes, valid) => {
    const empty = Buffer.byteLength(JSON.stringify(success('')));
    // Characters of two bytes: the limit counts bytes.
    const room = bytes - empty;
    const text = 'é'.repeat(Math.floor(room / 2)) + 'x'.repeat(room % 2);

    expect(accept(JSON.stringify(success(text))).valid).toBe(valid);
  });

  it.each([
    ['no JSON', '{'],
    ['a field that only a final result has', '{"error":null}'],
    ['an outcome', '{"result":"success"}'],
    ['not an object', 'null'],
  ])('comes to nothing when it is partial and is %s', (_reason, data) => {
    expect(accept(data, 'partial')).toEqual({ kind: 'partial', valid: false });
  });
});

it('compiles the schema of a final result without that of a partial one, and each once', () => {
  const compile = jest.spyOn(Ajv2020.prototype, 'compile');
  const checkType = { ...echo };
  const data = JSON.stringify(success('x'));

  const counts = (['final', 'partial', 'final', 'partial'] as const).map((kind) => {
    accept(data, kind, checkType);
    return compile.mock.calls.length;
  });

  expect(counts).toEqual([1, 2, 2, 2]);
});
