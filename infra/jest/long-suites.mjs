import { existsSync } from 'node:fs';

/**
 * Suites that took 8 s or more on two cores when they were measured, and used the CPU for at most 30 % of that time,
 * longest first. `infra/jest/runner.mjs` runs them in workers in addition to `maxWorkers`.
 */
const WAITING = [
  'infra/netlab/service/alarm.test.ts',
  'infra/netlab/summary.test.ts',
  'apps/standalone/src/gateway.test.ts',
  'apps/coordinator/src/probes/key-quota.test.ts',
  'infra/chaos/monitors/clock-step.test.ts',
  'packages/agent-loop/src/stall.test.ts',
  'apps/standalone/src/alertmanager.test.ts',
  'apps/standalone/src/no-orphans.test.ts',
  'apps/coordinator/src/monitors/kill.test.ts',
  'apps/coordinator/src/gateway/gateway.test.ts',
  'apps/standalone/src/suspended-jobs.test.ts',
  'infra/netlab/mtu.test.ts',
  'apps/standalone/src/supervisor-stall.test.ts',
  'apps/coordinator/src/monitors/ticks.test.ts',
  'infra/netlab/nat.test.ts',
  'apps/standalone/src/secrets-at-rest.test.ts',
  'apps/coordinator/src/gateway/slow-link.test.ts',
  'packages/agent-loop/src/agent-loop.test.ts',
  'packages/diagnostics/src/types/dns/corpus.test.ts',
  'apps/coordinator/src/server-receipt.test.ts',
  'packages/diagnostics/src/types/dns/silent-servers.test.ts',
  'packages/redis-connections/src/open.test.ts',
  'apps/standalone/src/no-orphan-redis.test.ts',
  'infra/netlab/stall.test.ts',
  'infra/netlab/amplification.test.ts',
  'apps/coordinator/src/monitors/webhooks/webhook-queue.test.ts',
  'apps/coordinator/src/monitors/paths.test.ts',
  'packages/diagnostics/src/types/udp/run.test.ts',
  'packages/diagnostics/src/types/dns/validation.test.ts',
  'infra/fuzz/fuzz.test.ts',
  'apps/coordinator/src/monitors/webhooks.test.ts',
  'infra/netlab/services-lab-icmp.test.ts',
  'packages/settings/src/resolver-options.test.ts',
  'infra/netlab/both-ways.test.ts',
  'apps/coordinator/src/admin/topologies.test.ts',
  'infra/netlab/impairments.test.ts',
  'apps/probe-agent/src/agent.test.ts',
  'packages/agent-loop/src/partition.test.ts',
  'apps/coordinator/src/checks/screenshots/screenshots.test.ts',
  'apps/coordinator/src/admin/doctor/doctor.test.ts',
  'infra/simulator/second-opinion.test.ts',
  'apps/coordinator/src/checks/ingest/ingest.test.ts',
  'packages/agent-loop/src/gateway/gateway-loop.test.ts',
  'infra/netlab/netlab.test.ts',
  'infra/netlab/service/both-ways.test.ts',
  'apps/load/src/run-load.test.ts',
  'apps/probe-agent/src/agent-outage.test.ts',
  'apps/coordinator/src/redis/server-state/write-watch.test.ts',
  'packages/agent-loop/src/gateway/dial.test.ts',
  'packages/redis-connections/src/sentinel/sentinels.test.ts',
  'packages/target-policy/src/resolver/resolver.test.ts',
  'apps/coordinator/src/checks/read/read-check.test.ts',
];

/** The other suites that took 8 seconds or more, the longest first. */
const BUSY = [
  'packages/diagnostics/src/browser/screenshots.test.ts',
  'infra/chaos/chaos-second-half.test.ts',
  'apps/standalone/src/foreign-proxies.test.ts',
  'infra/chaos/chaos.test.ts',
  'infra/chaos/several-servers.test.ts',
  'packages/diagnostics/src/tls/corpus.test.ts',
  'apps/web/test/page.test.ts',
  'apps/web/test/crowd.test.ts',
  'infra/simulator/simulator.test.ts',
  'apps/standalone/src/command-line.test.ts',
  'packages/diagnostics/src/browser/page/wait-until-quiet.test.ts',
  'packages/diagnostics/src/browser/isolation/isolation.test.ts',
  'infra/audit/canaries/canaries.test.ts',
  'apps/standalone/src/topologies.test.ts',
  'apps/web/test/service.test.ts',
  'apps/standalone/src/blackbox-dashboard.test.ts',
  'apps/standalone/src/abandoned-clients.test.ts',
  'infra/npm/clients.test.ts',
  'infra/new-type/new-type.test.ts',
  'apps/probe-agent/src/agent-screenshots-process.test.ts',
  'infra/netlab/services-lab.test.ts',
  'infra/helm/chart.test.ts',
  'infra/chaos/rolling-restart.test.ts',
  'apps/standalone/src/end-to-end.test.ts',
  'apps/standalone/src/screenshots.test.ts',
  'apps/standalone/src/agent-over-tls.test.ts',
  'apps/web/test/names.test.ts',
  'apps/standalone/src/gateway-upgrade.test.ts',
  'apps/standalone/src/blackbox.test.ts',
  'infra/chaos/retention.test.ts',
  'apps/standalone/src/live.test.ts',
  'infra/simulator/branches/branches.test.ts',
  'apps/standalone/src/abandoned.test.ts',
  'packages/diagnostics/src/sockets/packet-sockets.test.ts',
  'apps/web/test/monitors.test.ts',
  'infra/chaos/overload.test.ts',
  'infra/audit/gateway/gateway-audit.test.ts',
  'packages/modules/src/parse-modules.corpus.test.ts',
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
