import Sequencer from '@jest/test-sequencer';

const ORDER = ['lab', 'service', 'unit'];

/** Suites that take half a minute or more on two cores. A clean clone has no durations of an earlier run to sort by. */
const LONGEST = [
  'infra/chaos/chaos.test.ts',
  'packages/diagnostics/src/browser/screenshots.test.ts',
  'apps/standalone/src/screenshots.test.ts',
  'packages/diagnostics/src/browser/isolation/isolation.test.ts',
  'apps/web/test/service.test.ts',
  'packages/diagnostics/src/tls/corpus.test.ts',
  'infra/netlab/services-lab.test.ts',
  'infra/new-type/new-type.test.ts',
  'apps/standalone/src/agent-over-tls.test.ts',
  'packages/diagnostics/src/browser/page/settle.test.ts',
  'apps/probe-agent/src/agent-screenshots-process.test.ts',
  'apps/web/test/page.test.ts',
  'apps/coordinator/src/probes/key-quota.test.ts',
  'apps/standalone/src/no-orphans.test.ts',
  'apps/standalone/src/supervisor-standstill.test.ts',
  'packages/agent-loop/src/partition.test.ts',
];

/** Starts long suites first, so that short ones fill the time until the last worker is done. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const project = ({ context }) => ORDER.indexOf(context.config.displayName?.name);
    const length = ({ path }) => {
      const index = LONGEST.findIndex((suite) => path.endsWith(`/${suite}`));
      return index === -1 ? LONGEST.length : index;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order: no method of arrays.
    return super.sort(tests).toSorted((a, b) => length(a) - length(b) || project(a) - project(b));
  }
}
