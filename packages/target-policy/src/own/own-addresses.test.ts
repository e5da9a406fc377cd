import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

import { describe, expect, it } from '@jest/globals';

import { createOwnAddresses, discoverOwnAddresses } from './own-addresses.ts';
import { compileOwnNetwork, evaluateOwn } from './own-network.ts';
import { parseAddress } from '../addresses/address.ts';

describe('the addresses of this machine', () => {
  it('are those of its interfaces, each inside an on-link prefix', () => {
    const own = discoverOwnAddresses({ resolvers: [] });
    const count = Object.values(networkInterfaces()).flat().length;

    expect(own.addresses).toContain('127.0.0.1');
    expect(own.addresses).toHaveLength(count);
    expect(own.onLink).toHaveLength(count);
    expect(own.onLink).toContain('127.0.0.0/8');
  });

  it('are all refused, as are gateways and resolvers', () => {
    const found = discoverOwnAddresses({ resolvers: ['198.51.100.53'] });
    // The machine of this test may have no gateway, so one is added.
    const own = { ...found, gateways: [...found.gateways, '203.0.113.1'] };
    const compiled = compileOwnNetwork(own, []);
    const listed = [...own.addresses, ...own.gateways, ...own.resolvers];

    expect(listed).toEqual(expect.arrayContaining(['127.0.0.1', '203.0.113.1', '198.51.100.53']));
    expect(listed.filter((text) => evaluateOwn(parseAddress(text)!, 'icmp', compiled) === undefined)).toEqual([]);
  });

  it.each([
    ['an address', '192.0.2.53', ['192.0.2.53']],
    ['an address and a port', '192.0.2.53:5353', ['192.0.2.53']],
    ['an IPv6 address', '2001:DB8::53', ['2001:db8::53']],
    ['an IPv6 address and a port', '[2001:db8::53]:5353', ['2001:db8::53']],
    ['an address with a zone', 'fe80::53%eth0', ['fe80::53']],
    ['an address with a zone and a port', '[fe80::53%eth0]:53', ['fe80::53']],
    ['what is no address', 'resolver.example.com', []],
  ])('include a resolver that is %s', (_reason, server, expected) => {
    expect(discoverOwnAddresses({ resolvers: [server] }).resolvers).toEqual(expected);
  });

  it('include what the agent adds', () => {
    expect(discoverOwnAddresses({ resolvers: [], others: ['192.0.2.0/24'] }).others).toEqual(['192.0.2.0/24']);
  });

  it('stay known to a process that has no file descriptor left', () => {
    const script = `
      import { openSync } from 'node:fs';
      import { createOwnAddresses } from ${JSON.stringify(new URL('own-addresses.ts', import.meta.url).href)};
      const own = createOwnAddresses({ resolvers: [], maxAgeMs: 0 });
      const before = own();
      try { for (;;) openSync('/dev/null'); } catch {}
      process.stdout.write(String(own() === before), () => process.exit());
    `;
    const words = ['-c', 'ulimit -n 256; exec "$@"', '-', process.execPath];
    const node = ['--conditions=vantage-source', '--no-warnings', '--input-type=module', '--eval', script];

    expect(spawnSync('sh', [...words, ...node], { encoding: 'utf8' })).toMatchObject({ stdout: 'true', status: 0 });
  });

  it('are the same object until they are too old and have changed', () => {
    const resolvers = ['192.0.2.53'];
    const kept = createOwnAddresses({ resolvers, maxAgeMs: 60_000 });
    const renewed = createOwnAddresses({ resolvers, maxAgeMs: 0 });
    const [fresh, before] = [kept(), renewed()];

    expect(renewed()).toBe(before);
    resolvers.push('198.51.100.53');

    expect(kept()).toBe(fresh);
    expect(renewed().resolvers).toEqual(['192.0.2.53', '198.51.100.53']);
  });
});
