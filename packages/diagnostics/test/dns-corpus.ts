import type { AnswerKind } from '@vantage/contract/dns-message';
import type { FailureCode } from '@vantage/contract';

import type { hostileBehaviours } from './dns-hostile.ts';

export interface CorpusRow {
  /** The rcode, the numbers of answers and of records in the authority section, and the addresses. */
  readonly ours: string;
  /** Undefined if no answer to the query arrived. */
  readonly kind?: AnswerKind;
  readonly code?: FailureCode;
  readonly breach?: string;
  /** The verdict of `dig` if it differs, with the reason. */
  readonly dig?: string;
  readonly why?: string;
}

/** The expected result of each behaviour of `dns-hostile.ts`, to a question for A. */
export const hostileCorpus: Readonly<Record<keyof typeof hostileBehaviours, CorpusRow>> = {
  answer: { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'answer-lame': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'other-case': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'chaos-class': {
    ours: 'NOERROR 1/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a record is not of class IN',
    dig: 'nothing, bad packet',
    why: 'dig shows no record of a message that holds another class',
  },
  referral: { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  'referral-top': { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  'referral-up': { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  'referral-aside': { ours: 'NOERROR 0/1', kind: 'lame', code: 'dns_no_answer' },
  'referral-claimed': { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  'referral-resolver': { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  nodata: { ours: 'NOERROR 0/1', kind: 'nodata' },
  'nodata-ns': { ours: 'NOERROR 0/2', kind: 'nodata' },
  'nodata-cached': { ours: 'NOERROR 0/1', kind: 'nodata' },
  'nodata-bare': { ours: 'NOERROR 0/0', kind: 'nodata' },
  'nodata-stripped': { ours: 'NOERROR 0/0', kind: 'nodata' },
  'nodata-aside': { ours: 'NOERROR 0/1', kind: 'lame', code: 'dns_no_answer' },
  bare: { ours: 'NOERROR 0/0', kind: 'lame', code: 'dns_no_answer' },
  nxdomain: { ours: 'NXDOMAIN 0/1', kind: 'nxdomain', code: 'dns_nxdomain' },
  'nodata-elsewhere': { ours: 'NOERROR 0/1', kind: 'lame', code: 'dns_no_answer' },
  'nodata-below': { ours: 'NOERROR 0/1', kind: 'lame', code: 'dns_no_answer' },
  'nxdomain-bare': { ours: 'NXDOMAIN 0/0', kind: 'lame', code: 'dns_no_answer' },
  'nxdomain-stripped': { ours: 'NXDOMAIN 0/0', kind: 'nxdomain', code: 'dns_nxdomain' },
  'nxdomain-ns': { ours: 'NXDOMAIN 0/1', kind: 'nxdomain', code: 'dns_nxdomain' },
  'nxdomain-elsewhere': { ours: 'NXDOMAIN 0/1', kind: 'lame', code: 'dns_no_answer' },
  'filter-nodata': { ours: 'NOERROR 0/0', kind: 'filtered', code: 'dns_no_answer' },
  'filter-nxdomain': { ours: 'NXDOMAIN 0/0', kind: 'filtered', code: 'dns_no_answer' },
  'filter-alias': { ours: 'NOERROR 1/0', kind: 'filtered', code: 'dns_no_answer' },
  'filter-forged': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'filter-refused': { ours: 'REFUSED 0/0', kind: 'error', code: 'dns_refused' },
  alias: { ours: 'NOERROR 1/0', kind: 'alias' },
  'alias-whole': { ours: 'NOERROR 2/0 192.0.2.1', kind: 'answer' },
  'alias-nodata': { ours: 'NOERROR 1/1', kind: 'nodata' },
  'alias-missing': { ours: 'NXDOMAIN 1/1', kind: 'nxdomain', code: 'dns_nxdomain' },
  'alias-referral': { ours: 'NOERROR 1/1', kind: 'alias' },
  'alias-self': { ours: 'NOERROR 1/0', kind: 'loop', code: 'dns_no_answer' },
  'alias-circle': { ours: 'NOERROR 2/0', kind: 'loop', code: 'dns_no_answer' },
  'dname-endless': { ours: 'NOERROR 1/0', kind: 'loop', code: 'dns_no_answer' },
  'dname-alone': { ours: 'NOERROR 2/0 192.0.2.1', kind: 'answer' },
  foreign: { ours: 'NOERROR 1/0 192.0.2.66', kind: 'foreign', code: 'dns_bad_response' },
  'foreign-and-own': { ours: 'NOERROR 2/0 192.0.2.66 192.0.2.1', kind: 'answer' },
  'foreign-type': { ours: 'NOERROR 1/0', kind: 'foreign', code: 'dns_bad_response' },
  'cut-udp': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'cut-always': { ours: 'NOERROR 0/0', kind: 'truncated', code: 'dns_no_answer' },
  'cut-behind': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'truncated', code: 'dns_no_answer' },
  'cut-record': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.1, truncated, malformed',
    why: 'the answer over TCP is whole; dig warns of the one over UDP',
  },
  formerr: { ours: 'FORMERR 0/0', kind: 'error', code: 'dns_format_error' },
  servfail: { ours: 'SERVFAIL 0/0', kind: 'error', code: 'dns_servfail' },
  notimp: { ours: 'NOTIMP 0/0', kind: 'error', code: 'dns_not_implemented' },
  refused: { ours: 'REFUSED 0/0', kind: 'error', code: 'dns_refused' },
  yxdomain: { ours: 'YXDOMAIN 1/0', kind: 'error', code: 'dns_error' },
  notauth: { ours: 'NOTAUTH 0/0', kind: 'error', code: 'dns_error' },
  rcode12: {
    ours: 'RCODE12 0/0',
    kind: 'error',
    code: 'dns_error',
    dig: 'RESERVED12 0/0, no recursion',
    why: 'another mnemonic for a number that has none',
  },
  'wrong-id': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.1, id mismatch',
    why: 'both wait for the right one; ours tells strangers only if nothing else comes',
  },
  'wrong-name': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.1, question mismatch',
    why: 'as with the id',
  },
  'wrong-type': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.1, question mismatch',
    why: 'as with the id',
  },
  'wrong-class': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.1, question mismatch, malformed',
    why: 'as with the id',
  },
  'no-question': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.66',
    why: 'dig takes records without a question, which anyone may have sent (RFC 5452 section 9.1)',
  },
  'a-query': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 1/0 192.0.2.66, not a response',
    why: 'dig takes a message that is no response',
  },
  'empty-datagram': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'two-octets': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'edns-none': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  'edns-version': { ours: 'BADVERS 0/0', kind: 'error', code: 'dns_error' },
  'edns-formerr': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'FORMERR 0/0, retry without EDNS',
    why: 'asked again without EDNS (RFC 6891 section 7), which dig leaves to its user',
  },
  'edns-notimp': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOTIMP 0/0, retry without EDNS',
    why: 'as with FORMERR',
  },
  'edns-twice': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'an OPT record is out of place',
  },
  'edns-option-cut': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a field runs past its bound',
    dig: 'NOERROR 1/0 192.0.2.1, malformed, extra octets',
    why: 'dig counts the rest of the option as octets behind the message',
  },
  oversize: {
    ours: 'NOERROR 50/0 192.0.2.1',
    kind: 'answer',
    dig: 'NOERROR 200/0 192.0.2.1',
    why: 'fifty records are shown, and `truncated` says that there were more',
  },
  'pointer-self': {
    ours: 'NOERROR 0/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a compression pointer does not lead backwards',
    dig: 'nothing, bad packet',
    why: 'header and rcode are shown, dig shows nothing',
  },
  'pointer-forwards': {
    ours: 'NOERROR 0/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a compression pointer does not lead backwards',
    dig: 'nothing, bad packet',
    why: 'header and rcode are shown, dig shows nothing',
  },
  'label-reserved': {
    ours: 'NOERROR 0/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a label has a reserved type',
    dig: 'nothing, bad packet',
    why: 'header and rcode are shown, dig shows nothing',
  },
  'data-short': {
    ours: 'NOERROR 2/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a field runs past its bound',
    dig: 'NOERROR 0/0, malformed, extra octets',
    why: 'the bounds of the record are good: it is shown as octets, and the one behind it is read',
  },
  'data-long': {
    ours: 'NOERROR 1/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a record has more data than its type says',
    dig: 'nothing, bad packet',
    why: 'as above; dig shows nothing',
  },
  'data-cut': {
    ours: 'NOERROR 0/0',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a field runs past its bound',
    dig: 'NOERROR 0/0, malformed, extra octets',
    why: 'dig counts what it did not read as octets behind the message',
  },
  'count-high': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a name runs past its bound',
  },
  'count-low': { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer', breach: '16 octets after the last record' },
  trailing: { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer', breach: '8 octets after the last record' },
  'malformed-authority': {
    ours: 'NOERROR 1/1 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a label runs past its bound',
    dig: 'NOERROR 1/0 192.0.2.1, malformed, extra octets',
    why: 'the record is shown as octets',
  },
};

const stranger = { ours: 'nothing', code: 'dns_bad_response' } as const;

/**
 * Expected results over TCP, where no further message is awaited: rows that differ from `hostileCorpus`, and some that
 * do not.
 */
export const hostileTcpCorpus: Readonly<Partial<Record<keyof typeof hostileBehaviours, CorpusRow>>> = {
  answer: { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer' },
  referral: { ours: 'NOERROR 0/1', kind: 'referral', code: 'dns_no_answer' },
  'cut-always': { ours: 'NOERROR 0/0', kind: 'truncated', code: 'dns_no_answer' },
  'wrong-id': stranger,
  'wrong-name': stranger,
  'wrong-type': stranger,
  'wrong-class': {
    ...stranger,
    dig: 'nothing, question mismatch, malformed',
    why: 'what is no answer to the question is not read',
  },
  'no-question': {
    ...stranger,
    dig: 'NOERROR 1/0 192.0.2.66',
    why: 'dig takes records without a question, which anyone may have sent (RFC 5452 section 9.1)',
  },
  'a-query': {
    ...stranger,
    dig: 'NOERROR 1/0 192.0.2.66, not a response',
    why: 'dig takes a message that is no response',
  },
  'edns-formerr': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'answer',
    dig: 'FORMERR 0/0, retry without EDNS',
    why: 'asked again without EDNS (RFC 6891 section 7)',
  },
  'data-short': {
    ours: 'NOERROR 2/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a field runs past its bound',
    dig: 'NOERROR 0/0, malformed, extra octets',
    why: 'the bounds of the record are good: it is shown as octets, and the one behind it is read',
  },
  'count-high': {
    ours: 'NOERROR 1/0 192.0.2.1',
    kind: 'malformed',
    code: 'dns_bad_response',
    breach: 'a name runs past its bound',
  },
  trailing: { ours: 'NOERROR 1/0 192.0.2.1', kind: 'answer', breach: '8 octets after the last record' },
};

/** Kind of the answer to each query about `dns-corpus-zone.ts`; servers listed in `but` answer with another kind. */
export const zoneCorpus: readonly {
  readonly question: string;
  readonly kind: AnswerKind;
  readonly canonical?: string;
  /** Other classifications allowed per server, with the reason. */
  readonly but?: Readonly<Record<string, { readonly kind: AnswerKind; readonly why: string }>>;
}[] = [
  { question: 'www A', kind: 'answer' },
  { question: 'WWW A', kind: 'answer' },
  { question: 'www MX', kind: 'nodata' },
  { question: 'six A', kind: 'nodata' },
  { question: 'branch A', kind: 'nodata' },
  { question: 'missing A', kind: 'nxdomain' },
  { question: 'alias A', kind: 'answer', canonical: 'www' },
  { question: 'alias CNAME', kind: 'answer' },
  { question: 'chain A', kind: 'answer', canonical: 'www' },
  { question: 'half A', kind: 'nodata', canonical: 'six' },
  { question: 'dangling A', kind: 'nxdomain', canonical: 'missing' },
  {
    question: 'one A',
    kind: 'loop',
    canonical: 'one',
    but: {
      pdns: { kind: 'error', why: 'PowerDNS answers SERVFAIL to a circle of aliases' },
      named: { kind: 'error', why: 'a resolver answers SERVFAIL to a circle of aliases' },
      unbound: { kind: 'error', why: 'a resolver answers SERVFAIL to a circle of aliases' },
    },
  },
  {
    question: 'host.old A',
    kind: 'answer',
    canonical: 'host.new',
    but: { pdns: { kind: 'nxdomain', why: 'PowerDNS follows DNAME records only if configured to' } },
  },
  { question: 'old DNAME', kind: 'answer' },
  { question: 'a.wild A', kind: 'answer' },
  { question: 'a.wild MX', kind: 'nodata' },
];

/** Further queries, which only an authoritative server answers without querying others. */
export const authorityCorpus: typeof zoneCorpus = [
  { question: 'outside A', kind: 'alias', canonical: 'www.elsewhere.example.net.' },
  { question: 'deep.sub A', kind: 'referral' },
  { question: 'sub NS', kind: 'referral' },
  { question: 'sub DS', kind: 'nodata' },
  { question: 'www.elsewhere.example.net. A', kind: 'error' },
];
