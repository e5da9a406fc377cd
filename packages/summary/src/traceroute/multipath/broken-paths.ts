import type { SparseResultOf } from '../../probe-result.ts';
import { thresholds } from '../../thresholds.ts';
import { chanceOfMore, type Sample } from '../../chance.ts';
import type { MultipathLink, MultipathNode } from './nodes.ts';

type FullTtl = SparseResultOf<'traceroute'>['fullTtl'];

/** If at least this many full-TTL packets were answered, and as many lost, they suffice as proof. */
const FULL_TTL_PROOF = 9;

/** One of several paths behind a router on which packets end or are refused, while others reach the target. */
export interface BrokenPath {
  /** The router that balances over the paths. */
  readonly fork: MultipathNode;
  /** The first node of the broken path. */
  readonly first: MultipathNode;
  /** The last router that answered there, which refused the packets if its kind says so; the fork if none did. */
  readonly last: MultipathNode;
}

/**
 * Paths of a balancer that the agent found broken, if chance does not explain the silence, given the loss on the other
 * paths. Only for balancers proved to choose per flow: otherwise the path of a lost packet is unknown. Also paths
 * behind any balancer that end at a router that refused packets and forwarded none to the target.
 *
 * @param fullTtl packets with the full TTL: those that the target answered took other paths
 */
export function brokenPathsOf(nodes: readonly MultipathNode[], fullTtl: FullTtl): readonly BrokenPath[] {
  return nodes.flatMap((node) => {
    if (isRefuser(node, nodes)) {
      const way = forkBefore(node);
      // With a withheld address the fork may be the router itself, which forwards other packets.
      if (way === undefined || (node.ip === null && way.fork.ip === null && way.first === node)) return [];
      // Its own hop is the first of those at which it answered.
      const own = nodes.filter(({ ip, index }) => index === node.index || (ip !== null && ip === node.ip));
      return [{ ...way, last: { ...node, hop: Math.min(...own.map(({ hop }) => hop)) } }];
    }
    if (node.broken !== true || node.reaches || node.balances === 'packet') return [];
    const way = forkBefore(node);
    if (way === undefined || way.fork.balances !== 'flow' || !isProved(node, way.fork, nodes, fullTtl)) return [];
    return [{ ...way, last: node.kind === 'silent' ? way.fork : node }];
  });
}

function isRefuser({ kind, ip }: MultipathNode, nodes: readonly MultipathNode[]): boolean {
  return kind === 'refused' && (ip === null || !nodes.some((other) => other.ip === ip && other.reaches));
}

/**
 * The nearest node before this one that leads other packets to the target; undefined if it is not a balancing router.
 */
function forkBefore(node: MultipathNode): Omit<BrokenPath, 'last'> | undefined {
  const seen = new Set<MultipathNode>();
  for (let first = node; !seen.has(first);) {
    seen.add(first);
    const parents = first.before.flatMap(({ from }) => from ?? []);
    const fork = parents.find(({ reaches }) => reaches);
    if (fork !== undefined) return fork.kind === 'router' && fork.balances !== null ? { fork, first } : undefined;
    const [parent] = parents;
    if (parent === undefined) return undefined;
    first = parent;
  }
  return undefined;
}

function isProved(
  broken: MultipathNode,
  fork: MultipathNode,
  nodes: readonly MultipathNode[],
  fullTtl: FullTtl,
): boolean {
  const last = broken.kind === 'silent' ? fork : broken;
  const beyond = linksBeyond(broken);
  const answered = fullTtl?.rtts.filter((rtt) => rtt !== null).length ?? 0;
  const dead = sampleOf(beyond);
  if (dead.lost !== dead.sent) return false;
  // Routers may rate-limit their answers: then the agent proves the break by packets with the full TTL alone.
  if (Math.min(answered, (fullTtl?.rtts.length ?? 0) - answered) >= FULL_TTL_PROOF) return true;
  if (beyond.length === 0) return false;
  const alive = nodes.flatMap(({ before }) =>
    before.filter(({ from, to }) => from?.reaches === true && to.reaches && to.kind !== 'silent' && to.hop > last.hop),
  );
  // Correction for multiple comparisons: any of the flows could have been the one that was lost by chance.
  const flows = fork.next.reduce((sum, link) => sum + link.flows, 0);
  const { sent, lost } = sampleOf(alive);
  return chanceOfMore(dead, { sent: sent + answered, lost }) * flows <= thresholds.beginByChance;
}

/** The links into the silence beyond a node, or into and beyond a silent one. */
function linksBeyond(node: MultipathNode): readonly MultipathLink[] {
  const seen = new Set([node]);
  const links = node.kind === 'silent' ? [...node.before] : [];
  for (const one of seen) {
    for (const link of one.next) {
      links.push(link);
      seen.add(link.to);
    }
  }
  return links;
}

function sampleOf(links: readonly MultipathLink[]): Sample {
  return links.reduce(
    (sum, { sent, received }) => ({ sent: sum.sent + sent, lost: sum.lost + Math.max(0, sent - received) }),
    { sent: 0, lost: 0 },
  );
}
