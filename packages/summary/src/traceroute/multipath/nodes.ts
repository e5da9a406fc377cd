import type { SparseResultOf } from '../../probe-result.ts';
import { isUnique } from '../../ends-before-target.ts';
import { safeText } from '../../words.ts';
import { hashOf } from '../steps/hash.ts';

type Multipath = NonNullable<SparseResultOf<'traceroute'>['multipath']>;
type Node = Multipath['nodes'][number];
type Link = Multipath['links'][number];

/** A node with the links from and to it; its index is that of the result. */
export interface MultipathNode extends Node {
  readonly index: number;
  /** Key of the node in the merged graph; equal for nodes that packets cannot distinguish. */
  readonly id: string;
  readonly next: readonly MultipathLink[];
  readonly before: readonly MultipathLink[];
}

/** A link that packets took. */
export interface MultipathLink extends Omit<Link, 'from' | 'to'> {
  /** Undefined if the link starts at the probe. */
  readonly from: MultipathNode | undefined;
  readonly to: MultipathNode;
}

/** The nodes and links of a search for all paths. Results are untrusted: links between unknown nodes are left out. */
export function multipathNodesOf({ nodes, links }: Multipath, ids: NodeIds): readonly MultipathNode[] {
  const found = nodes.map((node, index) => ({
    ...node,
    index,
    id: '',
    next: [] as MultipathLink[],
    before: [] as MultipathLink[],
  }));
  for (const { from, to, ...rest } of links) {
    const [tail, head] = [from === null ? undefined : found[from], found[to]];
    if (head === undefined || head === tail || (tail === undefined && from !== null)) continue;
    const link = { ...rest, from: tail, to: head };
    tail?.next.push(link);
    head.before.push(link);
  }
  for (const node of found) node.id = idOf(node, ids);
  return found;
}

/**
 * True for one of several nodes between which a balancer may choose per packet, and for one to which no link is known.
 */
export function isOfCloud({ before }: MultipathNode): boolean {
  return before.length === 0 || before.some(({ from }) => from !== undefined && isPacketwise(from));
}

function isPacketwise({ balances, next }: MultipathNode): boolean {
  return next.length > 1 && balances !== null && balances !== 'flow';
}

/** Ids of the nodes of one probe in the merged graph. */
export interface NodeIds {
  /** Id of the node of the probe itself. */
  readonly start: string;
  readonly addressId: (ip: string) => string;
}

/** A local address has another id for each probe, unless the target is local, too: many networks have it. */
export function nodeIds(probe: string, target: string | null): NodeIds {
  const addressId = (ip: string): string => `ip:${safeText(ip, 45)}${isUnique(ip, target) ? '' : `@${hashOf(probe)}`}`;
  return { start: `probe:${probe}`, addressId };
}

/**
 * Id of a node: its address, or the neighbouring addresses and the position between them, as for a path of one flow.
 */
function idOf(node: MultipathNode, { start, addressId }: NodeIds): string {
  if (node.ip !== null) return addressId(node.ip);
  const [before, after] = [walk(node, 'before'), walk(node, 'next')];
  const from = before.end === undefined ? start : addressId(before.end.ip!);
  // Consecutive silence at the end of a path is one node.
  if (node.kind === 'silent' && after.end === undefined) return `silent:${from}|`;
  const to = after.end === undefined ? '' : addressId(after.end.ip!);
  const position = `${before.count + 1}/${before.count + 1 + after.count}`;
  return `${node.kind === 'silent' ? 'silent' : 'private'}:${from}|${to}|${position}`;
}

/** Number of further nodes without an address in this direction, and the first node with one. */
function walk(
  node: MultipathNode,
  where: 'before' | 'next',
): { readonly count: number; readonly end: MultipathNode | undefined } {
  const seen = new Set([node]);
  for (let at: MultipathNode = node; ;) {
    const others = at[where].flatMap((link) => (where === 'next' ? link.to : (link.from ?? [])));
    const end = others.find(({ ip }) => ip !== null);
    const [further] = others;
    if (end !== undefined || further === undefined || seen.has(further)) return { count: seen.size - 1, end };
    seen.add(further);
    at = further;
  }
}
