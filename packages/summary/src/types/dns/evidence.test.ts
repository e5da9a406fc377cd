import { describe, expect, it } from '@jest/globals';
import type { Summary } from '@vantage/contract';

import { bad, each, lines, summaryOf, textOf } from '../../../test/cases.ts';
import { compared } from '../../../test/compared.ts';
import { extended } from '../../../test/extended-errors.ts';
import { dns } from '../../../test/results.ts';

const found = dns(['A 192.0.2.1']);
const expired = dns(['A 192.0.2.1'], extended(3, 'Stale Answer'));
const expiredDenial = dns('NXDOMAIN', extended(19, 'Stale NXDOMAIN Answer'));
const unreached = dns('SERVFAIL', extended(22, 'No Reachable Authority'));
const forged = dns(['A 0.0.0.0'], extended(15, 'Blocked'));
const missing = dns('NXDOMAIN');
const proved = dns('NXDOMAIN', { dnssec: { ad: true, verdict: 'validated' } });
const unheard = bad('timed_out', { recordType: 'A', resolvedIp: null }, { source: 'network', phase: 'response' });

const headlineOf = (summary: Summary): string => `${summary.verdict}: ${summary.headline}`;

describe('an expired answer', () => {
  it.each<[string, Summary]>([
    [
      'degraded: example.com resolves (A) from the one probe asked, but the answer has expired, and could not be refreshed.',
      summaryOf('dns', { 'fra-1': expired }),
    ],
    [
      'degraded: example.com resolves (A) from all 3 probes, but the answer has expired, and could not be refreshed.',
      summaryOf('dns', each('fra-1 nyc-1 lon-1', expired)),
    ],
    [
      'degraded: example.com resolves (A) from all 3 probes, but the answer has expired for fra-1, and could not be refreshed.',
      summaryOf('dns', { 'fra-1': expired, ...each('nyc-1 lon-1', found) }),
    ],
    [
      'partial: example.com resolves (A) from 1 of 2 probes, and fails from nyc-1: the resolver could not answer (SERVFAIL, EDE 22 No Reachable Authority).',
      summaryOf('dns', { 'fra-1': expired, 'nyc-1': unreached }),
    ],
    [
      'partial: example.com resolves (A) from 3 of 4 probes, and fails from nyc-1: the resolver could not answer (SERVFAIL, EDE 22 No Reachable Authority).',
      summaryOf('dns', { 'fra-1': expired, 'nyc-1': unreached, ...each('lon-1 syd-1', found) }),
    ],
    [
      'down: example.com does not resolve (A) from any of 2 probes: the name does not exist, by an expired answer (EDE 19 Stale NXDOMAIN Answer).',
      summaryOf('dns', each('fra-1 nyc-1', expiredDenial)),
    ],
    [
      'partial: example.com resolves (A) from 1 of 2 probes, and fails from nyc-1: the name does not exist.',
      summaryOf('dns', { 'fra-1': expired, 'nyc-1': missing }),
    ],
    [
      'partial: example.com resolves (A) from 1 of 2 probes, and fails from nyc-1: the resolver says that the name does not exist, by an expired answer (EDE 19 Stale NXDOMAIN Answer).',
      summaryOf('dns', { 'fra-1': found, 'nyc-1': expiredDenial }),
    ],
  ])('makes it %s', (headline, summary) => {
    expect(headlineOf(summary)).toBe(headline);
  });

  it('is no sign that a place breaks the name for the others', () => {
    const missing = dns('NXDOMAIN', { authority: [{ name: 'example.com.', type: 'SOA', ttl: 1, data: 'x' }] });
    const some = summaryOf('dns', { 'fra-1': expired, ...each('ber-1 par-1', missing) });
    const one = summaryOf('dns', { 'fra-1': missing, 'nyc-1': expired });

    expect(lines(some).filter((line) => line.startsWith('down_'))).toEqual(['down_some critical: ber-1 par-1']);
    expect(textOf(some, 'down_some')).toMatch(/The other has an answer that has expired\.$/);
    expect(textOf(one, 'down_one_probe')).toContain('One other probe has an answer that has expired. ');
  });

  it('does not outvote two that got one that has not expired', () => {
    const summary = summaryOf('dns', { 'fra-1': expired, 'nyc-1': unreached, ...each('lon-1 syd-1 par-1', found) });

    expect(lines(summary)).toEqual(['dns_stale warning: fra-1', 'dns_unanswered info: nyc-1']);
  });

  it('is laid to name servers, whatever others have in their caches', () => {
    const [one, many] = [{ 'fra-1': expired, 'nyc-1': found }, each('fra-1 nyc-1', expired)];

    expect(textOf(summaryOf('dns', one), 'dns_stale')).toBe(
      'The resolver of fra-1 gives an answer that has expired (EDE 3 Stale Answer). It could not refresh it: name servers of the zone ' +
        'do not answer, fail or are slow, or cannot be reached from there. One other has an answer that has not expired.',
    );
    expect(textOf(summaryOf('dns', many), 'dns_stale')).toContain('They could not refresh it: name servers');
  });

  it('is a difference between two checks, and its records are none for certain', () => {
    const { differences } = compared('dns', { 'fra-1': dns(['A 192.0.2.2']) }, { 'fra-1': expired });

    expect(differences.map(({ text, certain }) => [text, certain])).toEqual(
      expect.arrayContaining([
        ['answer not expired → expired', true],
        ['records 192.0.2.2 → 192.0.2.1', false],
      ]),
    );
  });
});

