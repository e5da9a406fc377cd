import { expect, it } from '@jest/globals';

import { proxyNote } from './proxy-note.ts';

it.each([
  ['http://a.example:81', { http_proxy: 'x' }, ' http_proxy is set: Node.js uses it with NODE_USE_ENV_PROXY=1'],
  ['http://a.example', { HTTP_PROXY: 'x', HTTPS_PROXY: 'y' }, ' HTTP_PROXY is set: Node.js uses it with'],
  ['https://a.example', { http_proxy: 'x' }, ' http_proxy is set: '],
  ['https://a.example', { https_proxy: '', HTTPS_PROXY: 'y', HTTP_PROXY: 'x' }, ' HTTP_PROXY is set: '],
  ['https://10.0.0.1', { https_proxy: 'x', no_proxy: '127.0.0.1,localhost' }, ' https_proxy is set: '],
])('names the proxy for %s that Node does not use: %j', (url, env, note) => {
  expect(proxyNote(env, url).slice(0, note.length)).toBe(note);
});

it.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080', 'http://a.localhost'])(
  'advises no proxy for %s of this machine',
  (url) => {
    expect(proxyNote({ http_proxy: 'x' }, url)).toBe('');
    expect(proxyNote({ http_proxy: 'x', NODE_USE_ENV_PROXY: '1' }, url)).toContain('through the proxy in http_proxy');
  },
);

it.each([
  ['http://a.example', { https_proxy: 'x' }],
  ['http://a.example', { http_proxy: '', HTTP_PROXY: 'x' }],
  ['https://a.example', { https_proxy: '', HTTPS_PROXY: 'x' }],
])('names no proxy that Node would not use for %s: %j', (url, env) => {
  expect(proxyNote(env, url)).toBe('');
});

// Seen with fetch of Node 24 and NODE_USE_ENV_PROXY=1.
it.each([
  ['a.example', true],
  ['example', true],
  ['.example', true],
  ['*.EXAMPLE', true],
  ['x, a.example:81', true],
  ['x a.example', true],
  ['*', true],
  ['*, x', false],
  ['a.example:80', false],
  ['b.example', false],
  ['b.a.example', false],
  ['mple', false],
  ['', false],
])('no_proxy with "%s" has a.example:81: %s', (list, isExempt) => {
  for (const env of [{ no_proxy: list }, { NO_PROXY: list }, { no_proxy: list, NO_PROXY: isExempt ? '' : '*' }]) {
    for (const used of ['', '1']) {
      const note = proxyNote({ ...env, HTTP_PROXY: 'x', NODE_USE_ENV_PROXY: used }, 'http://a.example:81');
      expect(note === '').toBe(isExempt);
    }
  }
});

it('knows the port of a scheme', () => {
  expect(proxyNote({ https_proxy: 'x', no_proxy: 'a.example:443' }, 'https://a.example')).toBe('');
  expect(proxyNote({ http_proxy: 'x', no_proxy: 'a.example:80' }, 'http://a.example')).toBe('');
});
