import { afterEach, describe, expect, it } from '@jest/globals';

import { discoverNat64Prefixes } from './nat64.ts';
import { createNameResolver } from './resolver/resolver.ts';
import { hastyResolver, patientResolver, startDnsServer, type DnsServer } from '../test/dns-server.ts';
import type { Answer } from '../test/dns-message.ts';

const never = new AbortController().signal;
const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function discover(answer: Answer): Promise<readonly string[]> {
  const server = await startDnsServer(() => answer);
  servers.push(server);
  const resolver = answer.silent === true ? hastyResolver(server) : patientResolver(server);
  return discoverNat64Prefixes(resolver, never);
}

describe('the NAT64 prefix of the network (RFC 7050)', () => {
  it.each([
    ['/96', ['2001:db8:64::192.0.0.170', '2001:db8:64::192.0.0.171'], ['2001:db8:64::/96']],
    ['/64 (RFC 6052 section 2.4)', ['2001:db8:122:344:c0:0:aa00:0'], ['2001:db8:122:344::/64']],
    ['/56', ['2001:db8:122:3c0:0:aa::'], ['2001:db8:122:300::/56']],
    ['/48', ['2001:db8:122:c000:0:aa00::'], ['2001:db8:122::/48']],
    ['/40', ['2001:db8:1c0:0:aa::'], ['2001:db8:100::/40']],
    ['/32', ['2001:db8:c000:aa::'], ['2001:db8::/32']],
    ['two at once', ['64:ff9b::c000:aa', '2001:db8:64::c000:ab'], ['64:ff9b::/96', '2001:db8:64::/96']],
  ])('is found with length %s', async (_reason, records, expected) => {
    expect(await discover({ records })).toEqual(expected);
  });

  it.each([
    ['no AAAA record', { records: [] }],
    ['an AAAA record of something else', { records: ['2606:4700::1'] }],
    ['NXDOMAIN', { rcode: 3 }],
    ['silence', { silent: true }],
  ])('is none after %s', async (_reason, answer) => {
    expect(await discover(answer)).toEqual([]);
  });

  it('rejects with the reason of the signal', async () => {
    const resolver = createNameResolver({ servers: ['127.0.0.1:9'] });
    const reason = new Error('stopped');

    await expect(discoverNat64Prefixes(resolver, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
