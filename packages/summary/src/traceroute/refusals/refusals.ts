import { buildFinding, type FindingDraft } from '../../finding.ts';
import { byText } from '../../probe-result.ts';
import { isTooLarge } from '../../partition.ts';
import { thresholds } from '../../thresholds.ts';
import { isUndeliveredAt, UNDELIVERED_SENDERS } from '../../undelivered.ts';
import { countOf, listed, naming, safeText, unique } from '../../words.ts';
import { echoText, endText } from './refused-alone.ts';
import { meaningOf } from '../steps/refusal-marks.ts';
import { joinedPlaces } from '../steps/places.ts';
import { isSilent, placeKey, stepText, targetIndex, type Icmp, type Step, type Trace, type Route } from '../trace.ts';

/** Text for a router whose address is withheld. */
export const HIDDEN_ROUTER = 'a router with a private address';

/** An ICMP error that a router or the target sent. */
export interface PathRefusal {
  readonly trace: Trace;
  readonly mark: string;
  /** The step at which the sender of the error appears; undefined if it appears at none. */
  readonly step: Step | undefined;
  /** Address of the sender; null if it is withheld or unknown. */
  readonly ip: string | null;
  /** Location of the sender, for a sentence. */
  readonly where: string;
  readonly isOfTarget: boolean;
  /** True for an error about a route or a host that has the address of the target (`UNDELIVERED_SENDERS`). */
  readonly isUndelivered: boolean;
  /** The hop to which the refused packets were sent; undefined for packets with the full TTL. */
  readonly answered: Step | undefined;
}

/** The ICMP error that ends the path: at the last responding hop, or for full-TTL packets. */
export function refusalOf(trace: Trace): PathRefusal | undefined {
  const last = trace.steps.findLast((step) => !isSilent(step));
  if (last?.icmp) return sentBy(trace, last.icmp, last);
  return trace.fullTtl?.icmp ? sentBy(trace, trace.fullTtl.icmp, undefined) : undefined;
}

/** The refusal that an ICMP error to the packets of a hop (`answered`) means; a router before it may have sent it. */
export function sentBy(trace: Trace, icmp: Icmp, answered: Step | undefined): PathRefusal {
  const { from, mark } = icmp;
  // Older agents do not report the sender.
  const ip = from === undefined ? answered?.routers[0]?.ip : from;
  const steps = answered === undefined ? trace.steps : [...trace.steps.filter((step) => step !== answered), answered];
  const stands = steps.find(({ routers }) => routers[0]?.ip === ip) ?? (ip === null ? undefined : seenAt(steps, ip));
  const isAtTarget = ip !== undefined && ip !== null && ip === trace.target;
  const isUndelivered = isAtTarget && isUndeliveredAt(ip, icmp);
  const step = ip === undefined || ip === null ? (from === undefined ? answered : undefined) : stands;
  const place = step === answered && step !== undefined ? refuserText(trace.steps, step) : step && stepText(step);
  const where = place ?? (ip ? safeText(ip) : HIDDEN_ROUTER);
  return {
    trace,
    mark,
    step,
    ip: ip ?? null,
    where,
    isOfTarget: isAtTarget && !isUndelivered,
    isUndelivered,
    answered,
  };
}

/** Names a refusing router: it may refuse packets of any TTL, so its hop is known only if the one before answered. */
export function refuserText(steps: readonly Step[], step: Step): string {
  const before = steps.filter(({ hop }) => hop < step.hop);
  const first = (before.findLast((other) => !isSilent(other))?.hop ?? 0) + 1;
  const isKnown = first >= step.hop || step.isPrivate || step.routers.length === 0;
  return isKnown ? stepText(step) : stepText(step).replace(/^hop \d+/, `one of the hops ${first} to ${step.hop}`);
}

/** Step that contains the router, with the router first. */
function seenAt(steps: readonly Step[], ip: string | undefined): Step | undefined {
  const step = steps.find(({ routers }) => routers.some((router) => router.ip === ip));
  if (step === undefined) return undefined;
  return { ...step, routers: step.routers.toSorted((a, b) => Number(b.ip === ip) - Number(a.ip === ip)) };
}

/** Findings: ICMP errors that end paths, and others unless another finding reports them (`isToldElsewhere`). */
export function findRefusals(
  traces: readonly Trace[],
  isToldElsewhere: (refusal: PathRefusal) => boolean = () => false,
): readonly FindingDraft[] {
  const final = traces.filter(({ isFinal }) => isFinal);
  const ending = final.filter(isEndedByRefusal).flatMap((trace) => refusalOf(trace) ?? []);
  const passing = final.flatMap((trace) => passingRefusals(trace)).filter((refusal) => !isToldElsewhere(refusal));
  return [...told(ending, false), ...told(passing, true)];
}

function isEndedByRefusal({ isReached, probeResult, stopReason }: Trace): boolean {
  const hasLoop = probeResult.result.loop !== null && probeResult.result.loop !== undefined;
  return isReached ? probeResult.outcome === 'failure' : !hasLoop && stopReason !== 'deadline';
}

/** ICMP errors for some packets of a path that continues, or of a target that was reached. */
function passingRefusals(trace: Trace): readonly PathRefusal[] {
  const last = trace.steps.findLast((step) => !isSilent(step));
  return trace.steps.flatMap((step) => {
    const isEnd = step === last && isEndedByRefusal(trace);
    return step.icmp === null || isEnd ? [] : [sentBy(trace, step.icmp, step)];
  });
}

