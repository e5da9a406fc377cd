import { describe, expect, it } from '@jest/globals';

import { saysNothing } from './says-nothing.ts';

describe('a failure', () => {
  it.each([
    [true, 'of the probe', 'probe_timeout', 'dispatch', 'probe'],
    [true, 'of a resolver for every name', 'dns_resolver_failing', 'response', 'resolver'],
    [true, 'of a resolver that refuses the probe', 'dns_refused', 'resolve', 'resolver'],
    [true, 'of a resolver that is silent', 'timed_out', 'resolve', 'resolver'],
    [true, 'of a path to the resolver', 'network_unreachable', 'resolve', 'network'],
    [false, 'that may be of the servers of the name', 'dns_servfail', 'resolve', 'resolver'],
    [false, 'of silent servers of the name', 'dns_servers_silent', 'resolve', 'resolver'],
    [false, 'that is an answer about the name', 'dns_nxdomain', 'resolve', 'target'],
    [false, 'that an earlier agent gives to the resolver', 'dns_no_address', 'resolve', 'resolver'],
    [false, 'of the zone, in the answer to a dns check', 'dns_refused', 'response', 'resolver'],
    [false, 'of the target', 'timed_out', 'connect', 'target'],
    [false, 'of the network', 'host_unreachable', 'connect', 'network'],
  ])('says nothing about the target (%s): %s', (says, _reason, code, phase, source) => {
    expect(saysNothing({ code, phase, source })).toBe(says);
  });

  it('that is none, or that has no fields, says something', () => {
    expect([undefined, null, {}, { code: 1 }].map((error) => saysNothing(error))).toEqual([false, false, false, false]);
  });
});
