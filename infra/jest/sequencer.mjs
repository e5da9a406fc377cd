import { existsSync } from 'node:fs';

import Sequencer from '@jest/test-sequencer';

const ORDER = ['lab', 'service', 'unit'];

/**
 * Suites that took 13 seconds or more on two cores when this list was written, the longest first. A clean clone has no
 * durations of an earlier run to sort by.
 */
const LONGEST = [
  'infra/netlab/summary.test.ts',
  'apps/standalone/src/suspended-jobs.test.ts',
  'packages/diagnostics/src/browser/screenshots.test.ts',
  'apps/standalone/src/gateway.test.ts',
  'apps/coordinator/src/probes/key-quota.test.ts',
  'infra/chaos/monitors/clock-step.test.ts',
  'infra/chaos/several-servers.test.ts',
  'infra/chaos/chaos.test.ts',
  'infra/netlab/mtu.test.ts',
  'infra/chaos/chaos-second-half.test.ts',
  'apps/standalone/src/abandoned-clients.test.ts',
  'apps/coordinator/src/monitors/ticks.test.ts',
  'infra/netlab/service/alarm.test.ts',
  'apps/coordinator/src/gateway/slow-link.test.ts',
  'infra/netlab/standstill.test.ts',
  'packages/diagnostics/src/browser/isolation/isolation.test.ts',
  'apps/web/test/crowd.test.ts',
  'infra/audit/canaries/canaries.test.ts',
  'apps/standalone/src/abandoned.test.ts',
  'packages/diagnostics/src/browser/page/settle.test.ts',
  'apps/coordinator/src/monitors/kill.test.ts',
  'apps/standalone/src/agent-over-tls.test.ts',
  'apps/web/test/names.test.ts',
  'apps/web/test/service.test.ts',
  'packages/diagnostics/src/tls/corpus.test.ts',
  'apps/web/test/page.test.ts',
  'apps/coordinator/src/gateway/gateway.test.ts',
  'apps/standalone/src/secrets-at-rest.test.ts',
  'infra/netlab/nat.test.ts',
  'infra/netlab/netlab.test.ts',
  'infra/new-type/new-type.test.ts',
  'infra/simulator/branches/branches.test.ts',
  'packages/diagnostics/src/types/udp/run.test.ts',
  'packages/agent-loop/src/standstill.test.ts',
  'apps/standalone/src/no-orphans.test.ts',
  'apps/standalone/src/foreign-proxies.test.ts',
  'apps/standalone/src/alertmanager.test.ts',
  'apps/standalone/src/supervisor-standstill.test.ts',
  'apps/standalone/src/command-line.test.ts',
  'apps/coordinator/src/probes/access/connection-quota.test.ts',
  'packages/diagnostics/src/types/dns/silent-servers.test.ts',
  'infra/netlab/impairments.test.ts',
  'apps/standalone/src/topologies.test.ts',
  'infra/simulator/simulator.test.ts',
  'apps/standalone/src/blackbox-dashboard.test.ts',
  'packages/agent-loop/src/agent-loop.test.ts',
  'apps/probe-agent/src/agent-screenshots-process.test.ts',
  'infra/netlab/services-lab.test.ts',
  'infra/chaos/rolling-restart.test.ts',
  'packages/diagnostics/src/tls/sslscan.test.ts',
  'apps/standalone/src/end-to-end.test.ts',
  'apps/web/test/monitors.test.ts',
  'packages/diagnostics/src/types/http/corpus.test.ts',
  'infra/npm/clients.test.ts',
  'packages/diagnostics/src/sockets/packet-sockets.test.ts',
  'apps/standalone/src/gateway-upgrade.test.ts',
  'infra/chaos/retention.test.ts',
  'apps/standalone/src/screenshots.test.ts',
  'apps/coordinator/src/server-receipt.test.ts',
  'apps/standalone/src/blackbox.test.ts',
  'packages/diagnostics/src/types/dns/corpus.test.ts',
  'packages/target-policy/src/resolver/resolver.test.ts',
  'apps/standalone/src/no-orphan-redis.test.ts',
  'apps/standalone/src/live.test.ts',
  'apps/coordinator/src/probes/registry/list-probes.test.ts',
  'apps/coordinator/src/monitors/webhooks/webhook-queue.test.ts',
  'packages/agent-loop/src/gateway/gateway-loop.test.ts',
  'apps/coordinator/src/admin/help.test.ts',
  'packages/redis-connections/src/open.test.ts',
  'infra/netlab/amplification.test.ts',
  'apps/probe-agent/src/agent-acl.test.ts',
  'infra/audit/pipelined-requests.test.ts',
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