/** `round 3 of 10`: the first that reached the target; undefined if unknown or 1, or if the full TTL was answered. */
function lateStart({ probeResult: { result }, fullTtl }: Trace): string | undefined {
  const [first] = result.targetHops ?? [];
  const isKnown = fullTtl?.rtts.some((rtt) => rtt !== null) === true;
  return first === undefined || first.round === 1 || isKnown
    ? undefined
    : `round ${first.round} of ${result.rounds ?? first.round}`;
}

/**
 * True if the router forwarded other packets: it alone answered at a hop of a flow that reached the target, or the
 * search found a path through it to the target.
 */
function isPassed({ trace: { routes, branching }, ip }: PathRefusal): boolean {
  if (ip === null) return false;
  const alive = routes.filter(({ isReached }) => isReached).flatMap(({ steps }) => steps);
  return (
    alive.some(({ routers }) => routers.length === 1 && routers[0]!.ip === ip) ||
    branching.some((node) => node.ip === ip && node.reaches)
  );
}

/** Text about the fate of other packets; empty if that is not known. */
function othersText(own: readonly PathRefusal[]): string {
  if (own.every(isPassed)) return ` Others passed ${unique(own.map(({ ip }) => ip!)).length === 1 ? 'it' : 'them'}.`;
  return own.every(({ trace }) => trace.isReached) ? ' Others reached the target.' : '';
}

/** Number of packets that got one of these errors. */
function errorsIn(own: readonly PathRefusal[]): number {
  return own.reduce((sum, { answered }) => sum + (answered?.icmp?.count ?? 0), 0);
}

/** True if a router refused packets whose TTL sufficed to reach the target, although the target answered others. */
function isBeforeTarget({ trace, answered }: PathRefusal): boolean {
  const index = targetIndex(trace);
  return index !== undefined && trace.steps[index] === answered && answered!.refused > 0;
}

/** Flows that did not reach the target because this router refused their packets; none if no other flow reached it. */
function endedBy({ trace, ip, answered }: PathRefusal): readonly Route[] {
  if (!trace.isReached) return [];
  const isIts = ({ refusal }: Route): boolean =>
    refusal !== null && (ip === null ? refusal === answered?.icmp : refusal.from === ip);
  return trace.routes.filter((route) => !route.isReached && isIts(route));
}

/**
 * `5 of 16 flows of fra-1`, for at most three traces with such flows; further ones are only counted. Empty without any.
 */
function flowsText(own: readonly PathRefusal[]): string {
  const shares = [...Map.groupBy(own, ({ trace }) => trace)].flatMap(([{ routes, probeResult }, ofTrace]) => {
    const ended = new Set(ofTrace.flatMap(endedBy)).size;
    return ended === 0 ? [] : [`${ended} of ${countOf(routes.length, 'flow')} of ${probeResult.probe}`];
  });
  return shares.length === 0 ? '' : listed(shares, 3);
}

function told(refusals: readonly PathRefusal[], isPassing: boolean): readonly FindingDraft[] {
  const keyOf = ({ step, where, mark, isOfTarget, isUndelivered }: PathRefusal): string =>
    `${step === undefined ? where : placeKey(step)} ${mark} ${isOfTarget} ${isUndelivered}`;
  const groups = [...Map.groupBy(refusals, keyOf)].map(([key, own]) => {
    const probeResults = [...new Set(own.map(({ trace }) => trace.probeResult))];
    return { key, own, probeResults: probeResults.toSorted((a, b) => byText(a.probe, b.probe)) };
  });
  const sorted = groups.toSorted((a, b) => b.probeResults.length - a.probeResults.length || byText(a.key, b.key));
  return sorted.map(({ own, probeResults }) => {
    const [{ mark, where, isOfTarget, isUndelivered }] = own as [PathRefusal];
    const ofTarget = own.filter(isBeforeTarget);
    const sum = (count: 'refused' | 'sent'): number => ofTarget.reduce((all, one) => all + one.answered![count], 0);
    const refused = sum('refused');
    const places = joinedPlaces(own.map((one) => one.where));
    const router = places.length === 1 ? 'A router' : 'Routers';
    const sender = isOfTarget ? 'The target itself' : isUndelivered ? 'The address of the target' : router;
    const senders = isUndelivered ? ` Possible senders: ${UNDELIVERED_SENDERS}.` : '';
    const some = isPassing && !isOfTarget ? ' some' : '';
    const late = isPassing ? own.flatMap(({ trace }) => lateStart(trace) ?? []) : [];
    const others = late[0] === undefined ? othersText(own) : ` The target answered from ${late[0]} on.`;
    const rest = isPassing && !isOfTarget ? others : '';
    const flows = isPassing && !isOfTarget ? flowsText(own) : '';
    const ofFlows = flows === '' ? undefined : ` all packets of ${flows} to the target`;
    const packets =
      ofFlows ??
      (refused > 0
        ? ` ${refused} of ${countOf(sum('sent'), 'packet')} of ${naming(probeResults)} to the target`
        : `${some} packets of ${naming(probeResults)}`);
    const text = `${sender} said that ${meaningOf(mark)} to${packets}: ${listed(places, 3)}.${rest}${senders}${isPassing ? '' : echoText(own)}`;
    const brief = isPassing ? `${where} refuses some packets (${safeText(mark, 16)})` : endText(own[0]!.trace, where);
    const isLoss =
      Math.max(refused, ofFlows === undefined ? 0 : errorsIn(own)) >= thresholds.lostPackets || late.length > 0;
    const isInfo = isPassing ? !isLoss : probeResults.every(({ result }) => isTooLarge(result));
    return buildFinding('path_refused', isInfo ? 'info' : 'warning', probeResults, text, brief);
  });
}
