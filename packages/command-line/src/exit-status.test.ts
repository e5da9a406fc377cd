import { describe, expect, it } from '@jest/globals';

import { statusOfResults, type MeasuredResult } from './exit-status.ts';

const success = { result: 'success', error: null };
const failure = failed('failure', 'connection_refused', 'connect', 'target');
const timeout = failed('timeout', 'timed_out', 'connect', 'network');
const offline = failed('error', 'probe_offline', 'dispatch', 'probe');
const silentProbe = failed('timeout', 'probe_timeout', 'dispatch', 'probe');
const refusingResolver = failed('failure', 'dns_refused', 'resolve', 'resolver');
const missingName = failed('failure', 'dns_nxdomain', 'resolve', 'resolver');
const brokenName = failed('failure', 'dns_servfail', 'resolve', 'resolver');

function failed(result: string, code: string, phase: string, source: string): MeasuredResult {
  return { result, error: { code, phase, source } };
}

describe('the exit status', () => {
  it.each<[string, number, readonly MeasuredResult[]]>([
    ['success everywhere', 0, [success, success]],
    ['one failure', 1, [success, failure]],
    ['a timeout, and a probe without a result', 1, [timeout, offline]],
    ['success, and probes that could not measure', 0, [success, offline, silentProbe, refusingResolver]],
    ['no probe that could measure', 4, [offline, silentProbe, refusingResolver]],
    ['a name that does not exist', 1, [missingName, offline]],
    ['a name whose servers fail', 1, [brokenName]],
    ['no results', 4, []],
    ['a failure over the other family', 1, [{ ...success, otherFamily: failure }]],
    ['success over the other family alone', 0, [{ ...offline, otherFamily: success }]],
    ['a probe without the other family', 0, [{ ...success, otherFamily: offline }]],
  ])('after %s is %i', (_reason, status, results) => {
    expect(statusOfResults('tcp', results)).toBe(status);
  });

  it('of a dns check is 1 if the resolver fails: it is measured', () => {
    expect(statusOfResults('dns', [refusingResolver])).toBe(1);
  });
});
