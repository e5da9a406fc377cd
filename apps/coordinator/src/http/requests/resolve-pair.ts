import type { Family, InputError, Probes } from '@vantage/contract';

import type { AcceptedRequest } from '../../checks/checks.ts';
import { addressFamily } from '../../probes/offers.ts';
import type { ProbeList } from '../../probes/registry/probe-list.ts';
import { unknownProbe } from '../../probes/unknown-probe.ts';
import { HttpProblem } from '../problem.ts';
import type { EvaluateTarget } from './accept-request.ts';
import { invalid } from './validate-request.ts';

/**
 * Finds the addresses that two probes measure of each other: those that the operator offers. The target policy applies
 * to them as to any other target. Requests without `between` are returned as they are.
 *
 * @param allow additional networks of the request's key
 * @throws HttpProblem 400 or 403
 * @throws StoreUnavailable
 */
export type ResolvePair = (request: AcceptedRequest, allow?: readonly string[]) => Promise<AcceptedRequest>;

export function createPairResolver(probes: Pick<ProbeList, 'list'>, evaluateTarget: EvaluateTarget): ResolvePair {
  return async (request, allow) => {
    const { between, params, checkType } = request;
    if (between === undefined) return request;
    const addresses = addressesOf(between, await probes.list(), params.options['family'] as Family | undefined);
    const evaluate = (target: Parameters<EvaluateTarget>[0], index: number): void => {
      const decision = evaluateTarget(target, allow);
      if (decision.verdict === 'accepted') return;
      throw new HttpProblem('target-refused', `/between/${index}: ${decision.message}`);
    };
    for (const [index, host] of addresses.entries()) {
      evaluate({ hostKind: 'host', purpose: checkType.purpose, host }, index);
      for (const { purpose, port } of checkType.otherTargets?.({ ...params, host }) ?? []) {
        evaluate({ hostKind: 'host', purpose, host, port }, index);
      }
    }
    const [first, second] = between;
    const hosts = new Map([
      [first, addresses[1]],
      [second, addresses[0]],
    ]);
    return { ...request, params: { ...params, host: addresses[1] }, hosts };
  };
}

/**
 * The offered address of each probe, both of one family: the wanted one, by default the first of IPv4 and IPv6 that
 * both offer and can trace over, or else the first that both offer.
 */
function addressesOf(
  between: readonly [string, string],
  probes: Probes,
  wanted: Family | undefined,
): readonly [string, string] {
  const unknown = errorsOf(between, (id) =>
    Object.hasOwn(probes, id) ? undefined : unknownProbe(id, Object.keys(probes)),
  );
  if (unknown.length > 0) throw invalid(unknown);
  const offers = between.map((id) => probes[id]!.offers ?? []);
  const without = errorsOf(between, (id, index) =>
    offers[index]!.length > 0 ? undefined : `${id} offers no address: its operator can, by probe:offer`,
  );
  if (without.length > 0) throw invalid(without);
  const families = wanted === undefined ? ([4, 6] as const) : [wanted];
  const pairs = families.flatMap((family) => {
    const [a, b] = offers.map((offer) => offer.find((address) => addressFamily(address) === family));
    return a === undefined || b === undefined ? [] : [{ family, addresses: [a, b] as const }];
  });
  // A probe whose agent lacks a family may offer an address of it, to which others can trace; it cannot trace back.
  const canTrace = ({ family }: { readonly family: Family }): boolean =>
    between.every((id) => probes[id]!.capabilities?.[`ipv${family}`] !== false);
  const pair = pairs.find(canTrace) ?? pairs[0];
  if (pair === undefined) throw invalid([mismatch(between, offers, wanted)]);
  return pair.addresses;
}

function errorsOf(
  between: readonly [string, string],
  fault: (id: string, index: number) => string | undefined,
): readonly InputError[] {
  return between.flatMap((id, index) => {
    const message = fault(id, index);
    return message === undefined ? [] : [{ path: `/between/${index}`, message }];
  });
}

function mismatch(
  between: readonly [string, string],
  offers: readonly (readonly string[])[],
  wanted: Family | undefined,
): InputError {
  const offered = between.map(
    (id, index) => `${id} ${offers[index]!.map((each) => `IPv${addressFamily(each)}`).join(' and ')}`,
  );
  return wanted === undefined
    ? { path: '/between', message: `must offer addresses of one family, and ${offered.join(', ')}` }
    : { path: '/options/family', message: `must be a family that both probes offer: ${offered.join(', ')}` };
}
