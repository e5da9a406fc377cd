import { isUndelivered } from '@vantage/diagnostics/contract';

/** Devices that send such an error with the address of the target, for a sentence. */
export const UNDELIVERED_SENDERS =
  'a load balancer or NAT in front of a server that is away, or a firewall that refuses';

/** True for an error about a route or a host: with the target’s address as sender, it may be of a device before it. */
export function isUndeliveredAt(target: string, icmp: { readonly type: number; readonly code: number }): boolean {
  return isUndelivered(target.includes(':') ? 6 : 4, icmp);
}
