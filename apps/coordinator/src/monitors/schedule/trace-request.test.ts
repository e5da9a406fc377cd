import { describe, expect, it } from '@jest/globals';
import { checkTypes } from '@vantage/diagnostics/contract';

import { fakeEvaluateTarget } from '../../../test/http-fakes.ts';
import { createMonitorReader } from '../../http/requests/read-monitor.ts';
import { readTrace } from './trace-request.ts';

const read = createMonitorReader(Object.values(checkTypes), fakeEvaluateTarget);

function traceOf(check: object): unknown {
  const reading = read('web', { check, every: '60s' });
  if (!reading.valid) throw new Error(JSON.stringify(reading.errors));
  const trace = readTrace(read, reading.definition, ['fra-1', 'nyc-1'], undefined);
  return trace.valid ? trace.definition.accepted : undefined;
}

describe('the traceroute of a monitor', () => {
  it.each([
    [
      'ping',
      { type: 'ping', host: 'example.com', options: { family: 6 } },
      { host: 'example.com', options: { protocol: 'icmp', family: 6 } },
    ],
    [
      'http',
      { type: 'http', host: 'https://example.com/a' },
      { host: 'example.com', options: { protocol: 'tcp', port: 443 } },
    ],
    [
      'http with a port and an IPv6 address',
      { type: 'http', host: 'http://[2001:db8::1]:8080/' },
      { host: '2001:db8::1', options: { port: 8080 } },
    ],
    [
      'tcp',
      { type: 'tcp', host: 'example.com', port: 22 },
      { host: 'example.com', options: { protocol: 'tcp', port: 22 } },
    ],
    [
      'traceroute',
      { type: 'traceroute', host: 'example.com', options: { protocol: 'tcp', port: 25, dscp: 46 } },
      { host: 'example.com', options: { protocol: 'tcp', port: 25, dscp: 46, flows: 1, queries: 10 } },
    ],
    ['traceroute by ICMP', { type: 'traceroute', host: 'example.com' }, { options: { protocol: 'icmp' } }],
    [
      'udp, by echo requests',
      { type: 'udp', host: 'example.com', port: 53 },
      { host: 'example.com', options: { protocol: 'icmp' } },
    ],
  ])('goes to the target: %s', (_type, check, params) => {
    expect(traceOf(check)).toMatchObject({ probes: ['fra-1', 'nyc-1'], params });
  });

  it.each([
    ['dns: its host is a name to ask for', { type: 'dns', host: 'example.com' }],
    ['info: nothing is measured', { type: 'info', host: 'example.com' }],
  ])('is none for %s', (_reason, check) => {
    expect(traceOf(check)).toBeUndefined();
  });
});
