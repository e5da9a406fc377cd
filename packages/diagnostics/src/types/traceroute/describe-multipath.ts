import { count, ms, told } from '../../shared/result-text.ts';
import type { Multipath } from './multipath-fields.ts';

type Node = Multipath['nodes'][number];

/**
 * Lines for a terminal: each link with its sent and answered packets, then each load balancer with the rule by which it
 * chooses.
 */
export function multipathLines({ nodes, links, complete, packets }: Multipath): readonly string[] {
  const nameOf = (index: number | null): string => (index === null ? 'probe' : nameOfNode(nodes[index]));
  const width = Math.max(0, ...links.map(({ from }) => nameOf(from).length));
  const sorted = links.toSorted((a, b) => (nodes[a.to]?.hop ?? 0) - (nodes[b.to]?.hop ?? 0));
  const end = complete ? '' : ', not complete: packets or time did not suffice';
  return [
    `links of all paths (${count(packets, 'packet')}${end})`,
    ...sorted.map(({ from, to, sent, received, rttMin }) =>
      [
        `${String(nodes[to]?.hop ?? '').padStart(2)}  ${nameOf(from).padEnd(width)} → ${nameOf(to)}`,
        ...[
          sent === 0 ? undefined : `${received} of ${sent} answered`,
          told(rttMin, ms),
          nodes[to]?.broken === true ? 'broken beyond' : undefined,
        ].filter((part) => part !== undefined),
      ].join('  '),
    ),
    ...nodes.flatMap((node, index) =>
      node.balances === null ? [] : [`${nameOfNode(node)} (hop ${node.hop}) ${choiceText(node, nextOf(index, links))}`],
    ),
  ];
}

function nextOf(index: number, links: Multipath['links']): number {
  return new Set(links.flatMap(({ from, to }) => (from === index ? [to] : []))).size;
}

function choiceText({ balances }: Node, ways: number): string {
  const how = balances === 'unknown' ? 'by an unknown rule' : `by ${balances}`;
  return `balances ${how} over ${count(ways, 'way')}`;
}

function nameOfNode(node: Node | undefined): string {
  return node?.ip ?? (node?.private === true ? '(private)' : '*');
}
