import { unknownPlace, type NameLookup } from '@vantage/contract';
import { afterEach, describe, expect, it } from '@jest/globals';

import { startHttpBed, type BedOptions, type HttpBed } from '../../../test/http-bed.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

const named = (reverse: readonly string[], forward: readonly string[]): NameLookup => ({
  reverse: async () => reverse,
  forward: async () => forward,
});

/** A lookup that ends only when it is aborted. */
const untilAborted = (signal: AbortSignal): Promise<readonly string[]> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve([]), { once: true }));

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('GET /me', () => {
  it('has every field of both shapes', async () => {
    const place = {
      ...unknownPlace,
      asn: 'AS64496',
      isp: 'Example Net',
      org: 'Example',
      countryCode: 'DE',
      city: 'Bonn',
    };
    const { ask } = await start({ lookUpPlace: () => place, names: named(['host\u202e.example'], ['::1']) });

    const { json } = await ask('/me');

    expect(json).toEqual({
      ip: '127.0.0.1',
      hostname: 'host\\u{202e}.example',
      hostnameVerified: false,
      ipv4: '127.0.0.1',
      ipv6: null,
      city: 'Bonn',
      region: null,
      country: null,
      countryCode: 'DE',
      country_code: 'DE',
      timezone: null,
      isp: 'Example Net',
      asn: 'AS64496',
      as: 'AS64496',
      org: 'Example',
      provider: null,
    });
  });

  it('looks nothing up for a private address', async () => {
    const place = { ...unknownPlace, city: 'Bonn' };
    const { ask } = await start({
      isPublicAddress: () => false,
      lookUpPlace: () => place,
      names: named(['localhost'], []),
    });

    expect((await ask('/me')).json).toMatchObject({ ip: '127.0.0.1', hostname: null, city: null });
  });

  it.each<[string, NameLookup['reverse']]>([
    ['fails', async () => Promise.reject(new Error('SERVFAIL'))],
    ['never answers', () => new Promise(() => undefined)],
    ['knows none', async () => []],
  ])('has no host name when the resolver %s', async (_reason, reverse) => {
    const { ask } = await start({ names: { reverse, forward: async () => [] } });

    const answer = await ask('/me');

    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ hostname: null, hostnameVerified: null });
  });

  it.each<[string, NameLookup['forward'], boolean | null]>([
    ['leads back', async () => ['192.0.2.1', '127.0.0.1'], true],
    ['leads elsewhere', async () => ['192.0.2.1'], false],
    ['leads nowhere', async () => [], false],
    ['fails', async () => Promise.reject(new Error('SERVFAIL')), null],
    ['could not be resolved', async () => null, null],
    ['is not answered', () => new Promise(() => undefined), null],
    ['comes back empty since its time is up', (_name, _family, signal) => untilAborted(signal), null],
  ])('says whether the name leads back to the address: %s', async (_reason, forward, hostnameVerified) => {
    const { ask } = await start({ names: { reverse: async () => ['a.example'], forward } });

    expect((await ask('/me')).json).toMatchObject({ hostname: 'a.example', hostnameVerified });
  });

  it('shows the name that leads back, of several', async () => {
    const forward = async (name: string): Promise<readonly string[]> => (name === 'b.example' ? ['127.0.0.1'] : []);
    const { ask } = await start({ names: { reverse: async () => ['a.example', 'b.example'], forward } });

    expect((await ask('/me')).json).toMatchObject({ hostname: 'b.example', hostnameVerified: true });
  });

  it.each([
    ['no proxy is trusted', undefined, '203.0.113.9', '127.0.0.1'],
    ['one proxy is trusted', 1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['two proxies are trusted', 2, '192.0.2.1, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['loopback is trusted', ['127.0.0.0/8'], '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['another network is trusted', ['192.0.2.0/24'], '203.0.113.9', '127.0.0.1'],
    ['an IPv4-mapped address came', 1, '::FFFF:203.0.113.9', '203.0.113.9'],
    ['a port came too', 1, '203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 address with a port came', 1, '[2001:db8::1]:4444', '2001:db8::1'],
    ['an IPv6 address came that ends like a port', 1, '2001:db8::1:4444', '2001:db8::1:4444'],
    ['each has a port', 2, '192.0.2.1:1,198.51.100.1:65535 , 203.0.113.9:3', '198.51.100.1'],
    ['a trusted proxy has a port', ['127.0.0.0/8', '203.0.113.0/24'], '198.51.100.1:5, 203.0.113.9:80', '198.51.100.1'],
    ['a port came and no proxy is trusted', undefined, '203.0.113.9:80', '127.0.0.1'],
    ['an IPv6 address came', 1, '2001:DB8:0::1', '2001:db8::1'],
  ])('shows the address of the caller when %s', async (_reason, trustedProxies, forwarded, ip) => {
    const { ask } = await start({ trustedProxies });

    const { json } = await ask('/me', { headers: { 'X-Forwarded-For': forwarded } });

    expect(json).toMatchObject({ ip, ipv4: ip.includes(':') ? null : ip, ipv6: ip.includes(':') ? ip : null });
  });

  it.each([
    'unknown',
    '203.0.113.9:0',
    '203.0.113.9:65536',
    '203.0.113.9:',
    '[203.0.113.9]:80',
    '[2001:db8::1',
    '[2001:db8::1]',
    '<b>',
    "' OR 1",
    '1.2.3',
  ])('refuses the forwarded address %s', async (forwarded) => {
    const { ask } = await start({ trustedProxies: 1 });

    expect((await ask('/me', { headers: { 'X-Forwarded-For': forwarded } })).status).toBe(400);
  });
});
