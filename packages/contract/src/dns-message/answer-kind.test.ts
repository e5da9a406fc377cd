import { describe, expect, it } from '@jest/globals';

import { classifyAnswer, type AnswerKind, type AnswerRecord, type AnswerToClassify } from './answer-kind.ts';

const record = (text: string): AnswerRecord => {
  const [name, type, ...data] = text.split(' ');
  return { name: name!, type: type!, data: data.join(' ') };
};

interface Given extends Partial<Omit<AnswerToClassify, 'answers' | 'authority' | 'flags'>> {
  readonly flags?: string;
  readonly answers?: readonly string[];
  readonly authority?: readonly string[];
}

/** Classifies an answer to the question `www.zone.example. A`, by default from a recursive resolver. */
function classify({ flags = 'qr rd ra', answers = [], authority = [], ...given }: Given) {
  return classifyAnswer({
    queryName: 'www.zone.example.',
    recordType: 'A',
    recursionDesired: true,
    rcode: 'NOERROR',
    flags: flags.split(' '),
    answers: answers.map(record),
    authority: authority.map(record),
    ...given,
  });
}

const soa = 'zone.example. SOA ns.zone.example. admin.zone.example. 1 7200 3600 1209600 300';
const ns = 'zone.example. NS ns.zone.example.';
const address = 'www.zone.example. A 192.0.2.1';
const alias = 'www.zone.example. CNAME web.other.example.';
const elsewhere = 'elsewhere.example. SOA a. b. 1 2 3 4 5';
const bare = 'qr rd';
/** A chain of `length` aliases from `www.zone.example.` over `n1.` and `n2.` on, the last record first. */
const chainOf = (length: number): string[] =>
  Array.from(
    { length },
    (_, index) => `${index === 0 ? 'www.zone.example' : `n${index}`}. CNAME n${index + 1}.`,
  ).toReversed();

