import { monitorRequestSchema, requestSchema, textForm, type InputError } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { describe, expect, it } from '@jest/globals';

import { createBodyReader } from './validate-request.ts';

const read = createBodyReader(Object.values(checkTypes));

function errorsOf(body: unknown): readonly InputError[] {
  return read(body).errors;
}

describe('a number or a word', () => {
  it.each<readonly [unknown, string]>([
    [17, 'must be <= 16 or "all"'],
    [0, 'must be >= 1 or "all"'],
    [1.5, 'must be an integer from 1 to 16 or "all"'],
    ['ALL', 'must be an integer from 1 to 16 or "all"'],
    [true, 'must be an integer from 1 to 16 or "all"'],
  ])('that is %j is one error', (flows, message) => {
    const errors = errorsOf({ type: 'traceroute', host: 'www.example.com', options: { flows } });

    expect(errors).toEqual([{ path: '/options/flows', message }]);
  });

  it('is either of them', () => {
    for (const flows of [1, 16, 'all']) {
      expect(errorsOf({ type: 'traceroute', host: 'www.example.com', options: { flows } })).toEqual([]);
    }
  });
});

describe('a text of a certain form', () => {
  it.each([
    [{ probes: ['FRA 1'] }, '/probes/0', 'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen'],
    [{ probes: [7] }, '/probes/0', 'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen'],
    [
      { probes: ['A'.repeat(64)] },
      '/probes/0',
      'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen',
    ],
    [{ options: { payload: 'xyz' } }, '/options/payload', 'must be pairs of hexadecimal digits, such as 68656c6c6f'],
    [{ options: { payload: 'ab'.repeat(513) } }, '/options/payload', 'must have at most 1024 characters'],
  ])('is named by that form, once: %j', (fields, path, message) => {
    const { errors } = read({ type: 'udp', host: 'example.com', port: 7, ...fields });

    expect(errors).toEqual([{ path, message }]);
  });

  it('has one for each pattern that a client can break', () => {
    const schemas = [...Object.values(checkTypes).map((type) => requestSchema(type, [])), monitorRequestSchema];
    const patterns = [...JSON.stringify(schemas).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text]) => JSON.parse(text!) as string,
    );

    expect(patterns.length).toBeGreaterThan(4);
    expect(patterns.filter((pattern) => textForm(pattern) === undefined)).toEqual([]);
  });
});

describe('a type that is not known', () => {
  it.each<[string, object, readonly object[]]>([
    ['without a type', {}, [{ path: '/type', message: 'is required: traceroute, with `between`' }]],
    ['of an unknown type', { type: 'smtp' }, [{ path: '/type', message: 'must be traceroute, with `between`' }]],
    [
      'of a type without pairs',
      { type: 'ping' },
      [{ path: '/between', message: 'is of traceroute only, not of ping' }],
    ],
  ])('needs no host between two probes: %s', (_reason, more, errors) => {
    expect(errorsOf({ between: ['fra-1', 'nyc-1'], ...more })).toEqual(errors);
  });

  it('hides no fault of a field that all types have', () => {
    const paths = errorsOf({ type: 'smtp', host: '', limit: 0, probes: ['fra-1'], locations: [] }).map(
      ({ path }) => path,
    );

    expect(paths).toEqual(['/type', '/host', '/locations', '/limit', '/locations']);
  });
});
