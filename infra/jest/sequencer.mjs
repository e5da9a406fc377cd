import { existsSync } from 'node:fs';

import Sequencer from '@jest/test-sequencer';

const ORDER = ['lab', 'service', 'unit'];

/** Suites that take long or need ten seconds of CPU time. A clean clone has no durations of an earlier run to sort by. */
const LONGEST = [
  'infra/chaos/chaos.test.ts',
  'infra/chaos/chaos-second-half.test.ts',
  'packages/diagnostics/src/browser/screenshots.test.ts',
  'apps/coordinator/src/probes/key-quota.test.ts',
  'apps/web/test/service.test.ts',
  'infra/chaos/monitors/clock-step.test.ts',
  'apps/standalone/src/agent-over-tls.test.ts',
  'apps/standalone/src/foreign-proxies.test.ts',
  'infra/audit/canaries/canaries.test.ts',
  'packages/agent-loop/src/standstill.test.ts',
  'apps/coordinator/src/monitors/ticks.test.ts',
  'apps/standalone/src/abandoned.test.ts',
  'infra/chaos/several-servers.test.ts',
  'apps/web/test/page.test.ts',
  'packages/diagnostics/src/tls/corpus.test.ts',
  'apps/coordinator/src/http/endpoints/monitors/write-monitors.test.ts',
  'packages/diagnostics/src/browser/isolation/isolation.test.ts',
  'apps/standalone/src/gateway.test.ts',
  'packages/diagnostics/src/browser/page/settle.test.ts',
  'infra/netlab/netlab.test.ts',
  'apps/standalone/src/no-orphans.test.ts',
  'apps/standalone/src/alertmanager.test.ts',
  'apps/standalone/src/secrets-at-rest.test.ts',
  'packages/agent-loop/src/partition.test.ts',
  'infra/netlab/impairments.test.ts',
  'apps/probe-agent/src/agent-screenshots-process.test.ts',
  'packages/agent-loop/src/gateway/gateway-loop.test.ts',
  'apps/standalone/src/screenshots.test.ts',
  'apps/standalone/src/topologies.test.ts',
  'apps/standalone/src/supervisor-standstill.test.ts',
  'apps/coordinator/src/monitors/kill.test.ts',
  'apps/web/test/crowd.test.ts',
  'apps/standalone/src/command-line.test.ts',
  'apps/web/test/monitors.test.ts',
  'infra/new-type/new-type.test.ts',
  'infra/chaos/rolling-restart.test.ts',
  'apps/coordinator/src/gateway/gateway.test.ts',
  'apps/coordinator/src/admin/help.test.ts',
  'apps/standalone/src/blackbox-dashboard.test.ts',
  'packages/summary/src/compare/path-changes.test.ts',
  'packages/diagnostics/src/types/traceroute/loss.test.ts',
  'packages/diagnostics/src/types/http/corpus.test.ts',
  'apps/web/test/names.test.ts',
  'packages/diagnostics/src/tls/sslscan.test.ts',
  'apps/standalone/src/blackbox.test.ts',
  'apps/standalone/src/blackbox-requests.test.ts',
  'infra/npm/clients.test.ts',
  'apps/standalone/src/end-to-end.test.ts',
  'infra/netlab/services-lab.test.ts',
  'infra/netlab/summary.test.ts',
  'apps/standalone/src/live.test.ts',
  'infra/simulator/simulator.test.ts',
  'infra/chaos/retention.test.ts',
  'infra/helm/chart.test.ts',
  'infra/chaos/overload.test.ts',
  'packages/summary/src/compare/paths.test.ts',
  'packages/summary/src/properties.test.ts',
  'apps/coordinator/src/checks/store/result-budget.test.ts',
  'apps/standalone/src/full-disk.test.ts',
];

const gone = LONGEST.filter((suite) => !existsSync(new URL(`../../${suite}`, import.meta.url)));
if (gone.length > 0) throw new Error(`infra/jest/sequencer.mjs lists suites that do not exist: ${gone.join(', ')}`);

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
