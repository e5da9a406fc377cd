import type { SparseResultOf } from '../../probe-result.ts';
import { isUndelivered } from './refusal-marks.ts';

type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];

/**
 * Number of unanswered packets that got an ICMP error: all errors of a sender that is no responder of the hop. A load
 * balancer or NAT at the address of the target has that of a responder.
 */
export function refusedOnWay({ icmp, responders, rtts, packets = [], replies = [] }: Hop): number {
  if (icmp === null) return 0;
  if (!responders.some(({ ip }) => ip === icmp.from)) return icmp.count ?? 0;
  const isError = (index: number | null | undefined): boolean => {
    const reply = typeof index === 'number' ? replies[index] : undefined;
    return reply?.type === icmp.type && reply.code === icmp.code;
  };
  return isUndelivered(icmp.mark) ? rtts.filter((rtt, index) => rtt === null && isError(packets[index])).length : 0;
}
