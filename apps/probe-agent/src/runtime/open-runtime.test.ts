import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { fakeConfig, silent } from '../../test/fakes.ts';
import { openRuntime } from './open-runtime.ts';
import type { ProbeRuntime } from './runtime.ts';

describe('the policy of the probe about what a job names', () => {
  let runtime: ProbeRuntime;

  beforeAll(async () => {
    runtime = await openRuntime(fakeConfig('probe-1', 'redis://127.0.0.1:1', { TARGET_ALLOW: '10.1.0.0/16' }), silent);
  });

  afterAll(() => runtime.close());

  it.each<[string, CheckTypeName, Record<string, unknown>]>([
    ['a public name', 'ping', { host: 'example.com' }],
    ['a public name to ask for', 'dns', { host: 'example.com' }],
    ['the root, to ask for', 'dns', { host: '.' }],
    ['a public URL', 'http', { host: 'https://example.com/' }],
    ['an address that the operator allows', 'tcp', { host: '10.1.2.3', port: 80 }],
  ])('lets pass %s', (_reason, type, params) => {
    expect(runtime.checkTarget(type, params)).toBeUndefined();
  });

  it.each<[string, CheckTypeName, Record<string, unknown>]>([
    ['a metadata name to ask for', 'dns', { host: 'metadata.google.internal' }],
    ['the reverse name of a private address', 'dns', { host: '1.0.0.192.in-addr.arpa' }],
    ['a metadata address', 'ping', { host: '169.254.169.254' }],
    ['a private address in a URL', 'http', { host: 'http://192.168.0.1/' }],
    ['an odd form of loopback', 'tcp', { host: '127.1', port: 80 }],
    ['a mail port', 'tcp', { host: 'example.com', port: 25 }],
    ['a dotless name', 'info', { host: 'localhost' }],
  ])('refuses %s, with a reason', (_reason, type, params) => {
    expect(runtime.checkTarget(type, params)).toMatch(/\w{3,}/);
  });
});
