import { describe, expect, it } from '@jest/globals';
import type { Expectation } from '@vantage/contract';
import type { Evidence } from '@vantage/summary';

import { evaluateResult } from './expectations.ts';

const refusal = { code: 'dns_refused', phase: 'resolve', source: 'resolver', message: 'The resolver refused.' };
const unavailable = { code: 'http_status', phase: 'response', source: 'target', message: 'It answered with 503.' };
const reset = { code: 'connection_reset', phase: 'response', source: 'network', message: 'It was reset.' };
const refused = { code: 'connection_refused', phase: 'connect', source: 'target', message: 'The port is closed.' };
const unfinished = { code: 'http_body_unfinished', phase: 'response', source: 'network', message: 'It did not end.' };

const expiredIssuer = {
  code: 'tls_expired',
  certificate: 1,
  reason: '“R1” above the certificate was valid until 2026-01-08.',
};
const notYet = {
  code: 'tls_not_yet_valid',
  certificate: 0,
  reason: 'The certificate is valid only from 2026-02-01.',
};

describe('an expectation', () => {
  it.each<[string, object, Evidence, Expectation, string, string | null]>([
    ['none: an answer', { rt: 1 }, 'up', {}, 'ok', null],
    ['none: an answer with faults', { rt: 1 }, 'impaired', {}, 'ok', null],
    [
      'none: a body that does not end',
      { rt: 1, statusCode: 200, error: unfinished },
      'impaired',
      {},
      'failing',
      unfinished.message,
    ],
    [
      'failure: such a body is an answer',
      { rt: 1, statusCode: 200, error: unfinished },
      'impaired',
      { result: 'failure' },
      'failing',
      'the target answers',
    ],
    [
      'none: an answer to ordinary pings alone',
      { rt: null, ordinary: { received: 3 }, error: { ...refused, message: 'No packet was answered.' } },
      'impaired',
      {},
      'failing',
      'No packet was answered.',
    ],
    ['none: no answer', { error: refused }, 'down', {}, 'failing', 'The port is closed.'],
    ['none: silence proves nothing', {}, 'silent', {}, 'unmeasured', 'no answer'],
    [
      'success: silence of a UDP port is none',
      { state: 'open|filtered' },
      'silent',
      { result: 'success' },
      'failing',
      'no answer',
    ],
    ['failure: nor is it an answer', { state: 'open|filtered' }, 'silent', { result: 'failure' }, 'ok', null],
    [
      'success: a resolver that refuses is no answer of the name',
      { error: refusal },
      'silent',
      { result: 'success' },
      'unmeasured',
      refusal.message,
    ],
    ['failure: nor that there is none', { error: refusal }, 'silent', { result: 'failure' }, 'unmeasured', null],
    ['the probe could not measure', { error: refused }, 'notMeasured', {}, 'unmeasured', 'The port is closed.'],
    ['failure: a closed port', { error: refused }, 'down', { result: 'failure' }, 'ok', null],
    ['failure: an open one', { rt: 1 }, 'up', { result: 'failure' }, 'failing', 'the target answers'],
    ['RTT at its bound', { rttAvg: 100 }, 'up', { maxRtt: 100 }, 'ok', null],
    [
      'a time of a probe that stood still',
      { rt: 4_900, statusCode: 200, stalled: 4_000 },
      'up',
      { maxRtt: 100 },
      'ok',
      null,
    ],
    ['RTT above it', { rttAvg: 250.04 }, 'up', { maxRtt: 100 }, 'failing', 'round-trip time 250 ms, more than 100 ms'],
    [
      'time of a page above it',
      { rt: 250, statusCode: 200 },
      'up',
      { maxRtt: 100 },
      'failing',
      'response time 250 ms, more than 100 ms',
    ],
    [
      'time of a resolver above it',
      { rt: 250, rcode: 'NOERROR' },
      'up',
      { maxRtt: 100 },
      'failing',
      'response time 250 ms, more than 100 ms',
    ],
    ['a time just above it', { rt: 2.04 }, 'up', { maxRtt: 2 }, 'failing', 'round-trip time 2.04 ms, more than 2 ms'],
    ['loss just above it', { loss: 1 / 3 }, 'up', { maxLoss: 0.3333 }, 'failing', 'loss 33.333 %, more than 33.33 %'],
    ['a bound of two places', { rt: 9 }, 'up', { maxRtt: 0.25 }, 'failing', 'round-trip time 9 ms, more than 0.25 ms'],
    ['a time near it', { rt: 5.04 }, 'up', { maxRtt: 5.021 }, 'failing', 'round-trip time 5.04 ms, more than 5.021 ms'],
    [
      'a share of the packets',
      { loss: 0.07 + 1e-9 },
      'up',
      { maxLoss: 0.07 },
      'failing',
      'loss 7.0000001 %, more than 7 %',
    ],
    ['loss', { loss: 0.25 }, 'up', { maxLoss: 0.1 }, 'failing', 'loss 25 %, more than 10 %'],
    [
      'a certificate',
      { tls: { daysLeft: 6 } },
      'up',
      { certificateDays: 14 },
      'failing',
      'certificate valid for 6 days, fewer than 14',
    ],
    [
      'a certificate, by a wrong clock of the probe',
      { tls: { daysLeft: 6 }, sslValidUntil: '2026-03-01T00:00:00Z', finishedAt: '2026-01-01T00:00:00Z' },
      'up',
      { certificateDays: 14 },
      'ok',
      null,
    ],
    [
      'a certificate above it that ends first',
      { tls: { daysLeft: 60, issuerEnds: { name: 'R1', daysLeft: 6 } } },
      'up',
      { certificateDays: 14 },
      'failing',
      '“R1” above the certificate valid for 6 days, fewer than 14',
    ],
    [
      'an expired one',
      { tls: { daysLeft: -2 } },
      'impaired',
      { certificateDays: 0 },
      'failing',
      'certificate expired 2 days ago',
    ],
    [
      'a certificate above it that has expired',
      {
        finishedAt: '2026-01-10T00:00:00Z',
        tls: { daysLeft: 60, faults: [expiredIssuer], chain: [{}, { validUntil: '2026-01-08T00:00:00Z' }] },
      },
      'impaired',
      { certificateDays: 14 },
      'failing',
      '“R1” above the certificate was valid until 2026-01-08',
    ],
    [
      'a certificate above it that has expired by a wrong clock of the probe',
      {
        finishedAt: '2026-01-01T00:00:00Z',
        tls: {
          daysLeft: 60,
          faults: [expiredIssuer],
          chain: [{}, { validFrom: '2025-01-08T00:00:00Z', validUntil: '2026-01-08T00:00:00Z' }],
        },
      },
      'impaired',
      { certificateDays: 14 },
      'ok',
      null,
    ],
    [
      'one that is not valid yet',
      { tls: { daysLeft: 60, faults: [notYet], chain: [{}] } },
      'impaired',
      { certificateDays: 14 },
      'failing',
      'The certificate is valid only from 2026-02-01',
    ],
    [
      'a record that is not among those of a result with a part of them',
      { rt: 1, truncated: true, answers: [{ type: 'A', data: '192.0.2.1' }] },
      'up',
      { answers: ['192.0.2.60'] },
      'unmeasured',
      'the answer has more records than the 1 of the result, which are without 192.0.2.60',
    ],
    [
      'a record that is among them',
      { rt: 1, truncated: true, answers: [{ type: 'A', data: '192.0.2.1' }] },
      'up',
      { answers: ['192.0.2.1'] },
      'ok',
      null,
    ],
    [
      'a slow answer with a part of the records',
      { rt: 9, rcode: 'NOERROR', truncated: true, answers: [] },
      'up',
      { answers: ['192.0.2.1'], maxRtt: 5 },
      'failing',
      'response time 9 ms, more than 5 ms',
    ],
    [
      'an address in another notation',
      { rt: 1, answers: [{ type: 'AAAA', data: '2001:db8::1' }] },
      'up',
      { answers: ['2001:DB8:0::1'] },
      'ok',
      null,
    ],
    [
      'a name in other letters',
      { rt: 1, answers: [{ type: 'MX', data: '10 Mail.Example.com.' }] },
      'up',
      { answers: ['10 mail.example.com.'] },
      'ok',
      null,
    ],
    [
      'a text in other letters',
      { rt: 1, answers: [{ type: 'TXT', data: '"Token"' }] },
      'up',
      { answers: ['"token"'] },
      'failing',
      'no record "token" in the answer',
    ],
    ['a status of a class', { statusCode: 204 }, 'up', { status: ['2xx'] }, 'ok', null],
    ['a status that is wanted', { statusCode: 503, error: unavailable }, 'down', { status: ['503'] }, 'ok', null],
    [
      'a status that is wanted, and then the connection is reset',
      { statusCode: 200, error: reset },
      'down',
      { status: ['2xx'] },
      'failing',
      reset.message,
    ],
    [
      'another status',
      { statusCode: 200 },
      'up',
      { status: ['3xx', '404'] },
      'failing',
      'status 200, expected 3xx, 404',
    ],
    ['a record', { answers: [{ data: '192.0.2.1' }] }, 'up', { answers: ['192.0.2.1'] }, 'ok', null],
    [
      'no such record',
      { answers: [] },
      'up',
      { answers: ['192.0.2.1'] },
      'failing',
      'no record 192.0.2.1 in the answer',
    ],
    [
      'several',
      { rttAvg: 9, loss: 1 },
      'up',
      { maxRtt: 1, maxLoss: 0 },
      'failing',
      'round-trip time 9 ms, more than 1 ms; loss 100 %, more than 0 %',
    ],
  ])('%s', (_reason, result, evidence, expectation, state, reason) => {
    expect(evaluateResult(result as Record<string, unknown>, evidence, expectation)).toMatchObject({ state, reason });
  });

  it.each<[string, object, number | undefined]>([
    ['a short-lived certificate', { sslValidUntil: '2026-01-07T16:00:00Z' }, 0.4],
    ['an expired one', { sslValidUntil: '2026-01-04T23:00:00Z' }, -0.0105263],
    ['one whose life is not known', {}, undefined],
    [
      'one with another above it that ends soon and first',
      { tls: { daysLeft: 60, issuerEnds: { name: 'R1', daysLeft: 1 } } },
      undefined,
    ],
    [
      'one that ends before one above it, which ends soon, too',
      {
        sslValidUntil: '2026-01-07T16:00:00Z',
        tls: { daysLeft: 2, issuerEnds: { name: 'R1', validUntil: '2026-01-15T00:00:00Z', daysLeft: 10 } },
      },
      undefined,
    ],
    [
      'one that ends with that above it',
      {
        sslValidUntil: '2026-01-07T16:00:00Z',
        tls: { daysLeft: 2, issuerEnds: { name: 'R1', validUntil: '2026-01-07T16:00:00Z', daysLeft: 2 } },
      },
      undefined,
    ],
    [
      'one below a CA that expired',
      {
        sslValidUntil: '2026-01-07T16:00:00Z',
        tls: {
          daysLeft: 2,
          faults: [{ code: 'tls_expired', certificate: 1, reason: '' }],
          chain: [{}, { validUntil: '2026-01-02T00:00:00Z' }],
        },
      },
      undefined,
    ],
    [
      'one with another above it that ends in 20 days',
      {
        sslValidUntil: '2026-01-07T16:00:00Z',
        tls: { daysLeft: 2, issuerEnds: { name: 'R1', validUntil: '2026-01-25T00:00:00Z', daysLeft: 20 } },
      },
      0.4,
    ],
  ])('has the share of its life that %s has left', (_what, more, left) => {
    const dates = { sslValidFrom: '2026-01-01T00:00:00Z', finishedAt: '2026-01-05T00:00:00Z' };
    const result = { ...dates, tls: { daysLeft: 2 }, ...more };

    expect(evaluateResult(result, 'up', {}).certificateLifeLeft).toBe(left);
  });
});
