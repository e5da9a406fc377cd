import { describe, expect, it } from '@jest/globals';

import { OF_THE_SERVICE } from './service-paths.ts';

describe('the paths that the page in development leaves to the service', () => {
  it.each([
    '/check',
    '/check/abc/results?wait=25',
    '/check/abc/badge.svg',
    '/c/abc/embed',
    '/probes/agents',
    '/monitors',
    '/monitors/web/events',
    '/metrics/monitors',
    '/probe?target=example.com',
    '/sd',
    '/sd/agents',
    '/openapi.json',
  ])('have %s', (path) => {
    expect(path).toMatch(new RegExp(OF_THE_SERVICE));
  });

  it.each(['/', '/c/abc', '/c/abc/compare/def', '/m', '/m/monitors', '/status', '/src/main.tsx', '/mere'])(
    'have no %s',
    (path) => {
      expect(path).not.toMatch(new RegExp(OF_THE_SERVICE));
    },
  );
});
