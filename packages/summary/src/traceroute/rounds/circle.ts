import { buildFinding, type FindingDraft } from '../../finding.ts';
import { listed, safeText } from '../../words.ts';
import { circleIn } from '../steps/circle-in.ts';
import { targetIndex, type Trace } from '../trace.ts';

/** A routing loop in some rounds of a trace. */
interface Circle {
  readonly trace: Trace;
  /** Addresses of the routers, in the order of passage. */
  readonly routers: readonly string[];
  /** `rounds 9 to 15 of 30`, or `7 of 30 rounds` if they are not known or not in a row. */
  readonly when: string;
  /** True if the target did not answer after the last round of the loop. */
  readonly isLast: boolean;
}

type Hop = NonNullable<Trace['probeResult']['result']['hops']>[number];

/**
 * The routing loop in rounds in which packets did not reach the target, although it answered in others: at the target’s
 * hop and beyond, two or more routers answered twice in the same order, or one at all of these hops. Hops before the
 * target count only if one router answered there in all rounds: after a path change, the hops of both paths would look
 * like a loop.
 */
export function circleOfRounds(trace: Trace): Circle | undefined {
  const { isFinal, steps, target, probeResult } = trace;
  const { rounds = 1, hops = [], flows = [] } = probeResult.result;
  const [flow] = flows;
  const index = targetIndex(trace);
  if (!isFinal || rounds < 2 || index === undefined || flow === undefined) return undefined;
  // Beyond its hop, the target may have answered a packet after the loop.
  const first = (steps.find(({ routers }) => routers.some(({ ip }) => ip === target)) ?? steps[index]!).hop;
  const row = hops.find(({ hop }) => hop === first);
  const path = Array.from({ length: Math.max(...hops.map(({ hop }) => hop)) }, (_, at) =>
    routerAt(
      hops.find(({ hop }) => hop === at + 1),
      at + 1 < first,
      target,
    ),
  );
  const router = path[first - 1];
  const circle = circleIn(path);
  const routers = circle.length > 0 ? circle : loneAt(path, first - 1);
  if (row === undefined || router === null || router === undefined || !routers.includes(router)) return undefined;
  const answers = (flow.hops[first - 1] ?? []).map((answer) => row.responders[answer ?? -1]?.ip);
  const [start, end] = [answers.indexOf(router), answers.lastIndexOf(router)];
  const count = answers.filter((ip) => ip === router).length;
  const isSpan = answers.length === rounds && end - start + 1 === count;
  const when = isSpan ? `rounds ${start + 1} to ${end + 1} of ${rounds}` : `${count} of ${rounds} rounds`;
  return { trace, routers, when, isLast: answers.lastIndexOf(target ?? undefined) < end };
}

/**
 * Number of consecutive hops, from that of the target, at which one router must answer: some routers answer for a few
 * hops.
 */
const LONE_HOPS = 5;

/** The router that answers for the hop at this index and for all of the next ones; empty without one. */
function loneAt(path: readonly (string | null)[], index: number): readonly string[] {
  const [router = null, ...others] = path.slice(index, index + LONE_HOPS);
  return router !== null && others.length === LONE_HOPS - 1 && others.every((one) => one === router) ? [router] : [];
}

/** The only router that answered at a hop; null if there is none, several, or a withheld address. */
function routerAt(row: Hop | undefined, isBefore: boolean, target: string | null): string | null {
  const others = (row?.responders ?? []).filter(({ ip }) => isBefore || ip !== target);
  return others.length === 1 ? others[0]!.ip : null;
}

/** Findings: packets to a target that answered ran into a routing loop in some rounds. */
export function findCirclesOfRounds(traces: readonly Trace[]): readonly FindingDraft[] {
  const circles = traces.flatMap((trace) => circleOfRounds(trace) ?? []);
  const groups = Map.groupBy(circles, ({ routers, isLast }) => `${routers.toSorted().join(' ')} ${isLast}`);
  return [...groups.values()].map((own) => {
    const [{ routers, isLast }] = own as [Circle];
    const when = listed(own.map(({ trace, when: rounds }) => `${rounds} of ${trace.probeResult.probe}`));
    if (routers.length === 1) return oneForAll(own, when);
    const end = isLast ? ', and did not reach it any more' : ', and reached it again later';
    const text = `Packets to the target went round in a circle of ${listed(
      routers.map((ip) => safeText(ip)),
      6,
    )} during the check, in ${when}${end}: the routers there disagreed about the way.`;
    return buildFinding(
      'routing_loop',
      isLast ? 'critical' : 'warning',
      own.map(({ trace }) => trace.probeResult),
      text,
      `packets went round in a circle in ${when}`,
    );
  });
}

/** Finding: a single router answered for all hops, which proves no routing loop. */
function oneForAll(own: readonly Circle[], when: string): FindingDraft {
  const [{ routers, isLast }] = own as [Circle];
  const end = isLast ? 'and they did not reach the target any more' : 'and others reached the target later';
  const text = `One router, ${safeText(routers[0]!)}, answered the packets to the target as if the TTL of all ended there during the check, in ${when}, ${end}: they came back to it again and again, or something before it set their TTL.`;
  return buildFinding(
    'routing_loop',
    isLast ? 'critical' : 'warning',
    own.map(({ trace }) => trace.probeResult),
    text,
    `one router answered for all hops in ${when}`,
  );
}
