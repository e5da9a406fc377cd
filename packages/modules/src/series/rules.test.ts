import { describe, expect, it } from '@jest/globals';

import { bodyFault, headerFault, recordFault } from './rules.ts';

const rule = { header: 'X-Version', regexp: '^release-\\d+$', failsOnMatch: false, allowMissing: false };
const kept = [
  ['x-version', 'beta'],
  ['X-VERSION', 'release-7'],
];

describe('a rule about a header', () => {
  it('is kept if one of several values matches', () => {
    expect(headerFault([rule], { kept, areCut: false })).toBeUndefined();
    expect(headerFault([{ ...rule, failsOnMatch: true }], { kept, areCut: false })).toContain('matches');
  });

  it('fails where the headers that were cut off could decide, and not where they could not', () => {
    expect(headerFault([rule], { kept: [], areCut: true })).toContain('too large to tell');
    expect(headerFault([{ ...rule, allowMissing: true }], { kept: [], areCut: true })).toContain('too large to tell');
    expect(headerFault([rule], { kept, areCut: true })).toBeUndefined();
  });

  it('takes linear time with expressions that other engines do not end', () => {
    const hostile = { ...rule, regexp: '^(a+)+$' };
    expect(headerFault([hostile], { kept: [['X-Version', `${'a'.repeat(8_000)}!`]], areCut: false })).toContain(
      'not match',
    );
  });
});

describe('rules about records', () => {
  const none = { failIfAnyMatches: [], failUnlessAllMatch: [], failIfOneDiffers: [], failIfNoneMatches: [] };

  it.each([
    ['any matches', { failIfAnyMatches: ['x', 'a'] }, 'matches a'],
    ['not all match', { failUnlessAllMatch: ['a'] }, 'does not match a'],
    ['one differs', { failIfOneDiffers: ['b'] }, 'does not match b'],
    ['none matches', { failIfNoneMatches: ['x', 'y'] }, 'No record'],
    ['nothing is asked', {}, undefined],
    ['one of several matches', { failIfNoneMatches: ['x', 'b'] }, undefined],
  ])('fail where %s', (_when, rules, message) => {
    const fault = recordFault({ ...none, ...rules }, ['a', 'b'], 'answer');
    if (message === undefined) expect(fault).toBeUndefined();
    else expect(fault).toContain(message);
  });
});

describe('rules about the body', () => {
  const bodyRules = [
    { regexp: 'bad', failsOnMatch: true },
    { regexp: 'good', failsOnMatch: false },
  ];

  it.each([
    ['nothing is wrong', { bodyMatches: [false, true], truncated: false }, undefined],
    ['what must not match does', { bodyMatches: [true, true], truncated: false }, 'The body matches bad.'],
    ['what must match does not', { bodyMatches: [false, false], truncated: false }, 'does not match good'],
    ['the part that was not read could match', { bodyMatches: [false, true], truncated: true }, 'too large to tell'],
    ['the part that was read matches', { bodyMatches: [true, true], truncated: true }, 'The body matches bad.'],
  ])('where %s', (_when, body, message) => {
    if (message === undefined) expect(bodyFault({ bodyRules }, body)).toBeUndefined();
    else expect(bodyFault({ bodyRules }, body)).toContain(message);
  });
});
