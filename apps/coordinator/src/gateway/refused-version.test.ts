import { expect, it } from '@jest/globals';

import { refusedVersion } from './refused-version.ts';

const versions = { oldest: 2, newest: 4 };

it.each([2, 3, 4])('version %i is served', (v) => {
  expect(refusedVersion({ v, release: '1.0.0' }, versions)).toBeUndefined();
});

it('an agent that is too old is to be upgraded', () => {
  const { why, nearest } = refusedVersion({ v: 1, release: '0.9.0' }, versions)!;

  expect(why).toMatch(/release 0\.9\.0\).*version 1 .*version 2 is the oldest that works: upgrade the agent\.$/);
  expect(nearest).toBe(2);
});

it('an agent that is newer than the gateway is not: the service is to be upgraded', () => {
  const { why, nearest } = refusedVersion({ v: 5, release: '2.0.0' }, versions)!;

  expect(why).toMatch(/release 2\.0\.0\).*version 5 .*gateway is older.*version 4 at most: upgrade the service\.$/);
  expect(nearest).toBe(4);
});

it('the release that an agent claims cannot control a terminal', () => {
  const { why } = refusedVersion({ v: 1, release: '1\u001B[2J\n\u202E' }, versions)!;

  expect(why).toContain(String.raw`(release 1\u{1b}[2J\u{a}\u{202e})`);
});
