import { describe, expect, it } from '@jest/globals';

import { readConfig } from './config.ts';

const least = { REDIS_URL: 'redis://127.0.0.1:6379' };

describe('the configuration of the coordinator', () => {
  it('needs a Redis and nothing more', () => {
    expect(readConfig(least)).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: undefined,
      trustedProxies: undefined,
      targetAllow: [],
      rateLimitCreateCheck: 20,
      rateLimitShowCaller: 20,
      resultRetentionSeconds: 86_400,
      logLevel: 'info',
    });
  });

  it.each([
    ['a number of proxies', '2', 2],
    ['no proxy', '0', undefined],
    ['addresses and networks', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    ['everything', '0.0.0.0/0, ::/0', ['0.0.0.0/0', '::/0']],
    ['networks in another notation', '2001:DB8:0::/48', ['2001:DB8:0::/48']],
  ])('takes %s to trust', (_reason, text, trustedProxies) => {
    expect(readConfig({ ...least, TRUSTED_PROXIES: text })).toMatchObject({ trustedProxies });
  });

  it.each([
    ['everything to be trusted', { TRUSTED_PROXIES: 'true' }],
    ['a name to be trusted', { TRUSTED_PROXIES: 'loopback' }],
    ['an empty list to be trusted', { TRUSTED_PROXIES: ',' }],
    ['a network with bits beyond its length to be trusted', { TRUSTED_PROXIES: '10.0.0.1/8' }],
    ['such a network for scrapes', { SCRAPE_NETWORKS: '192.0.2.0/24, 2001:db8::1/64' }],
    ['two costs of one check type', { RATE_LIMIT_COSTS: 'ping=1,dns=2,ping=3' }],
    ['a network with too long a prefix', { TARGET_ALLOW: '10.0.0.0/33' }],
    ['no limit', { RATE_LIMIT_CHECK: '0' }],
    ['a public address that is none', { PUBLIC_URL: 'vantage.example' }],
    ['a public address with a query', { PUBLIC_URL: 'https://vantage.example/?a=1' }],
    ['a public address with credentials', { PUBLIC_URL: 'https://a:b@vantage.example/' }],
    ['a path prefix that is a path of the service', { PUBLIC_URL: 'https://vantage.example/check/' }],
  ])('does not take %s', (_reason, environment) => {
    const [name] = Object.keys(environment);

    expect(() => readConfig({ ...least, ...environment })).toThrow(name);
  });

  it('never prints the password of Redis', () => {
    expect(() => readConfig({ REDIS_URL: 'http://user:secret@store' })).toThrow(
      /REDIS_URL cannot be read; allowed: (?!.*secret)[^\n]+$/,
    );
  });
});
