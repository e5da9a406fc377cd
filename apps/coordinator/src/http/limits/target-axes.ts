import { CLIENT_UNIT, costOf, SCREENSHOT_TRAFFIC, TARGET_UNIT, type TargetPurpose } from '@vantage/contract';
import { canonicalizeHost, targetGroup } from '@vantage/target-policy';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { describeCaller, type Caller } from '../caller.ts';
import { callerKey, limitOf, type Axis } from './axes.ts';

/** How often all callers together may have a target measured. Each a minute. */
export interface TargetLimits {
  /** Costs of the probe-runs at one target. */
  readonly target: number;
  /** Different ports of one target, by tcp and udp; those of two addresses of one network are different. */
  readonly targetPorts: number;
  /** Different pairs of target and port that one client has measured, by tcp and udp. */
  readonly clientTargets: number;
  /** What a probe-run of a type costs at least. */
  readonly costs: ReadonlyMap<string, number>;
}

/** An axis of what a request wants measured. */
export interface TargetAxis extends Axis {
  /** Names the policy in the headers; a token. */
  readonly policy: string;
  /** For whoever it refuses. */
  readonly says: string;
}

/**
 * What a check weighs on its targets: the host, and whatever else the caller chose to contact. A target is a registrable
 * domain, or the network of a literal address.
 *
 * @param probes how many of them run it
 */
export function targetAxes(
  request: AcceptedRequest,
  probes: number,
  caller: Caller,
  { target, targetPorts, clientTargets, costs }: TargetLimits,
): readonly TargetAxis[] {
  const cost = targetCost(request, probes, costs);
  // A key that may send more requests may have more targets measured.
  const mostPairs = Math.max(clientTargets, limitOf(caller, 0));
  const contacted = contactedBy(request);
  const groups = [...new Set(contacted.map(({ group }) => group))];
  const runs = groups.map((group) => ({
    ...{ key: `target:${group}`, limit: target, cost, policy: 'target' },
    says:
      `The limit of ${target} probe-runs a minute at ${group} is reached, over all callers. ` +
      `This check would have cost ${cost}.`,
  }));
  const pairs = contacted.flatMap(({ group, host, purpose, port }): readonly TargetAxis[] => {
    if ((purpose !== 'tcp' && purpose !== 'udp') || port === undefined) return [];
    return [
      {
        ...{ key: `ports:${group}`, limit: targetPorts, member: `${host} ${purpose}/${port}`, policy: 'target-ports' },
        says: `The limit of ${targetPorts} different ports a minute at ${group} is reached, over all callers.`,
      },
      {
        ...{ key: `pairs:${callerKey(caller)}`, limit: mostPairs, member: `${host} ${port}`, policy: 'client-targets' },
        says:
          `The limit of ${mostPairs} different pairs of target and port a minute is reached for ${describeCaller(caller)}. ` +
          'Those of the last minute can be checked again.',
      },
    ];
  });
  return [...runs, ...pairs];
}

/** What a check counts for at the limit of its client: as often as its options make it an ordinary one. */
export function clientCost({ checkType, params }: Pick<AcceptedRequest, 'checkType' | 'params'>): number {
  return costOf(checkType.traffic(params), CLIENT_UNIT);
}

function targetCost({ checkType, params }: AcceptedRequest, probes: number, costs: TargetLimits['costs']): number {
  const run = Math.max(costs.get(checkType.type) ?? 1, costOf(checkType.traffic(params), TARGET_UNIT));
  const screenshot = checkType.screenshot?.(params) === undefined ? 0 : costOf(SCREENSHOT_TRAFFIC, TARGET_UNIT);
  return probes * run + screenshot;
}

interface Contacted {
  /** What the runs are counted by. */
  readonly group: string;
  /** What ports are counted at: the group, and in a network each address for itself, so that a sweep is no single port. */
  readonly host: string;
  readonly purpose: TargetPurpose;
  readonly port: number | undefined;
}

function contactedBy({ checkType, params }: AcceptedRequest): readonly Contacted[] {
  const { host, port } = params as { readonly host: string; readonly port?: unknown };
  const name = checkType.hostKind === 'url' ? new URL(host).hostname : host;
  const { purpose } = checkType;
  return [
    { ...groupAndHost(name), purpose, port: typeof port === 'number' ? port : undefined },
    ...(checkType.otherTargets?.(params) ?? []).map((other) => ({
      ...groupAndHost(other.host),
      purpose: other.purpose,
      port: other.port,
    })),
  ];
}

function groupAndHost(written: string): Pick<Contacted, 'group' | 'host'> {
  const group = targetGroup(written);
  const read = canonicalizeHost(written, 'name');
  return { group, host: read.ok && read.canonical.kind !== 'name' ? read.canonical.text : group };
}
