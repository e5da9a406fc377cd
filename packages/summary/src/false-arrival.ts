import type { Check, CommonResult, Failure, FinalOutcome, ResultFieldsOf } from '@vantage/contract';
import type { checkTypes } from '@vantage/diagnostics/contract';

import { isUndeliveredAt } from './undelivered.ts';

type Fields = Partial<Omit<CommonResult, 'result'>> & ResultFieldsOf<(typeof checkTypes)['traceroute']>;
type Trace = Fields & { readonly result?: FinalOutcome | 'pending' };
type Hop = NonNullable<Trace['hops']>[number];
type Icmp = NonNullable<Hop['icmp']>;

/** The check with its results as agents report them now, for readers of the results besides the summary. */
export function withoutFalseArrivals(check: Check): Check {
  if (check.type !== 'traceroute') return check;
  const results = Object.entries(check.results).map(([probe, result]) => [probe, withoutFalseArrival(result)]);
  return { ...check, results: Object.fromEntries(results) as Check['results'] };
}

/**
 * The result of a trace, and that over the other family, in the form in which present agents report it. Agents of
 * earlier releases took an ICMP error about a route or a host that has the address of the target (`isUndeliveredAt`)
 * for an answer of the target.
 */
function withoutFalseArrival<T extends Trace>(whole: T): T {
  const { otherFamily } = whole;
  const both = otherFamily === undefined ? whole : { ...whole, otherFamily: withoutFalseArrival(otherFamily) };
  const icmp = falseArrivalOf(whole);
  return icmp === null ? both : { ...both, ...unreached(whole, icmp) };
}

/**
 * The error of such a result, maybe after packets that expired with the same address; null if the target, or a host in
 * its name, answered otherwise.
 */
function falseArrivalOf({
  result,
  reached,
  resolvedIp,
  hops = [],
  fullTtl,
  answeredFrom,
  multipath,
}: Trace): Icmp | null {
  const isFinal = result === 'success' || result === 'failure';
  if (!isFinal || reached !== true || typeof resolvedIp !== 'string') return null;
  // A search for all paths has its answers in `multipath`.
  if (multipath !== undefined || answeredFrom !== undefined || fullTtl?.rtts.some((rtt) => rtt !== null)) return null;
  const replies = hops.flatMap(({ responders, replies: all = [] }) =>
    all.filter(({ responder }) => responder !== null && responders[responder]?.ip === resolvedIp),
  );
  const timeExceeded = resolvedIp.includes(':') ? 3 : 11;
  const areErrors = replies.every(
    ({ type, code }) =>
      type === timeExceeded ||
      (type !== undefined && code !== undefined && isUndeliveredAt(resolvedIp, { type, code })),
  );
  if (replies.length === 0 || !areErrors) return null;
  return hops.findLast(({ icmp }) => icmp?.from === resolvedIp && isUndeliveredAt(resolvedIp, icmp))?.icmp ?? null;
}

function unreached({ error, flows = [] }: Trace, { type, code, mark }: Icmp): Partial<Trace> {
  const failure: Failure = {
    code: mark === '!N' ? 'network_unreachable' : 'host_unreachable',
    phase: 'response',
    source: 'target',
    message: `The target said that it cannot be reached (ICMP type ${type} code ${code}).`,
  };
  const ends = flows.map((flow) =>
    flow.reached ? { ...flow, reached: false, stopReason: 'unreachable' as const } : flow,
  );
  return {
    result: 'failure',
    rt: null,
    reached: false,
    error: error ?? failure,
    stopReason: 'unreachable',
    flows: ends,
  };
}
