import { existsSync } from 'node:fs';

/**
 * Suites that took 8 seconds or more on two cores when this list was written, less than a quarter of it CPU time of all
 * their processes: the longest first. `infra/jest/runner.mjs` runs them next to the others.
 */
const WAITING = [
  'infra/netlab/mtu.test.ts',
  'infra/netlab/summary.test.ts',
  'apps/standalone/src/suspended-jobs.test.ts',
  'infra/netlab/service/alarm.test.ts',
  'apps/standalone/src/gateway.test.ts',
  'infra/chaos/monitors/clock-step.test.ts',
  'apps/standalone/src/abandoned-clients.test.ts',
  'apps/coordinator/src/monitors/ticks.test.ts',
  'apps/coordinator/src/gateway/slow-link.test.ts',
  'infra/netlab/standstill.test.ts',
  'apps/standalone/src/abandoned.test.ts',
  'apps/standalone/src/alertmanager.test.ts',
  'apps/standalone/src/secrets-at-rest.test.ts',
  'apps/coordinator/src/gateway/gateway.test.ts',
  'infra/netlab/nat.test.ts',
  'packages/agent-loop/src/standstill.test.ts',
  'infra/netlab/netlab.test.ts',
  'apps/standalone/src/agent-over-tls.test.ts',
  'apps/coordinator/src/probes/access/connection-quota.test.ts',
  'infra/netlab/impairments.test.ts',
  'packages/diagnostics/src/types/udp/run.test.ts',
  'apps/standalone/src/supervisor-standstill.test.ts',
  'packages/diagnostics/src/types/dns/silent-servers.test.ts',
  'packages/diagnostics/src/types/dns/corpus.test.ts',
  'packages/diagnostics/src/sockets/packet-sockets.test.ts',
  'packages/agent-loop/src/agent-loop.test.ts',
  'packages/redis-connections/src/open.test.ts',
  'packages/diagnostics/src/types/dns/validation.test.ts',
  'packages/diagnostics/src/types/dns/cached-failure.test.ts',
  'apps/coordinator/src/monitors/paths.test.ts',
  'apps/coordinator/src/server-receipt.test.ts',
  'packages/target-policy/src/resolver/resolver.test.ts',
  'packages/diagnostics/src/types/dns/real-servers.test.ts',
  'apps/coordinator/src/probes/registry/list-probes.test.ts',
  'packages/agent-loop/src/gateway/gateway-loop.test.ts',
  'apps/coordinator/src/monitors/webhooks/webhook-queue.test.ts',
  'infra/netlab/service/both-ways.test.ts',
  'apps/coordinator/src/monitors/webhooks.test.ts',
  'apps/probe-agent/src/agent-acl.test.ts',
  'packages/settings/src/resolver-options.test.ts',
  'apps/coordinator/src/checks/screenshots/screenshots.test.ts',
  'apps/probe-agent/src/agent.test.ts',
  'packages/agent-loop/src/partition.test.ts',
  'apps/coordinator/src/checks/read/follow-checks.test.ts',
  'apps/coordinator/src/admin/doctor/doctor.test.ts',
  'apps/coordinator/src/checks/ingest/ingest.test.ts',
  'apps/coordinator/src/http/store-budget.test.ts',
  'infra/netlab/services-lab-icmp.test.ts',
  'apps/probe-agent/src/agent-outage.test.ts',
  'infra/simulator/second-opinion.test.ts',
  'apps/load/src/run-load.test.ts',
  'apps/coordinator/src/redis/server-state/write-watch.test.ts',
  'packages/agent-loop/src/gateway/dial.test.ts',
  'apps/coordinator/src/admin/topologies.test.ts',
  'infra/netlab/both-ways.test.ts',
  'packages/redis-connections/src/sentinel/sentinels.test.ts',
  'packages/summary/src/compare/paths.test.ts',
  'apps/coordinator/src/checks/read/read-check.test.ts',
];

/** The other suites that took 8 seconds or more, the longest first. */
const BUSY = [
  'apps/coordinator/src/probes/key-quota.test.ts',
  'infra/chaos/several-servers.test.ts',
  'infra/audit/canaries/canaries.test.ts',
  'infra/chaos/chaos.test.ts',
  'packages/diagnostics/src/browser/screenshots.test.ts',
  'infra/chaos/chaos-second-half.test.ts',
  'infra/simulator/simulator.test.ts',
  'apps/coordinator/src/monitors/kill.test.ts',
  'apps/standalone/src/foreign-proxies.test.ts',
  'infra/simulator/branches/branches.test.ts',
  'apps/web/test/page.test.ts',
  'apps/standalone/src/no-orphans.test.ts',
  'apps/web/test/crowd.test.ts',
  'packages/diagnostics/src/tls/corpus.test.ts',
  'apps/web/test/service.test.ts',
  'packages/diagnostics/src/browser/page/settle.test.ts',
  'apps/standalone/src/command-line.test.ts',
  'packages/diagnostics/src/browser/isolation/isolation.test.ts',
  'apps/standalone/src/gateway-upgrade.test.ts',
  'infra/npm/clients.test.ts',
  'apps/web/test/names.test.ts',
  'apps/standalone/src/blackbox-dashboard.test.ts',
  'apps/probe-agent/src/agent-screenshots-process.test.ts',
  'packages/diagnostics/src/types/http/corpus.test.ts',
  'apps/standalone/src/topologies.test.ts',
  'apps/web/test/monitors.test.ts',
  'apps/standalone/src/end-to-end.test.ts',
  'infra/chaos/rolling-restart.test.ts',
  'infra/chaos/retention.test.ts',
  'infra/netlab/services-lab.test.ts',
  'apps/standalone/src/no-orphan-redis.test.ts',
  'infra/audit/pipelined-requests.test.ts',
  'infra/new-type/new-type.test.ts',
  'infra/chaos/overload.test.ts',
  'infra/netlab/amplification.test.ts',
  'apps/standalone/src/blackbox.test.ts',
  'apps/standalone/src/live.test.ts',
  'apps/standalone/src/screenshots.test.ts',
  'infra/helm/chart.test.ts',
  'infra/fuzz/fuzz.test.ts',
  'infra/audit/gateway/gateway-audit.test.ts',
  'packages/diagnostics/src/types/traceroute/full-size.test.ts',
  'apps/standalone/src/blackbox-requests.test.ts',
  'packages/summary/src/properties.test.ts',
  'packages/diagnostics/src/types/traceroute/multipath.test.ts',
  'packages/diagnostics/src/types/traceroute/multipath-refusals.test.ts',
];

const LONG = [...WAITING, ...BUSY];
const gone = LONG.filter((suite) => !existsSync(new URL(`../../${suite}`, import.meta.url)));
if (gone.length > 0) throw new Error(`infra/jest/long-suites.mjs lists suites that do not exist: ${gone.join(', ')}`);

/** Whether a suite, given by its absolute path, mostly waits. */
export const isWaiting = (path) => WAITING.some((suite) => path.endsWith(`/${suite}`));

/** @returns the place of a suite, given by its absolute path, among the long ones; for a short one, a place after all of them */
export function placeByLength(path) {
  const index = LONG.findIndex((suite) => path.endsWith(`/${suite}`));
  return index === -1 ? LONG.length : index;
}
