import { isOfCloud, type MultipathLink, type MultipathNode } from './nodes.ts';

/** A link of the graph of one probe, with its packets. */
export interface Branch {
  readonly from: string;
  readonly to: string;
  /** True if it is unknown which of several nodes the link starts at. */
  readonly isInferred: boolean;
  readonly sent: number;
  readonly received: number;
  readonly rttMin: number | null;
}

/** The links of a search for all paths as edges between the ids of nodes, each once; none leads to its own node. */
export function branchesOf(nodes: readonly MultipathNode[], start: string): readonly Branch[] {
  const branches = new Map<string, Branch>();
  const add = (branch: Branch): void => {
    const { from, to } = branch;
    if (from === to) return;
    const key = `${from} ${to}`;
    const known = branches.get(key);
    branches.set(key, known === undefined ? branch : joined(known, branch));
  };
  for (const { before } of nodes) for (const link of before) add(branchOf(link, start));
  for (const [from, to] of missingLinks(nodes)) {
    add({ from: from?.id ?? start, to: to.id, isInferred: true, sent: 0, received: 0, rttMin: null });
  }
  return [...branches.values()];
}

function branchOf({ from, to, sent, received, rttMin }: MultipathLink, start: string): Branch {
  return {
    from: from?.id ?? start,
    to: to.id,
    isInferred: from !== undefined && isOfCloud(from),
    sent,
    received,
    rttMin,
  };
}

function joined(a: Branch, b: Branch): Branch {
  return {
    ...a,
    isInferred: a.isInferred && b.isInferred,
    sent: a.sent + b.sent,
    received: a.received + b.received,
    rttMin: least(a.rttMin, b.rttMin),
  };
}

/** Ids of the nodes to which links lead from the start. */
export function reachedFrom(start: string, branches: readonly Branch[]): ReadonlySet<string> {
  const next = Map.groupBy(branches, ({ from }) => from);
  const reached = new Set([start]);
  for (const id of reached) for (const { to } of next.get(id) ?? []) reached.add(to);
  return reached;
}

export function least(a: number | null, b: number | null): number | null {
  return a === null ? b : Math.min(a, b ?? a);
}

/**
 * Behind a per-packet balancer, the links between two hops are unknown. One node of the earlier hop is drawn as leading
 * to all nodes without a predecessor, and nodes without a successor as leading to the first of these.
 */
function missingLinks(
  nodes: readonly MultipathNode[],
): readonly (readonly [MultipathNode | undefined, MultipathNode])[] {
  const lost = nodes.filter(({ before }) => before.length === 0);
  return [...Map.groupBy(lost, ({ hop }) => hop)].flatMap(([hop, own]) => {
    const sources = nodes.filter((node) => node.hop === hop - 1 && node.kind !== 'target' && !own.includes(node));
    const [first, ...others] = sources.toSorted((a, b) => Number(isOfCloud(b)) - Number(isOfCloud(a)));
    return [
      ...own.map((to) => [first, to] as const),
      ...others.filter(({ next }) => next.length === 0).map((from) => [from, own[0]!] as const),
    ];
  });
}
