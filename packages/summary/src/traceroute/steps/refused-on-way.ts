import { isUndelivered } from '@vantage/diagnostics/contract';

import type { SparseResultOf } from '../../probe-result.ts';

type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];

/**
 * Number of unanswered packets that got an ICMP error: all errors of a sender that is no responder of the hop. Errors
 * about a route or a host may have the address of the target, which is a responder.
 */
export function refusedOnWay({ icmp, responders, rtts, packets = [], replies = [] }: Hop): number {
  if (icmp === null) return 0;
  if (!responders.some(({ ip }) => ip === icmp.from)) return icmp.count ?? 0;
  const isError = (index: number | null | undefined): boolean => {
    const reply = typeof index === 'number' ? replies[index] : undefined;
    return reply?.type === icmp.type && reply.code === icmp.code;
  };
  // Time exceeded, which is type 3 over IPv6, is no error of a hop.
  const family = icmp.type === 3 ? 4 : 6;
  return isUndelivered(family, icmp) ? rtts.filter((rtt, index) => rtt === null && isError(packets[index])).length : 0;
}
