import { describe, expect, it } from '@jest/globals';
import { resultSchema, type Failure, type NameLookup, type Place } from '@vantage/contract';
import { Value } from 'typebox/value';

import { testContext } from '@vantage/test-support/context';
import { info } from './contract.ts';
import { runInfo } from './run.ts';

const names = (
  reverse: Readonly<Record<string, readonly string[]>>,
  forward: Readonly<Record<string, readonly string[]>>,
): NameLookup => ({
  reverse: async (address) => reverse[address] ?? [],
  forward: async (name) => forward[name] ?? [],
});

describe('an info check', () => {
  it('gives every address of a name, and the name of the one that was chosen', async () => {
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
    const context = testContext<typeof info>({
      hosts: { 'www.example.com': addresses },
      names: names({ '192.0.2.1': ['web-1.example.com'] }, { 'web-1.example.com': ['192.0.2.1'] }),
    });

    const outcome = await runInfo({ host: 'www.example.com', options: {} }, context);

    expect(outcome).toEqual({
      result: 'success',
      rt: 0,
      resolvedIp: '192.0.2.1',
      error: null,
      ip: '192.0.2.1',
      addresses,
      hostname: 'web-1.example.com',
      hostnameVerified: true,
    });
    expect(context.admissions).toEqual([{ host: 'www.example.com', purpose: 'info', family: undefined }]);
    expect(context.partials).toEqual([{ ip: '192.0.2.1', addresses }]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('takes the family that was asked for', async () => {
    const context = testContext<typeof info>({ hosts: { 'www.example.com': ['192.0.2.1', '2001:db8::1'] } });

    const outcome = await runInfo({ host: 'www.example.com', options: { family: 6 } }, context);

    expect(outcome).toMatchObject({ ip: '2001:db8::1', hostname: null, hostnameVerified: null });
  });

  it('has no resolution time for an address', async () => {
    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, testContext());

    expect(outcome).toMatchObject({ result: 'success', rt: null, ip: '192.0.2.1', addresses: ['192.0.2.1'] });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, readonly string[], Readonly<Record<string, readonly string[]>>, string, boolean]>([
    ['the name leads elsewhere', ['liar.example'], { 'liar.example': ['198.51.100.1'] }, 'liar.example', false],
    ['the name leads nowhere', ['gone.example'], {}, 'gone.example', false],
    ['a second name leads back', ['a.example', 'b.example'], { 'b.example': ['2001:DB8:0::1'] }, 'b.example', true],
  ])('believes a PTR record only where the name leads back: %s', async (_reason, ptr, forward, hostname, verified) => {
    const context = testContext({ names: names({ '2001:db8::1': ptr }, forward) });

    const outcome = await runInfo({ host: '2001:db8::1', options: {} }, context);

    expect(outcome).toMatchObject({ hostname, hostnameVerified: verified });
  });

  it.each<[string, readonly string[], Readonly<Record<string, readonly string[] | null>>, boolean | null]>([
    ['its look-up fails', ['a.example'], { 'a.example': null }, null],
    ['that of another name fails', ['a.example', 'b.example'], { 'a.example': [], 'b.example': null }, false],
    ['it fails, and another name leads elsewhere', ['a.example', 'b.example'], { 'a.example': null }, null],
    [
      'it fails, and another name leads back',
      ['a.example', 'b.example'],
      { 'a.example': null, 'b.example': ['192.0.2.1'] },
      true,
    ],
  ])('says nothing of a PTR record that could not be confirmed: %s', async (_reason, ptr, forward, verified) => {
    const families: number[] = [];
    const context = testContext({
      names: {
        reverse: async () => ptr,
        forward: async (name, family) => (families.push(family), forward[name] === undefined ? [] : forward[name]),
      },
    });

    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, context);

    expect(outcome).toMatchObject({ hostnameVerified: verified });
    expect(new Set(families)).toEqual(new Set([4]));
  });

  it('confirms a few names of many, and shows the first of them', async () => {
    const asked: string[] = [];
    const many = Array.from({ length: 20 }, (_, at) => `n${at}.example`);
    const forward = async (name: string) => {
      asked.push(name);
      return [];
    };
    const context = testContext({ names: { reverse: async () => many, forward } });

    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, context);

    expect(outcome).toMatchObject({ hostname: 'n0.example', hostnameVerified: false });
    expect(asked).toEqual(['n0.example', 'n1.example', 'n2.example']);
  });

  it('reports the address at the deadline even if the look-up of its name hangs', async () => {
    const reverse: NameLookup['reverse'] = (_address, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { signal } = new AbortController();
    const context = testContext({ signal, remainingMs: () => 700, names: { reverse, forward: async () => [] } });

    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, context);

    expect(outcome).toMatchObject({ result: 'success', ip: '192.0.2.1', hostname: null, hostnameVerified: null });
  });

  it('escapes and bounds what a PTR record says', async () => {
    const context = testContext({ names: names({ '192.0.2.1': [`\u202e${'x'.repeat(400)}`] }, {}) });

    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, context);

    expect(outcome.hostname).toMatch(/^\\u\{202e\}x+…$/);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Failure, string]>([
    ['a name that is not there', failure('dns_nxdomain', 'resolver'), 'failure'],
    ['a resolver that is silent', failure('timed_out', 'resolver'), 'timeout'],
    ['a policy that refuses', failure('target_refused_by_policy', 'probe'), 'error'],
  ])('passes on why the target was not admitted: %s', async (_reason, error, result) => {
    const admit = async () => ({ admitted: false, failure: error, addresses: [], resolveMs: 1 }) as const;

    const outcome = await runInfo({ host: 'www.example.com', options: {} }, testContext({ admit }));

    expect(outcome).toEqual({ result, rt: null, resolvedIp: null, error });
  });
});

describe('the place of an address', () => {
  const place: Place = {
    asn: 'AS64500',
    asName: 'EXAMPLE-AS',
    isp: 'Example ISP',
    org: 'Example Org',
    prefix: '192.0.2.0/24',
    city: 'Utrecht',
    region: 'Utrecht',
    country: 'Netherlands',
    countryCode: 'NL',
    timezone: 'Europe/Amsterdam',
    latitude: 52.09,
    longitude: 5.12,
    provider: 'Test data',
    dataDate: '2026-01-01',
  };

  it('is added by the coordinator, for the address that was chosen', async () => {
    const outcome = await runInfo({ host: '192.0.2.1', options: {} }, testContext());
    const lookedUp: string[] = [];

    const annotated = info.annotate?.(outcome, (address) => {
      lookedUp.push(address);
      return place;
    });

    expect(annotated).toEqual({ ...outcome, ...place });
    expect(lookedUp).toEqual(['192.0.2.1']);
    expect(problemsOf(annotated ?? {})).toEqual([]);
  });

  it('is not looked up where there is no address', () => {
    const annotated = info.annotate?.({}, () => {
      throw new Error('There is nothing to look up.');
    });

    expect(annotated).toEqual({});
  });
});

function failure(code: Failure['code'], source: Failure['source']): Failure {
  return { code, phase: 'resolve', source, message: 'As the test says.' };
}

function problemsOf(outcome: object): unknown[] {
  const now = new Date().toISOString();
  return [...Value.Errors(resultSchema(info), { ...outcome, startedAt: now, finishedAt: now })];
}
