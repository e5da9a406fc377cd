import { describe, expect, it } from '@jest/globals';
import { publicRequest, ruleErrors } from '@vantage/contract';

import { dns } from './contract.ts';

type Params = Parameters<typeof dns.budgetMs>[0];

const params = (recordType: string, options: Partial<Params['options']> = {}, host = 'example.com'): Params => ({
  host,
  recordType,
  options: {
    transport: 'udp',
    dnssecOk: false,
    checkingDisabled: false,
    recursionDesired: true,
    nsid: false,
    trace: false,
    ...options,
  },
});

describe('a dns request', () => {
  it.each([
    ['a record type in any case', params('mx')],
    ['PTR of an address', params('PTR', {}, '192.0.2.1')],
    ['PTR of an IPv6 address', params('ptr', {}, '2001:db8::1')],
    ['a resolver on a port of DNS', params('A', { resolver: 'dns.google:853', transport: 'tls' })],
    ['a trace over tcp', params('A', { trace: true, transport: 'tcp' })],
  ])('is right with %s', (_reason, request) => {
    expect(ruleErrors(dns, request)).toEqual([]);
  });

  it.each([
    ['ANY', params('any'), '/recordType'],
    ['an unknown record type', params('FOO'), '/recordType'],
    ['another record than PTR of an address', params('A', {}, '192.0.2.1'), '/recordType'],
    ['a resolver that is a URL', params('A', { resolver: 'https://dns.google' }), '/options/resolver'],
    ['a resolver on another port', params('A', { resolver: '9.9.9.9:5353' }), '/options/resolver'],
    ['a trace by a resolver', params('A', { trace: true, resolver: '9.9.9.9' }), '/options/resolver'],
    ['a trace over TLS', params('A', { trace: true, transport: 'tls' }), '/options/transport'],
  ])('is refused with %s', (_reason, request, path) => {
    expect(ruleErrors(dns, request).map((error) => error.path)).toEqual([path]);
  });

  it('names its resolver as a further target, for the policy', () => {
    expect(dns.otherTargets?.(params('A', { resolver: '[2001:db8::1]:853', transport: 'tls' }))).toEqual([
      { path: '/options/resolver', host: '2001:db8::1', port: 853, purpose: 'dns' },
    ]);
    expect(dns.otherTargets?.(params('A'))).toEqual([]);
  });

  it.each([
    ['another case', 'aaaa', { recordType: 'AAAA' }],
    ['the number of a type with a name', 'type15', { recordType: 'MX' }],
    ['the number of another', 'type65280', { recordType: 'TYPE65280' }],
    ['the default in another case', 'a', {}],
  ])('is given back with its record type as results name it: %s', (_reason, recordType, expected) => {
    expect(publicRequest(dns, params(recordType))).toEqual(expected);
  });

  it('has 10 s, and 20 s for a trace', () => {
    expect(dns.budgetMs(params('A'))).toBe(10_000);
    expect(dns.budgetMs(params('A', { trace: true }))).toBe(20_000);
  });
});