describe('an answer', () => {
  it.each<[string, AnswerKind, Given]>([
    ['records', 'answer', { answers: [address] }],
    ['records, in other letters', 'answer', { answers: ['WWW.Zone.EXAMPLE. A 192.0.2.1'] }],
    ['records at the end of an alias', 'answer', { answers: [alias, 'web.other.example. A 192.0.2.1'] }],
    ['the same in another order', 'answer', { answers: ['web.other.example. A 192.0.2.1', alias] }],
    ['records where the alias was asked for', 'answer', { recordType: 'CNAME', answers: [alias] }],
    ['records next to those of a stranger', 'answer', { answers: ['evil.net. A 192.0.2.66', address] }],
    ['records, and is cut off', 'truncated', { flags: 'qr tc rd ra', answers: [address] }],
    ['records of a server without authority', 'answer', { flags: bare, answers: [address] }],
    [
      'records behind a DNAME without its CNAME',
      'answer',
      { answers: ['zone.example. DNAME new.example.', 'www.new.example. A 192.0.2.1'] },
    ],
    ['records of a stranger alone', 'foreign', { answers: ['evil.net. A 192.0.2.66'] }],
    ['records of another type', 'foreign', { answers: ['www.zone.example. AAAA 2001:db8::1'] }],
    ['a stranger in an answer with authority', 'foreign', { flags: 'qr aa', answers: ['evil.net. A 192.0.2.66'] }],
    ['NODATA with SOA', 'nodata', { authority: [soa] }],
    ['NODATA with SOA and NS', 'nodata', { flags: 'qr aa rd', authority: [ns, soa] }],
    ['NODATA with SOA, without authority and recursion', 'nodata', { flags: bare, authority: [soa] }],
    ['NODATA of a resolver that strips the SOA', 'nodata', {}],
    ['NODATA with authority alone', 'nodata', { flags: 'qr aa' }],
    ['NODATA behind an alias', 'nodata', { answers: [alias], authority: ['other.example. SOA a. b. 1 2 3 4 5'] }],
    ['an alias whose end is not stated', 'alias', { answers: [alias] }],
    ['an alias out of the zone', 'alias', { flags: 'qr aa rd', answers: [alias] }],
    ['an alias and the SOA of another zone', 'alias', { answers: [alias], authority: [soa] }],
    ['an alias and a stranger', 'alias', { answers: [alias, 'evil.net. A 192.0.2.66'] }],
    ['a referral', 'referral', { flags: bare, authority: [ns] }],
    ['a referral far above', 'referral', { flags: bare, authority: ['example. NS a.nic.example.'] }],
    ['a referral of a resolver that was not asked to resolve', 'referral', { flags: 'qr ra', authority: [ns] }],
    ['a referral of a resolver', 'referral', { authority: [ns] }],
    ['a referral that claims authority', 'referral', { flags: 'qr aa', authority: [ns] }],
    ['a referral to another branch', 'lame', { flags: bare, authority: ['other.example. NS a.'] }],
    ['the bare question', 'lame', { flags: bare }],
    ['nothing of a resolver that was not asked to resolve', 'lame', { flags: 'qr ra', recursionDesired: false }],
    ['the SOA of a zone elsewhere', 'lame', { flags: bare, authority: ['other.example. SOA a. b. 1 2 3 4 5'] }],
    ['cut off', 'truncated', { flags: 'qr aa tc rd' }],
    ['cut off behind an alias', 'truncated', { flags: 'qr tc rd ra', answers: [alias] }],
    ['a circle of one', 'loop', { answers: ['www.zone.example. CNAME WWW.zone.example.'] }],
    [
      'a circle of two',
      'loop',
      { answers: ['www.zone.example. CNAME b.zone.example.', 'b.zone.example. CNAME www.zone.example.'] },
    ],
    ['records behind a long chain of aliases', 'answer', { answers: [...chainOf(128), 'n128. A 192.0.2.1'] }],
    ['a longer chain', 'loop', { answers: [...chainOf(129), 'n129. A 192.0.2.1'] }],
    ['a DNAME that grows without end', 'loop', { answers: ['zone.example. DNAME a.zone.example.'] }],
    ['NXDOMAIN', 'nxdomain', { rcode: 'NXDOMAIN', authority: [soa] }],
    ['NXDOMAIN of an alias', 'nxdomain', { rcode: 'NXDOMAIN', answers: [alias] }],
    [
      'NXDOMAIN of an alias, by the SOA of its end',
      'nxdomain',
      { flags: bare, rcode: 'NXDOMAIN', answers: [alias], authority: ['other.example. SOA a. b. 1 2 3 4 5'] },
    ],
    ['NXDOMAIN of a resolver that strips the SOA', 'nxdomain', { rcode: 'NXDOMAIN' }],
    ['NXDOMAIN with authority alone', 'nxdomain', { flags: 'qr aa', rcode: 'NXDOMAIN' }],
    ['NXDOMAIN with the name servers of the zone alone', 'nxdomain', { rcode: 'NXDOMAIN', authority: [ns] }],
    ['NXDOMAIN by the SOA of the root', 'nxdomain', { rcode: 'NXDOMAIN', authority: ['. SOA a. b. 1 2 3 4 5'] }],
    [
      'NXDOMAIN with SOA, without authority and recursion',
      'nxdomain',
      { flags: bare, rcode: 'NXDOMAIN', authority: [soa] },
    ],
    ['NXDOMAIN that nothing proves', 'lame', { flags: bare, rcode: 'NXDOMAIN' }],
    ['NXDOMAIN that nothing proves, behind an alias', 'lame', { flags: bare, rcode: 'NXDOMAIN', answers: [alias] }],
    [
      'NXDOMAIN of a resolver that was not asked to resolve',
      'lame',
      { flags: 'qr ra', rcode: 'NXDOMAIN', recursionDesired: false },
    ],
    ['NXDOMAIN by the SOA of a zone elsewhere', 'lame', { rcode: 'NXDOMAIN', authority: [elsewhere] }],
    ['the same with authority', 'lame', { flags: 'qr aa', rcode: 'NXDOMAIN', authority: [elsewhere] }],
    [
      'NXDOMAIN by the SOA of a zone below',
      'lame',
      { rcode: 'NXDOMAIN', authority: ['a.www.zone.example. SOA a. b.'] },
    ],
    ['NODATA of a resolver by the SOA of a zone elsewhere', 'lame', { authority: [elsewhere] }],
    ['NODATA with authority by the SOA of a zone elsewhere', 'lame', { flags: 'qr aa', authority: [elsewhere] }],
    ['NODATA by the SOA of a zone below', 'lame', { authority: ['a.www.zone.example. SOA a. b. 1 2 3 4 5'] }],
    ['NODATA by the SOA of the name itself', 'nodata', { authority: ['WWW.zone.example. SOA a. b. 1 2 3 4 5'] }],
    ['NODATA by one SOA of two', 'nodata', { authority: [elsewhere, soa] }],
    ['SERVFAIL', 'error', { rcode: 'SERVFAIL' }],
    ['YXDOMAIN of a DNAME', 'error', { rcode: 'YXDOMAIN', answers: ['zone.example. DNAME new.example.'] }],
  ])('with %s is of the kind %s', (_reason, kind, given) => {
    expect(classify(given).kind).toBe(kind);
  });

  it.each<[string, AnswerKind, Given]>([
    ['NXDOMAIN that is blocked', 'filtered', { rcode: 'NXDOMAIN', authority: [soa], extendedErrors: [15] }],
    ['NXDOMAIN that is censored', 'filtered', { rcode: 'NXDOMAIN', extendedErrors: [16] }],
    ['NODATA that is filtered', 'filtered', { extendedErrors: [17] }],
    ['NODATA that is filtered, with SOA', 'filtered', { authority: [soa], extendedErrors: [0, 17] }],
    ['NODATA that is prohibited', 'filtered', { extendedErrors: [18] }],
    ['NODATA that is forged', 'filtered', { extendedErrors: [4] }],
    ['an alias whose end is filtered', 'filtered', { answers: [alias], extendedErrors: [17] }],
    ['SERVFAIL that is a block', 'filtered', { rcode: 'SERVFAIL', extendedErrors: [15] }],
    ['a client that is refused', 'error', { rcode: 'REFUSED', extendedErrors: [18] }],
    ['records that are forged', 'answer', { answers: [address], extendedErrors: [4] }],
    ['NXDOMAIN from a stale cache', 'nxdomain', { rcode: 'NXDOMAIN', extendedErrors: [19] }],
    ['NODATA that was synthesized', 'nodata', { authority: [soa], extendedErrors: [29] }],
    ['SERVFAIL of an unreachable zone', 'error', { rcode: 'SERVFAIL', extendedErrors: [22] }],
    ['a referral that is filtered', 'referral', { flags: bare, authority: [ns], extendedErrors: [17] }],
  ])('with %s is, by its extended errors, of the kind %s', (_reason, kind, given) => {
    expect(classify(given).kind).toBe(kind);
  });

  it('names the end of its aliases', () => {
    const chain = [alias, 'web.other.example. CNAME edge.cdn.example.', 'edge.cdn.example. A 192.0.2.1'];

    expect(classify({ answers: [address] }).canonicalName).toBeNull();
    expect(classify({ answers: chain }).canonicalName).toBe('edge.cdn.example.');
    expect(classify({ answers: [alias], rcode: 'NXDOMAIN' }).canonicalName).toBe('web.other.example.');
  });

  it('names the zone that it refers to, also next to an alias, and next to nothing else', () => {
    const other = 'other.example. NS ns.other.example.';

    expect(classify({ flags: bare, authority: [ns] }).referral).toBe('zone.example.');
    expect(classify({ flags: bare, answers: [alias], authority: [other] })).toMatchObject({
      kind: 'alias',
      referral: 'other.example.',
    });
    expect(classify({ answers: [address], authority: [ns] }).referral).toBeNull();
  });

  it.each<[string, AnswerKind, Given]>([
    ['below the zone', 'referral', { flags: bare, authority: [ns], zone: 'example.' }],
    ['to the zone itself', 'lame', { flags: bare, authority: [ns], zone: 'zone.example.' }],
    ['to the zone itself with authority', 'nodata', { flags: 'qr aa', authority: [ns], zone: 'zone.example.' }],
    ['upwards', 'lame', { flags: bare, authority: ['. NS a.root.'], zone: 'example.' }],
    ['upwards with authority', 'lame', { flags: 'qr aa', authority: ['. NS a.root.'], zone: 'example.' }],
    ['below the zone with authority', 'referral', { flags: 'qr aa', authority: [ns], zone: 'example.' }],
  ])('of a server whose zone is known refers %s: %s', (_reason, kind, given) => {
    expect(classify({ recursionDesired: false, ...given }).kind).toBe(kind);
  });
});
