import type { PathNode, Paths } from '@vantage/contract';

export interface PlacedNode {
  readonly node: PathNode;
  /** Column: hop number; the target is in the last column. */
  readonly column: number;
  /** Row, from 0; may be fractional. */
  readonly row: number;
}

export interface PathLayout {
  readonly nodes: ReadonlyMap<string, PlacedNode>;
  readonly columns: number;
  readonly rows: number;
}

/** The part of the graph that the paths of some probes take. */
export function pathsOf({ nodes, edges, ends }: Paths, wanted: ReadonlySet<string>): Paths {
  return { nodes: cut(nodes), edges: cut(edges), ends: cut(ends) };

  function cut<T extends { readonly probes: readonly string[] }>(parts: readonly T[]): T[] {
    return parts
      .map((part) => ({ ...part, probes: part.probes.filter((probe) => wanted.has(probe)) }))
      .filter(({ probes }) => probes.length > 0);
  }
}

const SWEEPS = 6;

/** Layered layout: probes left, target right, routers by hop; rows minimise crossings heuristically. */
export function layOutPaths(paths: Paths): PathLayout {
  const before = neighbours(paths, 'to', 'from');
  const after = neighbours(paths, 'from', 'to');
  const farthest = Math.max(0, ...paths.nodes.map(({ hopMin, kind }) => hopMin + (kind === 'target' ? 0 : 1)));
  const columnOf = ({ kind, hopMin }: PathNode): number => (kind === 'target' ? farthest : hopMin);
  const columns: PathNode[][] = Array.from({ length: farthest + 1 }, () => []);
  for (const node of paths.nodes) columns[columnOf(node)]!.push(node);

  const rows = new Map<string, number>();
  for (const column of columns) for (const [index, { id }] of column.entries()) rows.set(id, index);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    for (const column of isForward ? columns : columns.toReversed()) {
      settle(column, rows, isForward ? before : after);
    }
  }
  const least = rows.size === 0 ? 0 : Math.min(...rows.values());
  const most = Math.max(least, ...rows.values());
  const nodes = paths.nodes.map((node): [string, PlacedNode] => [
    node.id,
    { node, column: columnOf(node), row: rows.get(node.id)! - least },
  ]);
  return { nodes: new Map(nodes), columns: columns.length, rows: most - least + 1 };
}

/**
 * Places the nodes of a column near the means of their neighbours, in the order of these and one row apart at least.
 */
function settle(
  column: PathNode[],
  rows: Map<string, number>,
  neighbours: ReadonlyMap<string, readonly string[]>,
): void {
  const desiredRow = (id: string): number => {
    const others = (neighbours.get(id) ?? []).map((other) => rows.get(other)!);
    return others.length === 0 ? rows.get(id)! : others.reduce((sum, row) => sum + row, 0) / others.length;
  };
  const desired = column
    .map((node) => ({ node, row: desiredRow(node.id) }))
    .toSorted((a, b) => a.row - b.row || rows.get(a.node.id)! - rows.get(b.node.id)!);
  let last = -Infinity;
  const placed = desired.map(({ node, row }) => {
    last = Math.max(row, last + 1);
    return { node, row: last, desired: row };
  });
  // Overlaps are resolved downwards only; shift the column back to its mean desired position.
  const offset = placed.reduce((sum, { row, desired: wanted }) => sum + row - wanted, 0) / Math.max(1, placed.length);
  for (const { node, row } of placed) rows.set(node.id, row - offset);
}

function neighbours({ edges }: Paths, of: 'from' | 'to', other: 'from' | 'to'): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const edge of edges) {
    const known = found.get(edge[of]);
    if (known === undefined) found.set(edge[of], [edge[other]]);
    else known.push(edge[other]);
  }
  return found;
}