describe('a failure of which the resolver names the cause', () => {
  it.each<[string, Summary]>([
    [
      'down: example.com does not resolve (A) from any of 2 probes: the resolver could not answer (SERVFAIL, EDE 22 No Reachable Authority).',
      summaryOf('dns', each('fra-1 nyc-1', unreached)),
    ],
    [
      'down: example.com does not resolve (A) from the one probe asked: the resolver could not answer (SERVFAIL).',
      summaryOf('dns', { 'fra-1': dns('SERVFAIL', extended(13, 'Cached Error')) }),
    ],
    [
      'partial: example.com resolves (A) from 2 of 3 probes, and fails from fra-1: the resolver could not answer (SERVFAIL, EDE 7 Signature Expired).',
      summaryOf('dns', { 'fra-1': dns('SERVFAIL', extended(7, 'Signature Expired')), ...each('nyc-1 lon-1', found) }),
    ],
    [
      'up: example.com resolves (A) from both probes that got an answer; one probe got no answer to the question, which proves neither.',
      summaryOf('dns', { 'fra-1': unreached, ...each('nyc-1 lon-1', found) }),
    ],
  ])('makes it %s', (headline, summary) => {
    expect(headlineOf(summary)).toBe(headline);
  });

  it('of validation is the one about DNSSEC, if there are several', () => {
    const errors = [extended(22, 'No Reachable Authority'), extended(6, 'DNSSEC Bogus')];
    const extendedErrors = errors.flatMap(({ edns }) => edns?.extendedErrors ?? []);
    const edns = { version: 0, udpSize: 1232, dnssecOk: false, nsid: null, extendedErrors };
    const dnssec = { ad: false, verdict: 'validation_failed' } as const;
    const failed = dns('SERVFAIL', { dnssec, edns });

    expect(textOf(summaryOf('dns', { 'fra-1': failed }), 'dnssec_failed')).toContain('(EDE 6 DNSSEC Bogus)');
  });

  it('of validation has it in the finding, and caches that still have an answer', () => {
    const failed = dns('SERVFAIL', {
      dnssec: { ad: false, verdict: 'validation_failed' },
      ...extended(7, 'Signature Expired'),
    });
    const validated = dns(['A 192.0.2.1'], { dnssec: { ad: true, verdict: 'validated' } });
    const summary = summaryOf('dns', { ...each('fra-1 nyc-1 lon-1', failed), 'syd-1': validated });

    expect(textOf(summary, 'dnssec_failed')).toBe(
      'The answer fails the validation of DNSSEC (EDE 7 Signature Expired) for the resolvers of 3 probes (fra-1, lon-1 and nyc-1). ' +
        'The resolver of syd-1 says that it validated it: either it has an older answer in the cache, and signatures, keys or times of ' +
        'the zone are wrong now, or the resolvers that fail, or name servers that they asked, may be wrong.',
    );
  });
});

describe('records that a filter made', () => {
  it.each<[string, Summary]>([
    [
      'unknown: No probe got an answer that counts for example.com (A): the resolver filtered the answer (EDE 15 Blocked).',
      summaryOf('dns', each('fra-1 nyc-1', forged)),
    ],
    [
      'down: example.com does not resolve (A) from any of 2 probes that can tell: the name does not exist; one probe got no answer that counts, which proves neither.',
      summaryOf('dns', { 'fra-1': forged, ...each('nyc-1 lon-1', missing) }),
    ],
    [
      'degraded: example.com resolves (A) from the one probe that got an answer, but a resolver filters the answer; one probe got no answer that counts, which proves neither.',
      summaryOf('dns', { 'fra-1': forged, 'nyc-1': found }),
    ],
  ])('say nothing of the name: %s', (headline, summary) => {
    expect(headlineOf(summary)).toBe(headline);
  });

  it('keep the sentence about records', () => {
    expect(textOf(summaryOf('dns', { 'fra-1': forged, 'nyc-1': found }), 'dns_filtered')).toBe(
      'The resolver of fra-1 says that a filter made the answer (EDE 15 Blocked): its records may not be those of the name.',
    );
  });
});

describe('a validated answer that the name does not exist', () => {
  const summary = summaryOf('dns', { 'fra-1': dns(['A 198.51.100.7']), ...each('nyc-1 lon-1', proved) });

  it('is not disputed by records that are not validated', () => {
    expect(headlineOf(summary)).toBe(
      'partial: example.com resolves (A) from 1 of 3 probes, and fails from lon-1 and nyc-1: the name does not exist.',
    );
    expect(textOf(summary, 'dns_nxdomain_some')).toBe(
      'The name does not exist (NXDOMAIN) for 2 probes (lon-1 and nyc-1). The resolvers of 2 probes (lon-1 and nyc-1) say that they ' +
        'validated that; fra-1 got another answer, which is not validated: a resolver may have made it, have it from before a change, ' +
        'or ask other name servers.',
    );
  });

  it('is disputed by another validated one', () => {
    const validated = dns(['A 192.0.2.1'], { dnssec: { ad: true, verdict: 'validated' } });

    expect(headlineOf(summaryOf('dns', { 'fra-1': validated, 'nyc-1': proved }))).toContain('the resolver says that');
  });
});

describe('probes that can tell', () => {
  it('may have heard nothing', () => {
    const silent = bad(
      'dns_servers_silent',
      { recordType: 'A', resolvedIp: null },
      { source: 'resolver', phase: 'response' },
    );

    expect(summaryOf('dns', { 'fra-1': silent, 'nyc-1': unheard }).headline).toContain(
      'from the one probe that can tell:',
    );
  });
});
