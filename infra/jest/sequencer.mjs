import Sequencer from '@jest/test-sequencer';

const ORDER = ['lab', 'service', 'unit'];

/** What takes long begins first, also where no earlier run says how long: the short ones fill the gaps at the end. */
export default class SlowProjectsFirst extends Sequencer {
  sort(tests) {
    const place = ({ context }) => ORDER.indexOf(context.config.displayName?.name);
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order: no method of arrays.
    return super.sort(tests).toSorted((a, b) => place(a) - place(b));
  }
}
