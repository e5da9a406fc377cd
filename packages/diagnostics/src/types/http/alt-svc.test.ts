import { createServer } from 'node:http';

import { afterEach, describe, expect, it } from '@jest/globals';

import { checkOf, problemsOf } from '../../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import { altSvcOf } from './alt-svc.ts';

const { start, closeAll } = servers();

afterEach(closeAll);

const h3 = { protocol: 'h3', host: null, port: 443, maxAge: 86_400 };

describe('the Alt-Svc header of an answer', () => {
  it.each<[string, string, readonly object[]]>([
    ['HTTP/3 at the same host', 'h3=":443"', [h3]],
    ['a lifetime', 'h3=":443"; ma=3600', [{ ...h3, maxAge: 3600 }]],
    ['a lifetime in quotes and another parameter', 'h3=":443"; persist=1; ma="60"', [{ ...h3, maxAge: 60 }]],
    ['another host', 'h2="alt.example.com:8000"', [{ ...h3, protocol: 'h2', host: 'alt.example.com', port: 8000 }]],
    ['an IPv6 host', 'h3="[2001:db8::1]:443"', [{ ...h3, host: '[2001:db8::1]' }]],
    [
      'several',
      'h3=":443"; ma=1, h3-29=":8443"',
      [
        { ...h3, maxAge: 1 },
        { ...h3, protocol: 'h3-29', port: 8443 },
      ],
    ],
    ['an encoded protocol', 'w%3Dx%3Ay="a:1"', [{ ...h3, protocol: 'w=x:y', host: 'a', port: 1 }]],
    ['a protocol with control characters', 'h%0A3=":443"', [{ ...h3, protocol: 'h\\u{a}3' }]],
    ['an end to it all', 'clear', []],
    ['no port', 'h3="host"', []],
    ['a port that is none', 'h3=":99999"', []],
    ['nonsense', '=;,"', []],
    ['more than are kept', 'h3=":443",'.repeat(100), Array.from({ length: 8 }, () => h3)],
    ['a token without end', 'a'.repeat(16_000), []],
  ])('names %s', (_reason, value, expected) => {
    const head = { statusCode: 200, statusText: null, httpVersion: '2', rawHeaders: ['alt-svc', value] };

    expect(altSvcOf(head)).toEqual(expected);
  });

  it.each<[string, Readonly<Record<string, string>>, readonly object[] | null]>([
    ['where it is', { 'Alt-Svc': 'h3=":443"; ma=86400' }, [h3]],
    ['as null where it is not', {}, null],
  ])('is in the result %s', async (_reason, headers, expected) => {
    const port = await start(createServer((_request, response) => response.writeHead(200, headers).end()));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome.altSvc).toEqual(expected);
    expect(problemsOf(outcome)).toEqual([]);
  });
});
