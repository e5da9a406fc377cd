import { describe, expect, it } from '@jest/globals';

import { cookieJar } from './cookies.ts';

const head = (...cookies: readonly string[]) => ({
  statusCode: 302,
  statusText: null,
  httpVersion: '1.1',
  rawHeaders: cookies.flatMap((cookie) => ['Set-Cookie', cookie]),
});

describe('the cookies of a check', () => {
  it.each<[string, string, string, string | null]>([
    ['to the same URL', 'a=b', 'https://www.a.test/x/y', 'a=b'],
    ['below the folder of the URL', 'a=b', 'https://www.a.test/x/z', 'a=b'],
    ['not outside the folder of the URL', 'a=b', 'https://www.a.test/z', null],
    ['everywhere where the path says so', 'a=b; Path=/', 'https://www.a.test/z', 'a=b'],
    ['not to a path that only begins the same', 'a=b; Path=/z', 'https://www.a.test/zz', null],
    ['not to another host', 'a=b; Path=/', 'https://a.test/', null],
    ['to a host of the domain', 'a=b; Path=/; Domain=.a.test', 'https://other.a.test/', 'a=b'],
    ['to no host if the domain is another', 'a=b; Path=/; Domain=b.test', 'https://b.test/', null],
    ['to no host if the domain is a part of the tree', 'a=b; Path=/; Domain=test', 'https://other.test/', null],
    ['not in the clear where it is secure', 'a=b; Path=/; Secure', 'http://www.a.test/', null],
    ['not where it is over', 'a=b; Path=/; Max-Age=0', 'https://www.a.test/', null],
    ['not where it expired', 'a=b; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://www.a.test/', null],
    ['not where it is no text', 'a=b\u00e9; Path=/', 'https://www.a.test/', null],
    ['not where it has no name', '=b; Path=/', 'https://www.a.test/', null],
  ])('go %s', (_reason, cookie, url, expected) => {
    const jar = cookieJar();

    jar.keep(new URL('https://www.a.test/x/y'), head(cookie));

    expect(jar.cookiesFor(new URL(url))).toBe(expected);
  });

  it('are replaced by the next of the name, and taken back', () => {
    const jar = cookieJar();
    const url = new URL('https://www.a.test/');

    jar.keep(url, head('a=b', 'c=d', 'a=e'));
    expect(jar.cookiesFor(url)).toBe('c=d; a=e');
    jar.keep(url, head('c=; Max-Age=-1'));
    expect(jar.cookiesFor(url)).toBe('a=e');
  });

  it('are bounded in number and in size', () => {
    const jar = cookieJar();
    const url = new URL('https://www.a.test/');

    jar.keep(url, head(...Array.from({ length: 100 }, (_, at) => `n${at}=v`)));
    expect(jar.cookiesFor(url)?.split('; ')).toHaveLength(20);
    jar.keep(url, head(`n=${'v'.repeat(4_000)}`));
    expect(jar.cookiesFor(url)).toContain(`n=${'v'.repeat(4_000)}`);
    jar.keep(url, head(`n=${'v'.repeat(9_000)}`));
    expect(jar.cookiesFor(url)).toBeNull();
  });
});
