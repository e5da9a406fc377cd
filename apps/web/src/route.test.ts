import { describe, expect, it } from '@jest/globals';

import { routeOf } from './route.ts';

describe('the address bar', () => {
  it.each([
    ['/', '', { view: 'home', query: '' }],
    ['/?type=dns&host=example.com', '', { view: 'home', query: '?type=dns&host=example.com' }],
    ['/net/', '/net', { view: 'home', query: '' }],
    ['/status', '', { view: 'probes' }],
    ['/net/c/qPUXvL1sQx2rGJm0Zf7N4w', '/net', { view: 'check', id: 'qPUXvL1sQx2rGJm0Zf7N4w' }],
    ['/net/c/a_1/compare/b-2', '/net', { view: 'compare', a: 'a_1', b: 'b-2', hasDefaults: false }],
    ['/c/a/compare/b?options=default', '', { view: 'compare', a: 'a', b: 'b', hasDefaults: true }],
    ['/c/a/compare/', '', { view: 'nowhere' }],
    ['/m', '', { view: 'monitors' }],
    ['/net/m/web-1', '/net', { view: 'monitor', name: 'web-1' }],
    ['/m/No', '', { view: 'nowhere' }],
    ['/c/a%2Fb', '', { view: 'nowhere' }],
    ['/c/', '', { view: 'nowhere' }],
    ['/elsewhere', '', { view: 'nowhere' }],
  ])('shows a view: %s below “%s”', (path, basePath, route) => {
    expect(routeOf(new URL(path, 'https://vantage.example'), basePath)).toEqual(route);
  });
});
