import { describe, expect, it } from '@jest/globals';
import type { Admit } from '@vantage/contract';

import { countBytes, createNetworkLimit, limitNetworks, networkOf } from './network-limit.ts';

describe('networkOf', () => {
  it.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['2001:0DB8:0001::', '2001:db8:1::/48'],
    ['::1', '::/48'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('the limit of networks', () => {
  it('admits that many runs per minute to neighbouring addresses, in addition to runs to other networks', () => {
    let now = 5_000;
    const limit = createNetworkLimit(2, () => now);

    expect(['192.0.2.1', '192.0.2.200', '192.0.2.3', '198.51.100.1'].map((address) => limit.take(address))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    now += 59_999;
    expect(limit.take('192.0.2.9')).toBe(false);
    now += 2_000;
    expect(limit.take('192.0.2.9')).toBe(true);
  });

  it('counts runs by their cost, and lets one through that costs more than all where nothing was', () => {
    const limit = createNetworkLimit(10, () => 0);

    expect([4, 7, 6, 1].map((cost) => limit.take('192.0.2.1', cost))).toEqual([true, false, true, false]);
    expect([99, 1].map((cost) => limit.take('198.51.100.1', cost))).toEqual([true, false]);
  });

  it('counts bytes as they come, by network', () => {
    const limit = createNetworkLimit(2, () => 0);
    const count = countBytes(limit);
    const half = 128 * 1024;

    expect(['192.0.2.1', '192.0.2.2', '198.51.100.1'].map((address) => count(address, half))).toEqual([
      true,
      true,
      true,
    ]);
    expect([half, half, half, half].map((bytes) => count('192.0.2.3', bytes))).toEqual([true, true, true, false]);
    expect(count('198.51.100.9', half)).toBe(true);
  });

  it('remembers the networks that were used last', () => {
    const limit = createNetworkLimit(1, () => 0);

    limit.take('192.0.2.1');
    for (let network = 0; network < 20_000; network += 1) limit.take(`10.${network >> 8}.${network & 255}.1`);

    expect(limit.take('192.0.2.1')).toBe(true);
    expect(limit.take('10.78.31.1')).toBe(false);
  });
});

describe('an admission with the limit', () => {
  const signal = new AbortController().signal;
  const admit: Admit = async ({ host }) =>
    host === 'refused.example'
      ? {
          admitted: false,
          addresses: [],
          resolveMs: 0,
          failure: { code: 'dns_nxdomain', phase: 'resolve', source: 'target', message: '' },
        }
      : { admitted: true, target: { host, address: host, family: 4, addresses: [host], resolveMs: 1 } };

  it('counts each network once per run and reports an excess with a separate code', async () => {
    const limit = createNetworkLimit(1, () => 0);
    const [first, second] = [limitNetworks(admit, limit), limitNetworks(admit, limit)];
    const ask = (of: Admit, host: string): ReturnType<Admit> => of({ host, purpose: 'tcp', port: 80 }, signal);

    expect([await ask(first, '192.0.2.1'), await ask(first, '192.0.2.2')].map(({ admitted }) => admitted)).toEqual([
      true,
      true,
    ]);
    expect(await ask(second, '192.0.2.3')).toEqual({
      admitted: false,
      failure: {
        code: 'target_rate_limited',
        phase: 'resolve',
        source: 'probe',
        message: 'This probe has measured 192.0.2.0/24 as often in the last minute as it may.',
      },
      addresses: ['192.0.2.3'],
      resolveMs: 1,
    });
  });

  it('counts nothing for what is refused, and nothing where nothing is sent', async () => {
    const limit = createNetworkLimit(1, () => 0);
    const limited = (): Admit => limitNetworks(admit, limit);

    expect(await limited()({ host: 'refused.example', purpose: 'http' }, signal)).toMatchObject({
      failure: { code: 'dns_nxdomain' },
    });
    for (const purpose of ['info', 'info', 'icmp'] as const) {
      expect(await limited()({ host: '192.0.2.1', purpose }, signal)).toMatchObject({ admitted: true });
    }
    expect(await limited()({ host: '192.0.2.1', purpose: 'icmp' }, signal)).toMatchObject({ admitted: false });
  });
});
