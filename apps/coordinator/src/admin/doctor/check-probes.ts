import { count, error, ok, warning, type DoctorFinding } from './finding.ts';
import { describeAgent, describeProbe, type KnownProbe } from '../../probes/registry/probe-status.ts';

/**
 * Findings on the number of usable probes, the status of each probe that is not healthy, and the releases of agents.
 */
export function checkProbes(probes: readonly KnownProbe[], release: string): readonly DoctorFinding[] {
  if (probes.length === 0) {
    return [
      error('probes', 'There are no probes, so no check can run.', 'Add one with probe:invite (docs/agents.md).'),
    ];
  }
  const described = probes.map((known) => ({ known, probe: describeProbe(known), agent: describeAgent(known) }));
  const healthy = described.filter(({ probe }) => probe.status === 'healthy');
  const usable = described.filter(({ probe }) => probe.status !== 'offline');
  return [
    checkNumber(probes.length, healthy.length, usable.length),
    ...described.flatMap(({ known, probe, agent }): readonly DoctorFinding[] => {
      const { id } = known.record;
      const states =
        probe.status === 'healthy'
          ? []
          : [
              warning(
                'probe.status',
                `Probe ${id} is ${probe.status}: ${probe.reason}`,
                remedyOf(id, known, agent.state),
              ),
            ];
      return [...states, ...checkRelease(id, probe.version, release)];
    }),
  ];
}

/** Without a healthy probe `/readyz` is 503 and the alert NoProbeHealthy fires, though degraded ones may run checks. */
function checkNumber(all: number, healthy: number, usable: number): DoctorFinding {
  const probes = count(all, 'probe');
  if (usable === 0) {
    return error(
      'probes',
      `${all === 1 ? 'The only probe is' : `All ${probes} are`} offline: no check can run.`,
      'See the reasons below, and the log of an agent.',
    );
  }
  if (healthy > 0) return ok('probes', `${healthy} of ${probes} healthy.`);
  return error(
    'probes',
    `0 of ${probes} healthy: /readyz is 503, though ${usable} may still run checks.`,
    'Remove the reasons below; see NoProbeHealthy in docs/operations.md, "Alerts".',
  );
}

function remedyOf(id: string, { alive, lastSeenMs, storeFault }: KnownProbe, state: string): string {
  if (state === 'suspended') return `Find out why it was suspended, then probe:resume ${id}.`;
  if (state === 'invited') return `Start its agent with the token, or probe:invite ${id} prints another one.`;
  if (state === 'waiting') return `probe:approve ${id}`;
  if (state === 'copied') return `probe:invite ${id} makes another key.`;
  if (state === 'refused') return 'Upgrade its agent.';
  if (storeFault !== undefined && lastSeenMs !== undefined)
    return 'Let Redis take writes again: it refuses heartbeats, too.';
  if (alive) return 'Remove the stated cause on the machine of its agent (docs/operations.md, "Alerts").';
  if (lastSeenMs === undefined) return `Start its agent, or remove the record with probe:remove ${id}.`;
  const since = new Date(lastSeenMs).toISOString();
  return `Its last heartbeat was at ${since}. See the log of its agent and its route to the service, or probe:remove ${id}.`;
}

/** Coordinators must be upgraded first: they refuse results with fields that they do not know. */
function checkRelease(id: string, version: string | null, release: string): readonly DoctorFinding[] {
  const order = version === null ? 0 : compareReleases(version, release);
  if (order === 0) return [];
  const message = `The agent of probe ${id} is release ${version}, and this is ${release}.`;
  return [
    order < 0
      ? warning('probe.release', message, 'Upgrade the agent (docs/operations.md, "Upgrade").')
      : warning(
          'probe.release',
          `${message} Coordinators refuse results with fields they do not know.`,
          'Upgrade the coordinators first.',
        ),
  ];
}

/** Negative if the first is older; numeric, so that `1.10.0` follows `1.9.0`. Zero if a text is no release. */
export function compareReleases(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  if (left === undefined || right === undefined) return 0;
  const index = left.findIndex((number, at) => number !== right[at]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}

function numbersOf(release: string): readonly number[] | undefined {
  return /^v?(\d+)\.(\d+)\.(\d+)/.exec(release)?.slice(1).map(Number);
}
