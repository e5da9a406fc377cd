import { CLIENT_UNIT, costOf, SCREENSHOT_TRAFFIC, TARGET_UNIT, type TargetPurpose } from '@vantage/contract';
import { canonicalizeHost, targetGroup } from '@vantage/target-policy';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { describeCaller, type Caller } from '../caller.ts';
import { callerKey, limitOf, type Axis } from './axes.ts';

/** Limits for the targets of checks, per minute, and what the probe runs cost. */
export interface TargetLimits {
  /** Cost of probe runs per target, of all clients together. */
  readonly target: number;
  /**
   * Distinct ports per target, of all clients together, for tcp and udp, and of URLs other than 80 and 443; ports of two
   * addresses in one network are distinct.
   */
  readonly targetPorts: number;
  /** Distinct pairs of target and port per client, of the same ports; for a key, at least as many as its limit. */
  readonly clientTargets: number;
  /** Minimum cost of a probe run, by check type. */
  readonly costs: ReadonlyMap<string, number>;
}

export interface TargetAxis extends Axis {
  /** Name of the policy in headers; a token. */
  readonly policy: string;
  /** Message to a refused client. */
  readonly says: () => string;
}

/**
 * Axes of a check's targets, which are the host and other hosts that the client chose to contact, and of the client's
 * pairs of target and port. Hosts with one `targetGroup` are one target.
 *
 * @param probes number of selected probes
 */
export function targetAxes(
  request: AcceptedRequest,
  probes: number,
  caller: Caller,
  { target, targetPorts, clientTargets, costs }: TargetLimits,
): readonly TargetAxis[] {
  // A key may reach as many pairs as it may send requests, if that is more.
  const mostPairs = Math.max(clientTargets, limitOf(caller, 0));
  const asked = request.hosts === undefined ? [{ request, probes }] : requestsOfPair(request, request.hosts);
  const contacted: Contacted[] = [];
  const spent = new Map<string, number>();
  for (const one of asked) {
    const targets = contactedBy(one.request);
    contacted.push(...targets);
    const cost = targetCost(one.request, one.probes, costs);
    const groups = new Set(targets.map(({ group }) => group));
    for (const group of groups) spent.set(group, (spent.get(group) ?? 0) + cost);
  }
  const runs = [...spent].map(([group, cost]) => ({
    key: `target:${group}`,
    limit: target,
    cost,
    policy: 'target',
    says: () =>
      `The limit of ${target} probe-runs a minute at ${group} is reached, over all callers. ` +
      `This check would have cost ${cost}.`,
  }));
  const pairs = contacted.flatMap(({ group, host, purpose, port }): readonly TargetAxis[] => {
    const transport = purpose === 'http' ? 'tcp' : purpose;
    if ((transport !== 'tcp' && transport !== 'udp') || port === undefined) return [];
    return [
      {
        key: `ports:${group}`,
        limit: targetPorts,
        member: `${host} ${transport}/${port}`,
        policy: 'target-ports',
        says: () => `The limit of ${targetPorts} different ports a minute at ${group} is reached, over all callers.`,
      },
      {
        key: `pairs:${callerKey(caller)}`,
        limit: mostPairs,
        member: `${host} ${port}`,
        policy: 'client-targets',
        says: () =>
          `The limit of ${mostPairs} different pairs of target and port a minute is reached for ${describeCaller(caller)}. ` +
          'Those of the last minute can be checked again.',
      },
    ];
  });
  return [...runs, ...pairs];
}

/** Returns a request per probe of a pair: each measures a different target, the address of the other probe. */
function requestsOfPair(
  request: AcceptedRequest,
  hosts: ReadonlyMap<string, string>,
): readonly { readonly request: AcceptedRequest; readonly probes: number }[] {
  const { params } = request;
  return [...hosts.values()].map((host) => ({ request: { ...request, params: { ...params, host } }, probes: 1 }));
}

/** Cost of a check toward its client's limit, from its options. */
export function clientCost({ checkType, params }: Pick<AcceptedRequest, 'checkType' | 'params'>): number {
  return costOf(checkType.traffic(params), CLIENT_UNIT);
}

function targetCost({ checkType, params }: AcceptedRequest, probes: number, costs: TargetLimits['costs']): number {
  const run = Math.max(costs.get(checkType.type) ?? 1, costOf(checkType.traffic(params), TARGET_UNIT));
  const screenshot = checkType.screenshot?.(params) === undefined ? 0 : costOf(SCREENSHOT_TRAFFIC, TARGET_UNIT);
  return probes * run + screenshot;
}

interface Contacted {
  /** The target whose runs and ports are counted. */
  readonly group: string;
  /**
   * The host of a counted port: the group of a name, or the address itself, so that a sweep over the addresses of a
   * network counts one port for each.
   */
  readonly host: string;
  readonly purpose: TargetPurpose;
  readonly port: number | undefined;
}

function contactedBy({ checkType, params }: AcceptedRequest): readonly Contacted[] {
  const { host, port } = params as { readonly host: string; readonly port?: unknown };
  const { purpose } = checkType;
  const url = checkType.hostKind === 'url' ? new URL(host) : undefined;
  const counted = url === undefined ? port : unusualPort(url);
  return [
    { ...groupAndHost(url?.hostname ?? host), purpose, port: typeof counted === 'number' ? counted : undefined },
    ...(checkType.otherTargets?.(params) ?? []).map((other) => ({
      ...groupAndHost(other.host),
      purpose: other.purpose,
      port: other.port,
    })),
  ];
}

/** The port of a URL; undefined for 80 and 443: many sites are checked there, and no scan needs http for them. */
function unusualPort({ port }: URL): number | undefined {
  return port === '' || port === '80' || port === '443' ? undefined : Number(port);
}

function groupAndHost(written: string): Pick<Contacted, 'group' | 'host'> {
  const group = targetGroup(written);
  const read = canonicalizeHost(written, 'name');
  return { group, host: read.ok && read.canonical.kind !== 'name' ? read.canonical.text : group };
}
