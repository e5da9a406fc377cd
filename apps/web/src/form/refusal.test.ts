import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '@vantage/client';

import { formDefinitions } from '../../build/check-forms.ts';
import { formErrorsOf } from './refusal.ts';

const dns = formDefinitions().find(({ type }) => type === 'dns')!;

function refused(status: number, detail: string, errors?: { path: string; message: string }[], wait?: number) {
  const problem = { type: 'x', title: 'x', status, detail, instance: '/check', requestId: 'r' };
  return formErrorsOf(
    new ProblemError(status, errors === undefined ? problem : { ...problem, errors }, wait),
    dns,
    1000,
    {},
  );
}

describe('a refusal', () => {
  it('appears next to its fields, or alone if it concerns none', () => {
    const errors = [
      { path: '/host', message: 'must not be empty' },
      { path: '/options/resolver', message: 'The port is odd.' },
      { path: '/color', message: 'is not known' },
    ];
    expect(refused(400, 'Invalid.', errors)).toEqual({
      fields: { host: 'Must not be empty.', 'options.resolver': 'The port is odd.' },
      general: '/color: is not known',
      retryAt: undefined,
    });
  });

  it('keeps the letters of a name at its beginning', () => {
    const errors = [{ path: '/host', message: 'fra-1 offers no address' }];
    expect(refused(400, 'Invalid.', errors).fields).toEqual({ host: 'fra-1 offers no address.' });
  });

  it.each([
    ['the host, where the policy names no other', '10.0.0.1 is private.', 'host', '10.0.0.1 is private.'],
    [
      'the resolver, where it names that',
      '/options/resolver: 10.0.0.1 is private.',
      'options.resolver',
      '10.0.0.1 is private.',
    ],
  ])('of the policy is about %s', (_reason, detail, field, text) => {
    expect(refused(403, detail).fields).toEqual({ [field]: text });
  });

  it.each([
    ['the locations, if there are any', ['JP'], { fields: { locations: 'There is no probe at "JP".' } }],
    ['no field, if all probes were considered', undefined, { fields: {}, general: 'There is no probe at "JP".' }],
  ])('for want of a probe is about %s', (_reason, locations, expected) => {
    const problem = { type: 'https://h/problems/no-probe-available', title: 'x', status: 422, instance: '/check' };
    const error = new ProblemError(
      422,
      { ...problem, detail: 'There is no probe at "JP".', requestId: 'r' },
      undefined,
    );

    expect(formErrorsOf(error, dns, 0, { locations })).toMatchObject(expected);
  });

  it('says when to try again', () => {
    expect(refused(429, 'Too many.', undefined, 30)).toEqual({ fields: {}, general: 'Too many.', retryAt: 31_000 });
  });

  it.each([
    ['nothing answers', new TypeError('fetch failed'), 'The service did not answer. Is your connection up?'],
    [
      'a proxy answers',
      new ProblemError(502, undefined, undefined),
      'Something in front of the service answered with status 502.',
    ],
  ])('is a sentence where %s', (_reason, error, general) => {
    expect(formErrorsOf(error, dns, 0, {})).toEqual({ fields: {}, general, retryAt: undefined });
  });
});
