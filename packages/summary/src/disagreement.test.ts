import { describe, expect, it } from '@jest/globals';
import type { FailureCode, Summary } from '@vantage/contract';
import { checkTypeNames, type CheckTypeName } from '@vantage/diagnostics/contract';

import { bad, broken, pending, summaryOf, type Result } from '../test/cases.ts';
import { dns, http, info, lost, ping, refused, tcp, trace, udp } from '../test/results.ts';

const MOST_PROBES = 4;
const ids = ['fra-1', 'nyc-1', 'par-1', 'ber-1'];

const ofResolver = (code: FailureCode, result: 'failure' | 'timeout' = 'failure') =>
  bad(code, { resolvedIp: null }, { source: 'resolver', phase: 'resolve', result });

const unheard = bad(
  'timed_out',
  { recordType: 'A', queryName: 'example.com.', resolvedIp: null, resolver: '192.0.2.1' },
  { result: 'timeout', source: 'network', phase: 'response' },
);

/** Results that a check of any type may have: pending, not measured, or without a resolved address. */
const common = {
  pending,
  offline: broken('probe_offline'),
  refused: ofResolver('dns_refused'),
  servfail: ofResolver('dns_servfail'),
  failingResolver: ofResolver('dns_resolver_failing'),
  silentServers: ofResolver('dns_servers_silent', 'timeout'),
  nameless: bad('dns_nxdomain', { resolvedIp: null }, { phase: 'resolve' }),
  addressless: bad('dns_no_address', { resolvedIp: null }, { phase: 'resolve' }),
};

const unreached = bad('timed_out', { url: 'https://example.com/' }, { result: 'timeout', source: 'network' });

/** Results that a probe may have, by check type; a type that is not listed has the common ones alone. */
const reports: Readonly<Partial<Record<CheckTypeName, Readonly<Record<string, Result<CheckTypeName>>>>>> = {
  ping: { up: ping([20, 21, 22, 20]), lossy: ping([20, null, 22, null]), down: lost, ...common },
  tcp: { up: tcp('open'), closed: tcp('closed'), filtered: tcp('filtered'), ...common },
  udp: { up: udp('open'), closed: udp('closed'), silent: udp('open|filtered'), ...common },
  http: {
    up: http(200),
    forbidden: http(403),
    failing: http(503),
    down: unreached,
    expired: refused('tls_expired'),
    ...common,
  },
  dns: {
    up: dns(['A 192.0.2.1']),
    other: dns(['A 192.0.2.9']),
    empty: dns([]),
    nameless: dns('NXDOMAIN'),
    servfail: dns('SERVFAIL'),
    bogus: dns('SERVFAIL', { dnssec: { ad: false, verdict: 'validation_failed' } }),
    unheard,
    failing: bad(
      'dns_resolver_failing',
      { recordType: 'A', queryName: 'example.com.', resolvedIp: null, rcode: 'SERVFAIL', answerKind: 'error' },
      { source: 'resolver', phase: 'response' },
    ),
    pending,
    offline: common.offline,
  },
  traceroute: {
    up: trace(['192.0.2.1 5 5 5', '203.0.113.1 9 9 9']),
    down: trace(['192.0.2.1 5 5 5', '* * *']),
    short: trace(['192.0.2.1 5 5 5'], { stopReason: 'deadline' }),
    ...common,
  },
  info: { up: info(), other: info({ ip: '203.0.113.9', addresses: ['203.0.113.9'] }), ...common },
};

/** All combinations of `size` names, in which a name may occur repeatedly. */
function choices(names: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]];
  return names.flatMap((name, index) => choices(names.slice(index), size - 1).map((rest) => [name, ...rest]));
}

