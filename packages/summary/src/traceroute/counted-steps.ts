import { isOfCloud, type MultipathLink, type MultipathNode } from './multipath/nodes.ts';
import { targetHopsOf } from './rounds/path-change.ts';
import { isSilent, isTargetAlone, targetIndex, type Step, type Trace } from './trace.ts';

/**
 * Hops with the packets that count for loss: those of flows that reach the target, without refused ones; in a search
 * for all paths, those of its links. If the target moved, all packets count at the hops before it.
 */
export function countedSteps(trace: Trace): readonly Step[] {
  const { steps, branching } = trace;
  const moved = targetHopsOf(trace);
  if (moved.length > 1) return countedOnMove(trace, moved);
  if (branching.length === 0) return countedOnWays(trace).map(withoutRefused);
  return withTargetAsOne(countedOnLinks(steps, branching), trace);
}

/**
 * Adds the packets to later hops to those of the target's hop, unless a router answered at one of these hops.
 */
function withTargetAsOne(steps: readonly Step[], trace: Trace): readonly Step[] {
  const index = targetIndex(trace);
  if (index === undefined || !isTargetAlone(steps.slice(index), trace.target)) return steps;
  const own = steps.slice(index);
  const sum = (what: 'sent' | 'lost'): number => own.reduce((total, step) => total + step[what], 0);
  return steps.with(index, { ...steps[index]!, sent: sum('sent'), lost: sum('lost') });
}

/** The last hop of the target gets the packets of all its hops. */
function countedOnMove(trace: Trace, hops: ReturnType<typeof targetHopsOf>): readonly Step[] {
  const [sent, received] = [
    hops.reduce((sum, one) => sum + one.sent, 0),
    hops.reduce((sum, one) => sum + one.received, 0),
  ];
  const last = targetIndex(trace);
  return trace.steps.map((step, index) =>
    index === last ? withoutRefused({ ...step, sent, lost: Math.max(0, sent - received) }) : step,
  );
}

function withoutRefused(step: Step): Step {
  const refused = Math.min(step.refused, step.lost);
  return { ...step, sent: step.sent - refused, lost: step.lost - refused };
}

function countedOnWays(trace: Trace): readonly Step[] {
  const { steps, routes } = trace;
  const last = targetIndex(trace);
  const reaching = routes.filter((route) => route.isReached);
  if (reaching.length === 0) return steps;
  return steps.map((step, index) => {
    const all = reaching.flatMap((route) => route.steps[index] ?? []);
    // A silent router does not imply loss for the other routers of its hop.
    const answering = all.filter((one) => !isSilent(one));
    const own = index === last || answering.length === 0 ? all : answering;
    const sum = (count: (one: Step) => number): number => own.reduce((total, one) => total + count(one), 0);
    return { ...step, sent: sum(({ sent }) => sent), lost: sum(({ lost }) => lost) };
  });
}

/**
 * Counts the packets of each hop by its links, except those to silent routers. All hops keep their counts if a balancer
 * behind the first hop may choose per packet: lost packets belong to no link there.
 */
function countedOnLinks(steps: readonly Step[], nodes: readonly MultipathNode[]): readonly Step[] {
  if (nodes.some((node) => node.hop > 1 && isOfCloud(node))) return steps;
  return steps.map((step) => {
    const links = nodes.flatMap(({ hop, kind, before }) => (hop === step.hop && kind !== 'silent' ? before : []));
    const sum = (count: (link: MultipathLink) => number): number =>
      links.reduce((total, link) => total + count(link), 0);
    const sent = sum((link) => link.sent);
    return links.length === 0 ? step : { ...step, sent, lost: Math.max(0, sent - sum(({ received }) => received)) };
  });
}
