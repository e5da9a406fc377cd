import { expect, it } from '@jest/globals';

import { startMessage } from './start-message.ts';

it.each([
  [3, 0, 'The tcp check runs from 3 probes.'],
  [2, 1, 'The tcp check runs from one probe; one probe is not available.'],
  [5, 3, 'The tcp check runs from 2 probes; 3 probes are not available.'],
  [1, 1, 'The tcp check runs from no probe; one probe is not available.'],
])(
  'a check of %i probes, of which %i get no job, is confirmed with the number that run it',
  (all, withoutJob, text) => {
    const probes = Array.from({ length: all }, (_, index) => `p-${index}`);

    expect(startMessage('tcp', { probes, withoutJob })).toBe(text);
  },
);

it('a check of which some locations have no probe is confirmed with these', () => {
  const confirmed = (...emptyLocations: readonly string[]): string =>
    startMessage('ping', { probes: ['fra-1'], withoutJob: 0, emptyLocations });

  expect(confirmed('Japan')).toBe('The ping check runs from one probe; no probe at "Japan" can run it.');
  expect(confirmed('jp', 'de+AS\n1')).toBe(
    String.raw`The ping check runs from one probe; no probe at "jp" or "de+AS\u{a}1" can run it.`,
  );
});
