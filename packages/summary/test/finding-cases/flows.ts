import type { Summary } from '@vantage/contract';

import { summaryOf, type Result } from '../cases.ts';
import { multipath, trace } from '../results.ts';

/** Three packets per flow: index of the responder at each hop, `-` for none. */
export const flowsOf = (...branches: readonly string[]): NonNullable<Result<'traceroute'>['flows']> =>
  branches.map((branch) => ({
    reached: !branch.endsWith('-'),
    stopReason: branch.endsWith('-') ? 'gap_limit' : 'completed',
    hops: branch.split(' ').map((index) => Array.from({ length: 3 }, () => (index === '-' ? null : Number(index)))),
  }));

/**
 * Eight flows of one packet per hop, two of which are silent beyond the transit router; `order` is that of the target's
 * answers.
 */
export const cut = (order: string, full: number): Summary =>
  summaryOf('traceroute', { 'fra-1': cutBehind('192.0.2.1', order, full) });

/** The result of such a trace, with the address of its transit router. */
export const cutBehind = (router: string, order: string, full: number): Result<'traceroute'> =>
  trace(['198.51.100.1 1 1 1 1 1 1 1 1', `${router} 5 5 5 5 5 5 5 5`, `203.0.113.1 ${order}`], {
    flows: order.split(' ').map((rtt) => ({
      reached: rtt !== '*',
      stopReason: rtt === '*' ? 'gap_limit' : 'completed',
      hops: [[0], [0], [rtt === '*' ? null : 0]],
    })),
    fullTtl: { rtts: Array.from({ length: full }, () => null), icmp: null },
  });

const rows = [
  '192.0.2.1',
  '192.0.2.2/192.0.2.12',
  '192.0.2.3/192.0.2.1',
  '192.0.2.4/192.0.2.12',
  '203.0.113.1/192.0.2.1',
];

/** Flows over two paths, of which the first one does not reach the target although each hop answers it. */
export const inCircle = (first: string, ...others: readonly string[]): Summary =>
  summaryOf('traceroute', {
    'fra-1': trace(
      rows.map((ips, index) => `${ips} ${String(index + 1)}`),
      {
        flows: [
          ...flowsOf(first).map((flow) => ({ ...flow, reached: false, stopReason: 'loop' as const })),
          ...flowsOf(...others),
        ],
      },
    ),
  });

/** A search in which a branch of a balancer leads back to it: 192.0.2.12 sends all packets to 192.0.2.1. */
export function backToBalancer(balances: 'flow' | 'packet'): Summary {
  const { nodes, links, ...rest } = multipath(
    ['probe > 192.0.2.1 2/2', '192.0.2.1 > 192.0.2.2 6/6', '192.0.2.1 > 192.0.2.12 3/3', '192.0.2.2 > 203.0.113.1 6/6'],
    { '192.0.2.1': balances },
  );
  const found = {
    ...rest,
    // Both routers of the loop forward other flows to the target.
    nodes: nodes.map((node) => ({ ...node, reaches: true })),
    links: [...links, { ...links[2]!, from: 2, to: 0 }],
    paths: [
      [0, 1, 3],
      [0, 2, 0, 2, 0],
    ],
  };
  const hops = ['192.0.2.1 1 1', '192.0.2.2/192.0.2.12 2 2', '203.0.113.1/192.0.2.1 9 9'];
  return summaryOf('traceroute', { 'fra-1': trace(hops, { multipath: found }) });
}

/**
 * Flows of one packet per hop over two paths: routers and target rate-limit their answers, and one flow reaches the
 * target.
 */
export const limitedTarget = summaryOf('traceroute', { 'fra-1': limitedFlows() });

function limitedFlows(): Result<'traceroute'> {
  const hops = ['198.51.100.1', '192.0.2.2/192.0.2.12', '192.0.2.3/192.0.2.13', '192.0.2.4', '203.0.113.1'];
  const paths = ['0000*', '0110*', '0000*', '00000', '*110*', '*110*', '*1***', '*0***', '*000*', '01***', '*0***'];
  const flows = [...paths, '*1***', '*0***', '*****', '*****', '*110*'].map((path) => ({
    reached: !path.endsWith('*'),
    stopReason: path.endsWith('*') ? ('gap_limit' as const) : ('completed' as const),
    hops: Array.from(path, (mark) => [mark === '*' ? null : Number(mark)]),
  }));
  const rows = hops.map((ips, hop) =>
    [ips, ...flows.map((flow) => (flow.hops[hop]![0] === null ? '*' : '5'))].join(' '),
  );
  return trace(rows, { flows, protocol: 'tcp', fullTtl: { rtts: Array.from({ length: 90 }, () => null), icmp: null } });
}
