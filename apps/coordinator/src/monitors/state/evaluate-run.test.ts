import { describe, expect, it } from '@jest/globals';
import type { Check, Expectation, FailureCode, FailureSource } from '@vantage/contract';

import { evaluateRun, type EvaluatedRun } from './evaluate-run.ts';

const at = '2026-01-01T00:00:00.000Z';
const started = { tick: 1, checkId: 'qPUXvL1sQx2rGJm0Zf7N4w', atMs: 0, startedMs: 0, reason: null };
const common = { rt: 5, resolvedIp: '203.0.113.1', startedAt: at, finishedAt: at };

const failed = (code: FailureCode, source: FailureSource, phase: string, fields: object = {}) => ({
  ...common,
  result: 'failure',
  error: { code, source, phase, message: `It fails: ${code}.` },
  ...fields,
});
const status = (statusCode: number) =>
  statusCode < 400
    ? { ...common, result: 'success', error: null, statusCode }
    : failed('http_status', 'target', 'response', { statusCode });
const refusing = failed('dns_refused', 'resolver', 'resolve', { resolvedIp: null });
const closed = failed('connection_refused', 'target', 'connect', { state: 'closed', port: 23 });

function runOf(
  type: 'http' | 'tcp' | 'traceroute',
  results: Readonly<Record<string, object>>,
  expectation: Expectation,
): EvaluatedRun {
  const check = {
    testId: started.checkId,
    type,
    host: type === 'http' ? 'https://example.com/' : 'example.com',
    status: 'completed',
    createdAt: at,
    completedAt: at,
    results,
  } as Check;
  return evaluateRun(started, check, { expectation }, new Map());
}

function evaluate(type: 'http' | 'tcp', results: Readonly<Record<string, object>>, expectation: Expectation): string {
  const { outcome } = runOf(type, results, expectation);
  const states = Object.values(outcome.probes).map(({ state }) => state);
  return `${states.join(' ')}: ${outcome.headline}`;
}

const open = { ...common, result: 'success', error: null, state: 'open', port: 23 };
const over6 = ({ startedAt: _startedAt, finishedAt: _finishedAt, ...fields }: typeof open | typeof closed) => ({
  otherFamily: { ...fields, family: 6 },
});
const nameless = failed('dns_no_address', 'target', 'resolve');

describe('a run over both families', () => {
  it.each<[string, object, Expectation, string]>([
    ['both work', { ...open, ...over6(open) }, {}, 'ok'],
    [
      'the second fails',
      { ...open, ...over6(closed) },
      {},
      'failing: Fails from 1 of 1 probes: a: IPv6: It fails: connection_refused',
    ],
    ['both fail', { ...closed, ...over6(closed) }, {}, 'failing'],
    ['the name has one alone', { ...open, ...over6(nameless) }, {}, 'ok'],
    ['the second is too slow', { ...open, ...over6({ ...open, rt: 50 }) }, { maxRtt: 20 }, 'failing'],
    ['failure: both fail', { ...closed, ...over6(closed) }, { result: 'failure' }, 'ok'],
    ['failure: the second works', { ...closed, ...over6(open) }, { result: 'failure' }, 'failing'],
  ])('is judged by both: %s', (_why, result, expectation, expected) => {
    expect(evaluate('tcp', { a: result }, expectation)).toMatch(new RegExp(`^${expected}`));
  });
});

describe('a trace that an agent of an earlier release took for an arrival', () => {
  const ip = '203.0.113.1';
  const icmp = { type: 3, code: 1, mark: '!H', from: ip, count: 1 };
  const router = { ip, private: false, hostname: null, hostnameVerified: null, asn: null, asName: null, rtts: [5] };
  const replies = [{ responder: 0, type: 3, code: 1 }];
  const hop = { hop: 1, ...router, latency: 5, mpls: [], responders: [router], replies, icmp };
  const arrived = { ...common, result: 'success', error: null, reached: true, hops: [hop], stopReason: 'completed' };
  const failing = { state: 'failing', rtt: null, reason: expect.stringContaining('ICMP type 3 code 1') };

  it('has the reason and no round trip, as those of other agents', () => {
    expect(runOf('traceroute', { a: arrived }, {}).run.results['a']).toMatchObject(failing);
  });

  it('has them over the other family', () => {
    const answered = { ...arrived, hops: [{ ...hop, replies: [{ responder: 0 }], icmp: null }] };
    const both = { ...answered, otherFamily: { ...arrived, family: 6 } };

    expect(runOf('traceroute', { a: both }, {}).run.results['a']).toMatchObject({
      ...failing,
      reason: expect.stringMatching(/^IPv6: .*ICMP type 3 code 1/),
    });
  });
});

describe('the sentence of a run', () => {
  it.each<[string, string]>([
    [
      evaluate('http', { a: status(503), b: status(503) }, { status: ['503'] }),
      'ok ok: Answers as expected from 2 probes, with status 503.',
    ],
    [
      evaluate('http', { a: status(404), b: status(200) }, { status: ['2xx', '404'] }),
      'ok ok: Answers as expected from 2 probes, with status 200, 404.',
    ],
    [
      evaluate('http', { a: status(503), b: failed('timed_out', 'network', 'connect') }, { status: ['503'] }),
      'ok failing: Fails from 1 of 2 probes: b: It fails: timed_out.',
    ],
    [
      evaluate('http', { a: status(503), b: status(503) }, {}),
      'failing failing: https://example.com/ does not work from any of 2 probes: status 503.',
    ],
    [
      evaluate('http', { a: status(200) }, { status: ['2xx'] }),
      'ok: https://example.com/ answers with status 200 from the one probe asked.',
    ],
    [
      evaluate('tcp', { a: closed, b: closed }, { result: 'failure' }),
      'ok ok: Port 23 of example.com is not open from any of 2 probes: the connection was refused.',
    ],
    [
      evaluate('tcp', { a: refusing, b: refusing }, { result: 'failure' }),
      'unmeasured unmeasured: No probe could measure example.com: the resolver refused to answer (REFUSED).',
    ],
  ])('says what the states say: %s', (seen, wanted) => {
    expect(seen).toBe(wanted);
  });
});
