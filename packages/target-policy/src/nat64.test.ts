import { afterEach, describe, expect, it } from '@jest/globals';

import { discoverNat64Prefixes, withNat64Prefixes } from './nat64.ts';
import type { DiscoveredAddresses } from './own/own-addresses.ts';
import { createNameResolver } from './resolver/resolver.ts';
import { hastyResolver, patientResolver, startDnsServer, type DnsServer } from '../test/dns-server.ts';
import type { Answer } from '../test/dns-message.ts';

const never = new AbortController().signal;
const servers: DnsServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function discover(answer: Answer): Promise<readonly string[] | undefined> {
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
  ])('is none after %s', async (_reason, answer) => {
    expect(await discover(answer)).toEqual([]);
  });

  it.each([
    ['silence', { silent: true }],
    ['SERVFAIL', { rcode: 2 }],
  ])('is not known after %s', async (_reason, answer) => {
    expect(await discover(answer)).toBeUndefined();
  });

  it('rejects with the reason of the signal', async () => {
    const resolver = createNameResolver({ servers: ['127.0.0.1:9'] });
    const reason = new Error('stopped');

    await expect(discoverNat64Prefixes(resolver, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the own addresses of an agent', () => {
  const network = (address: string, ipv6 = true): DiscoveredAddresses => ({
    addresses: [address],
    onLink: [],
    gateways: [],
    resolvers: [],
    others: ['192.0.2.1'],
    connectivity: { ipv4: true, ipv6 },
  });
  const records = (prefix: string): Answer => ({ records: [`${prefix}192.0.0.170`] });
  const [first, second] = [
    ['192.0.2.1', '2001:db8:1::/96'],
    ['192.0.2.1', '2001:db8:2::/96'],
  ];

  async function startBed(): Promise<{
    readonly on: { answer: Answer; network: DiscoveredAddresses; ms: number };
    readonly others: () => Promise<readonly string[] | undefined>;
    readonly asked: () => number;
  }> {
    const on = { answer: records('2001:db8:1::'), network: network('2001:db8::9'), ms: 0 };
    const server = await startDnsServer(() => on.answer);
    servers.push(server);
    const resolver = patientResolver(server);
    const { ownAddresses, poll } = withNat64Prefixes({ resolver, ownAddresses: () => on.network, nowMs: () => on.ms });
    return {
      on,
      others: async () => {
        await poll();
        expect(ownAddresses()).toBe(ownAddresses());
        return ownAddresses().others;
      },
      asked: () => server.questions.length,
    };
  }

  it('have the prefixes of a network that comes up after the start', async () => {
    const { on, others } = await startBed();
    on.network = network('192.0.2.9', false);

    expect(await others()).toEqual(['192.0.2.1']);
    on.network = network('2001:db8::9');
    expect(await others()).toEqual(first);
  });

  it('have those of the network to which the agent has moved, and none where there is none', async () => {
    const { on, others } = await startBed();

    expect(await others()).toEqual(first);
    [on.network, on.answer] = [network('2001:db8::10'), records('2001:db8:2::')];
    expect(await others()).toEqual(second);
    [on.network, on.answer] = [network('2001:db8::11'), { records: [] }];
    expect(await others()).toEqual(['192.0.2.1']);
  });

  it('keep the prefixes while the resolver fails, which is asked again half a minute later', async () => {
    const { on, others, asked } = await startBed();
    on.answer = { rcode: 2 };
    expect(await others()).toEqual(['192.0.2.1']);
    const before = asked();

    on.answer = records('2001:db8:1::');
    on.ms = 29_999;
    expect(await others()).toEqual(['192.0.2.1']);
    expect(asked()).toBe(before);
    on.ms = 30_000;
    expect(await others()).toEqual(first);
    [on.ms, on.answer] = [700_000, { rcode: 2 }];
    expect(await others()).toEqual(first);
  });

  it('ask a resolver that has answered once in ten minutes while the network is the same', async () => {
    const { on, others, asked } = await startBed();
    await others();
    on.answer = records('2001:db8:2::');

    for (on.ms = 5_000; on.ms < 600_000; on.ms += 5_000) await others();
    expect(asked()).toBe(1);
    expect(await others()).toEqual(second);
  });
});
