import { describe, expect, it } from '@jest/globals';
import type { Family } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { bad, each, summaryOf, type Result } from '../test/cases.ts';
import { redirectOf } from '../test/redirect.ts';
import { dns, http, ping } from '../test/results.ts';

const unresolved = (code: 'dns_nxdomain' | 'dns_no_address', fields: object = {}) =>
  bad(code, { resolvedIp: null, ...fields }, { phase: 'resolve' });
const withoutFamily = (family: Family) => {
  const result = unresolved('dns_no_address');
  return { ...result, error: { ...result.error!, family } };
};
const missing = dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: null });
const missingEnd = dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: 'gone.example.' });
const alias = dns(['CNAME gone.example.'], { answerKind: 'alias', canonicalName: 'gone.example.' });
const b = { url: 'https://b.example/', redirects: [redirectOf('https://example.com/')] };

/** The reason at the end of the headline. */
const reasonIn = (type: CheckTypeName, results: Readonly<Record<string, Result<CheckTypeName>>>) =>
  summaryOf(type, results).headline.replace(/^.*?: /, '');

describe('a name that does not exist for one probe', () => {
  it.each<[string, CheckTypeName, Result<CheckTypeName>, Result<CheckTypeName>, string]>([
    ['has an address for others', 'dns', missing, dns(['A 192.0.2.1']), 'the name does not exist'],
    ['has other records', 'dns', missing, dns([], { answerKind: 'nodata' }), 'the name does not exist'],
    ['is an alias for others', 'dns', missing, alias, 'the name does not exist'],
    [
      'is the end of aliases, and has an address for others',
      'dns',
      missingEnd,
      dns(['A 192.0.2.1'], { answerKind: 'answer' }),
      'the name is an alias of gone.example., which does not exist',
    ],
    ['is resolved by others', 'ping', unresolved('dns_nxdomain'), ping([5, 5]), 'the name does not exist'],
    ['has no address for it alone', 'http', unresolved('dns_no_address'), http(200), 'the name has no address'],
    [
      'has no address of a family for it alone',
      'http',
      withoutFamily(6),
      http(200, { resolvedIp: '2001:db8::1' }),
      'the name has no IPv6 address',
    ],
    [
      'is that to which redirects lead others',
      'http',
      unresolved('dns_nxdomain', b),
      http(200, b),
      'the name b.example, to which it redirects, does not exist',
    ],
    [
      'redirects others',
      'http',
      unresolved('dns_nxdomain'),
      bad('connection_refused', { ...b, resolvedIp: '203.0.113.2' }),
      'the name does not exist',
    ],
  ])('and %s does so by its resolver', (_reason, type, one, others, reason) => {
    const told = reasonIn(type, { 'fra-1': one, ...each('ber-1 par-1', others) });
    expect(told).toContain(`the resolver says that ${reason}`);
  });

  it('does so by a name server in a trace', () => {
    const row = {
      zone: '.',
      server: 'a.',
      address: '192.0.2.1',
      rt: 1,
      rcode: null,
      authoritative: null,
      referral: null,
    };
    const trace = [{ ...row, records: [], error: null }];
    expect(
      reasonIn('dns', {
        'fra-1': dns('NXDOMAIN', { answerKind: 'nxdomain', canonicalName: null, trace }),
        'ber-1': dns(['A 192.0.2.1'], { trace }),
      }),
    ).toBe('a name server of the zone says that the name does not exist.');
  });

  it.each<[string, CheckTypeName, Result<CheckTypeName>, Result<CheckTypeName>]>([
    ['was not found by others either', 'dns', missing, missing],
    ['is refused to others', 'dns', missing, dns('REFUSED')],
    ['is an alias, whose end others do not know', 'dns', missingEnd, alias],
    ['has an address of the other family', 'http', withoutFamily(6), http(200)],
    ['is that of a redirect which leads others elsewhere', 'http', unresolved('dns_nxdomain', b), http(200)],
  ])('that %s does not exist', (_reason, type, one, other) => {
    expect(reasonIn(type, { 'fra-1': one, 'ber-1': other })).not.toContain('the resolver says');
  });
});
