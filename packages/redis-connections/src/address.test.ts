import { describe, expect, it } from '@jest/globals';

import { parseRedisUrl, redisUrlKind } from './address.ts';

describe('REDIS_URL', () => {
  it('names one server, with its login', () => {
    expect(parseRedisUrl('redis://vantage:s%40cret@redis.example:7000/1')).toEqual({
      kind: 'single',
      username: 'vantage',
      password: 's@cret',
      tls: false,
      endpoints: [{ host: 'redis.example', port: 7_000 }],
      url: 'redis://vantage:s%40cret@redis.example:7000/1',
      database: 1,
    });
  });

  it('names Sentinels and the set that they watch, with both logins', () => {
    const url =
      'rediss+sentinel://vantage:secret@s1.example,s2.example:7001/main?sentinelUser=watch&sentinelPassword=w';

    expect(parseRedisUrl(url)).toEqual({
      kind: 'sentinel',
      username: 'vantage',
      password: 'secret',
      tls: true,
      set: 'main',
      sentinelUsername: 'watch',
      sentinelPassword: 'w',
      endpoints: [
        { host: 's1.example', port: 26_379 },
        { host: 's2.example', port: 7_001 },
      ],
    });
  });

  it('names nodes of a cluster', () => {
    expect(parseRedisUrl('redis+cluster://[2001:db8::1]:7000,192.0.2.1')).toEqual({
      kind: 'cluster',
      username: undefined,
      password: undefined,
      tls: false,
      endpoints: [
        { host: '2001:db8::1', port: 7_000 },
        { host: '192.0.2.1', port: 6_379 },
      ],
    });
  });

  it.each([
    ['another scheme', 'http://redis.example'],
    ['no host', 'redis://'],
    ['a port that is none', 'redis+cluster://redis.example:70000'],
    ['several hosts without saying what they are', 'redis://a.example,b.example'],
    ['Sentinels without a set', 'redis+sentinel://a.example'],
    ['an unknown word for Sentinels', 'redis+sentinel://a.example/main?db=1'],
    ['a database of a cluster', 'redis+cluster://a.example/1'],
    ['a database by name', 'redis://a.example/vantage'],
    ['two databases', 'redis://a.example/0/1'],
    ['a database behind the question mark', 'redis://a.example?db=3'],
    ['a password that is not encoded', 'redis+cluster://user:50%@a.example'],
  ])('is refused with %s, without saying what it was', (_reason, url) => {
    let message = '';
    try {
      redisUrlKind.parse(url);
    } catch (error) {
      message = (error as Error).message;
    }

    expect(message).toMatch(/^must /);
    expect(message).not.toContain('example');
    expect(message).not.toContain('50%');
  });
});
