import type { MultipathNode } from './nodes.ts';

/**
 * True if a search for all paths found a path that does not reach the target: its loss is not that of the other paths.
 * If the search found a per-packet balancer, only paths behind other balancers count: behind it all flows lose packets,
 * and no links show which node reaches the target.
 */
export function hasDeadEnd(nodes: readonly MultipathNode[]): boolean {
  const isOfFlows = ({ before }: MultipathNode): boolean =>
    before.some(({ from }) => from !== undefined && from.next.length > 1 && from.balances !== 'packet');
  return nodes.some((node) => !node.reaches && (!isPacketwise(nodes) || isOfFlows(node)));
}

/**
 * True if a search found a per-packet balancer. It may repeat packets that were lost behind it, so the order of the
 * answers does not distinguish loss from rate limits.
 */
export function isPacketwise(nodes: readonly MultipathNode[]): boolean {
  return nodes.some(({ balances }) => balances === 'packet');
}