describe.each(checkTypeNames)('probes of a %s check that disagree', (type) => {
  const known: Readonly<Record<string, Result<CheckTypeName>>> = reports[type] ?? common;
  const sizes = Array.from({ length: MOST_PROBES }, (_, index) => index + 1);
  const summaries = sizes.flatMap((size) =>
    choices(Object.keys(known), size).map((names): readonly [readonly string[], Summary] => [
      names,
      summaryOf(type, Object.fromEntries(names.map((name, index) => [ids[index]!, known[name]!]))),
    ]),
  );
  const violations = (isTrue: (summary: Summary) => boolean): readonly string[] =>
    summaries
      .filter(([, summary]) => !isTrue(summary))
      .map(([names, { headline }]) => `${names.join(' + ')}: ${headline}`);

  it('are counted in the headline as in the counts', () => {
    expect(violations(countsHold)).toEqual([]);
  });

  it('are not called all, both or any where others are left out', () => {
    expect(violations(isLimited)).toEqual([]);
  });

  it('have reasons that add up', () => {
    expect(violations(reasonsAddUp)).toEqual([]);
  });

  it('do not leave a name without an address that one of them resolved', () => {
    const isResolved = (name: string): boolean => typeof known[name]!.resolvedIp === 'string';
    expect(
      summaries.flatMap(([names, { headline }]) =>
        type !== 'dns' && names.some(isResolved) && headline.includes('does not resolve')
          ? [`${names.join(' + ')}: ${headline}`]
          : [],
      ),
    ).toEqual([]);
  });

  it('do not call a name missing, or without an address, that one of them found', () => {
    const isFound = (name: string): boolean => typeof known[name]!.resolvedIp === 'string' || name === 'empty';
    expect(
      summaries.flatMap(([names, { headline }]) =>
        names.some(isFound) && /(?<!says that )the name (?:does not exist|has no address)/.test(headline)
          ? [`${names.join(' + ')}: ${headline}`]
          : [],
      ),
    ).toEqual([]);
  });

  it('are all in the headline until they have answered', () => {
    expect(
      violations(({ headline, counts: { pending: late } }) =>
        late === 0
          ? !/\byet\b/.test(headline)
          : new RegExp(`\\b(?:${numbered(late)} not answered yet|yet)\\b`).test(headline),
      ),
    ).toEqual([]);
  });

  it('have a finding about those that fail, and none that contradicts the verdict', () => {
    expect(violations(findingsHold)).toEqual([]);
  });

  it('do not make the same probe measure and not measure', () => {
    expect(violations(isConsistent)).toEqual([]);
  });
});

function numbered(count: number): string {
  return count === 1 ? 'one probe has' : `${count} probes have`;
}

function countsHold({ headline, verdict, counts, agree }: Summary): boolean {
  const { up, down, silent } = counts;
  const counted = up + down;
  const part = /from (\d+) of (\d+) probes/.exec(headline);
  const any = /from any of (\d+) probes/.exec(headline);
  const all = /from all (\d+) probes/.exec(headline);
  const ofSilent = /; (one|\d+) probes? (?:heard nothing|got no answer)/.exec(headline)?.[1];
  return (
    agree.of === counted &&
    (part === null || (Number(part[2]) === counted && Number(part[1]) <= up && Number(part[1]) < counted)) &&
    (any === null || (up === 0 && Number(any[1]) === down)) &&
    (all === null || (down === 0 && Number(all[1]) === up)) &&
    (!headline.includes('from both probes') || (down === 0 && up === 2)) &&
    (!headline.includes('the one probe that') || counted === 1) &&
    (verdict === 'unknown' ||
      (ofSilent === undefined ? silent === 0 : ofSilent === (silent === 1 ? 'one' : String(silent)))) &&
    // Silent probes have measured, too: with one of them, no other is “the one probe that has measured”.
    (!headline.includes('that has measured') || silent === 0)
  );
}

function isLimited({ headline, counts: { silent, notMeasured, pending }, findings }: Summary): boolean {
  const isUnlimited = /\bfrom (?:all \d+|both|any of \d+|\d+ of \d+) probes(?! that )/;
  const everywhere = findings.filter(({ code }) => code === 'down_everywhere').map(({ text }) => text);
  return silent + notMeasured + pending === 0 || ![headline, ...everywhere].some((text) => isUnlimited.test(text));
}

/** True if no reason has a count, or the counts add up to the failed probes. */
function reasonsAddUp({ headline, counts: { down } }: Summary): boolean {
  const [, reasons = ''] = /(?:fails from|from any of|and not from)[^:]*: (.*?)(?:;|\.$)/.exec(headline) ?? [];
  const counts = [...reasons.matchAll(/\((\d+)\)/g)].map(([, count]) => Number(count));
  return counts.length === 0 || counts.reduce((sum, count) => sum + count, 0) === down;
}

function findingsHold({ verdict, counts, findings }: Summary): boolean {
  const ofFailure = findings.filter(({ code }) => code.startsWith('down_'));
  const failing = new Set(ofFailure.flatMap(({ probes }) => probes));
  if (verdict === 'up' || verdict === 'unknown') {
    return ofFailure.length === 0 && findings.every(({ severity }) => severity !== 'critical');
  }
  if (verdict === 'degraded') return ofFailure.length === 0;
  return failing.size === counts.down && (verdict === 'down') === (counts.up === 0);
}

/** Codes of findings whose probes do not count in the verdict. */
const uncounted = /^(?:probes_|target_refused|dns_unanswered)/;

function isConsistent({ findings }: Summary): boolean {
  const of = (matches: (code: string) => boolean): readonly string[] =>
    findings.filter(({ code }) => matches(code)).flatMap(({ probes }) => probes);
  const without = of((code) => uncounted.test(code));
  return !of((code) => code.startsWith('down_')).some((probe) => without.includes(probe));
}
