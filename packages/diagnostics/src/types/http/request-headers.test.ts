import { describe, expect, it } from '@jest/globals';
import { requestSchema, ruleErrors } from '@vantage/contract';
import { Value } from 'typebox/value';

import { paramsOf } from '../../../test/http.ts';
import { http } from './contract.ts';

describe('the request headers of an http check', () => {
  it.each([
    ['no header', {}],
    ['what callers send', { Accept: 'text/html, */*;q=0.8', 'X-Request_1': 'a\tb', Empty: '' }],
    ['credentials of the caller’s own', { Authorization: 'Bearer abc', Cookie: 'a=b; c=d' }],
    ['a name that objects have', { constructor: 'x' }],
  ])('may be %s', (_reason, headers) => {
    expect(errorsOf(headers)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['the host, which is the URL’s', 'Host', 'example.org'],
    ['the host in any case', 'hOsT', 'example.org'],
    ['the name of the probe', 'User-Agent', 'curl'],
    ['a length', 'Content-Length', '5'],
    ['the framing', 'Transfer-Encoding', 'chunked'],
    ['the connection', 'Connection', 'keep-alive'],
    ['an upgrade', 'upgrade', 'websocket'],
    ['trailers', 'TE', 'trailers'],
    ['a proxy', 'Proxy-Authorization', 'Basic abc'],
    ['a pseudo-header', ':path', '/'],
    ['a space in the name', 'A B', 'x'],
    ['an empty name', '', 'x'],
    ['a name beyond ASCII', 'Ünicode', 'x'],
    ['a line end in the value', 'X', 'a\r\nEvil: b'],
    ['a null in the value', 'X', 'a\u0000b'],
    ['a letter beyond ASCII in the value', 'X', 'ü'],
    ['a space before the value', 'X', ' a'],
    ['a space after the value', 'X', 'a '],
  ])('may not set %s', (_reason, name, value) => {
    const errors = errorsOf({ [name]: value });

    expect(errors).toHaveLength(1);
    expect(errors[0]?.path).toBe(`/options/headers/${name}`);
    expect(errors[0]?.message).toContain(name);
  });

  it('may not name one twice', () => {
    expect(errorsOf({ 'X-A': '1', 'x-a': '2' })).toEqual([
      { path: '/options/headers/x-a', message: 'The header x-a is given twice.' },
    ]);
  });

  it('may have four kibibytes in all and no more', () => {
    const name = 'X'.repeat(92);

    expect(errorsOf({ [name]: 'a'.repeat(4000) })).toEqual([]);
    expect(errorsOf({ [name]: 'a'.repeat(4001) })).toEqual([
      { path: '/options/headers', message: 'The headers are larger than 4 KiB in all.' },
    ]);
  });

  it('are named by a JSON pointer', () => {
    expect(errorsOf({ 'a/b~': 'x' })[0]?.path).toBe('/options/headers/a~1b~0');
  });

  it.each<[string, unknown, boolean]>([
    ['strings', { A: 'b' }, true],
    ['numbers', { A: 1 }, false],
    ['a list', ['A: b'], false],
    ['twenty-one', Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`H${at}`, 'x'])), false],
  ])('are held to their schema: %s', (_reason, headers, valid) => {
    const request = { type: 'http', host: 'http://good.test/', options: { headers } };

    expect(Value.Check(requestSchema(http, []), request)).toBe(valid);
  });
});

function errorsOf(headers: Readonly<Record<string, string>>) {
  return ruleErrors(http, paramsOf('http://good.test/', { options: { headers } }));
}
