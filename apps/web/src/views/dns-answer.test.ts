import { describe, expect, it } from '@jest/globals';

import { answerKey, visibleRecords, titleOf } from './dns-answer.ts';

type Fields = Partial<Parameters<typeof titleOf>[0]>;

const result = 'success';
const com = { name: 'com.', type: 'NS', ttl: 60, data: 'a.gtld-servers.net.' };
const referred = { rcode: 'NOERROR', answerKind: 'referral', referral: 'com.', authority: [com] } as const;

describe('the title of an answer', () => {
  it.each<[string, Fields]>([
    ['NOERROR', { rcode: 'NOERROR', answerKind: 'answer' }],
    ['NOERROR, no records of this type', { rcode: 'NOERROR', answerKind: 'nodata' }],
    ['NOERROR, referred to com.', { ...referred, authority: [com] }],
    ['NOERROR, referred to the root', { ...referred, referral: '.', authority: [com] }],
    ['NOERROR, no answer to the question', { rcode: 'NOERROR', answerKind: 'lame' }],
    ['NXDOMAIN', { rcode: 'NXDOMAIN', answerKind: 'nxdomain', canonicalName: null }],
    ['NXDOMAIN, alias of gone.example.', { rcode: 'NXDOMAIN', answerKind: 'nxdomain', canonicalName: 'gone.example.' }],
    ['SERVFAIL', { rcode: 'SERVFAIL', answerKind: 'error' }],
    ['NOERROR, no records', { rcode: 'NOERROR', answers: [] }],
    ['No answer', {}],
  ])('is %s', (title, fields) => {
    expect(titleOf({ result, ...fields })).toBe(title);
  });
});

describe('an answer', () => {
  it('is the same in another order and with other TTLs, and another one of another kind', () => {
    const a = { name: 'a.', type: 'A', ttl: 1, data: '192.0.2.1' };
    const b = { name: 'a.', type: 'A', ttl: 2, data: '192.0.2.2' };

    expect(answerKey({ result, answers: [a, b] })).toBe(answerKey({ result, answers: [{ ...b, ttl: 9 }, a] }));
    expect(answerKey({ result, rcode: 'NOERROR', answerKind: 'nodata' })).not.toBe(
      answerKey({ result, rcode: 'NOERROR', answerKind: 'lame' }),
    );
  });

  it('shows the name servers of a referral', () => {
    expect(visibleRecords({ result, ...referred, authority: [com] })).toEqual([com]);
    expect(visibleRecords({ result, answerKind: 'nodata', authority: [com] })).toEqual([]);
  });
});
