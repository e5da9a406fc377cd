import Sequencer from '@jest/test-sequencer';

import { placeByLength } from './long-suites.mjs';

const ORDER = ['lab', 'service', 'unit'];

/**
 * Starts long suites first, so that short ones fill the time until the last worker is done. A clean clone has no
 * durations of an earlier run to sort by.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const project = ({ context }) => ORDER.indexOf(context.config.displayName?.name);
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order: no method of arrays.
    const sorted = super.sort(tests);
    return sorted.toSorted((a, b) => placeByLength(a.path) - placeByLength(b.path) || project(a) - project(b));
  }
}
