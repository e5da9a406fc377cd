import { afterEach, describe, expect, it } from '@jest/globals';

import { nowhere, startHttpBed, type BedOptions, type HttpBed } from '../../../test/http-bed.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('GET /me', () => {
  it('has every field of both shapes', async () => {
    const place = { ...nowhere, asn: 'AS64496', isp: 'Example Net', org: 'Example', countryCode: 'DE', city: 'Bonn' };
    const { ask } = await start({ lookUpPlace: () => place, reverse: async () => ['host\u202e.example'] });

    const { json } = await ask('/me');

    expect(json).toEqual({
      ...{ ip: '127.0.0.1', hostname: 'host\\u{202e}.example', ipv4: '127.0.0.1', ipv6: null, city: 'Bonn' },
      ...{ region: null, country: null, countryCode: 'DE', country_code: 'DE', timezone: null, isp: 'Example Net' },
      ...{ asn: 'AS64496', as: 'AS64496', org: 'Example', provider: null },
    });
  });

  it('looks nothing up for a private address', async () => {
    const place = { ...nowhere, city: 'Bonn' };
    const { ask } = await start({
      ...{ isPublicAddress: () => false, lookUpPlace: () => place, reverse: async () => ['localhost'] },
    });

    expect((await ask('/me')).json).toMatchObject({ ip: '127.0.0.1', hostname: null, city: null });
  });

  it.each<[string, BedOptions['reverse']]>([
    ['fails', async () => Promise.reject(new Error('SERVFAIL'))],
    ['never answers', () => new Promise(() => undefined)],
    ['knows none', async () => []],
  ])('has no host name when the resolver %s', async (_reason, reverse) => {
    const { ask } = await start(reverse === undefined ? {} : { reverse });

    const answer = await ask('/me');

    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ hostname: null });
  });

  it.each([
    ['no proxy is trusted', undefined, '203.0.113.9', '127.0.0.1'],
    ['one proxy is trusted', 1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['two proxies are trusted', 2, '192.0.2.1, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['loopback is trusted', ['127.0.0.0/8'], '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['another network is trusted', ['192.0.2.0/24'], '203.0.113.9', '127.0.0.1'],
    ['an IPv4-mapped address came', 1, '::FFFF:203.0.113.9', '203.0.113.9'],
    ['an IPv6 address came', 1, '2001:DB8:0::1', '2001:db8::1'],
  ])('shows the address of the caller when %s', async (_reason, trustedProxies, forwarded, ip) => {
    const { ask } = await start({ trustedProxies });

    const { json } = await ask('/me', { headers: { 'X-Forwarded-For': forwarded } });

    expect(json).toMatchObject({ ip, ipv4: ip.includes(':') ? null : ip, ipv6: ip.includes(':') ? ip : null });
  });

  it.each(['unknown', '203.0.113.9:80', '<b>', "' OR 1", '1.2.3'])(
    'refuses the forwarded address %s',
    async (forwarded) => {
      const { ask } = await start({ trustedProxies: 1 });

      expect((await ask('/me', { headers: { 'X-Forwarded-For': forwarded } })).status).toBe(400);
    },
  );
});
