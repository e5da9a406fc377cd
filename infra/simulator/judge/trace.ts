import type { Traceroute } from '../../netlab/test-lab.ts';
import { PROBES } from '../addresses.ts';
import type { Case } from '../compile.ts';
import type { Passage } from '../log.ts';
import type { CaseRun, Share } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import {
  endsOf,
  isFromTarget,
  isSample,
  ownPassages,
  smallestMtu,
  soundAnswer,
  timelyAnswer,
  trueRtts,
} from './truth.ts';

type Hop = NonNullable<Traceroute['hops']>[number];

const FULL_TTL = 255;
/** Silent hops to the end for which a trace stops (docs/packets.md). */
const GAP_LIMIT = 5;
/** Clocks of two processes and a rounded number. */
const CLOCK_MS = 0.1;

/** One probe's trace beside its packets. */
interface Look {
  readonly of: Case;
  readonly share: Share;
  readonly traced: Traceroute;
  readonly own: readonly Passage[];
  readonly ends: ReadonlyMap<string, number>;
  /** The lowest end of all flows. */
  readonly firstEnd: number;
}

export function judgeTraces(run: CaseRun): readonly Complaint[] {
  const looks = run.shares.map((share) => lookAt(run.of, share));
  return [
    ...looks.flatMap((look) =>
      [...judgeHops(look), ...judgeEnd(look), ...judgeMtu(look)].map(({ kind, text }) => ({
        kind,
        text: `${PROBES[look.share.probe]}: ${text}`,
      })),
    ),
    ...judgeLoss(looks),
  ];
}

function lookAt(of: Case, share: Share): Look {
  const own = ownPassages(of, share);
  const ends = endsOf(of, own);
  return { of, share, traced: share.outcome as Traceroute, own, ends, firstEnd: Math.min(Infinity, ...ends.values()) };
}

function judgeHops(look: Look): readonly Complaint[] {
  const { own, traced, ends, share, firstEnd } = look;
  const hops = traced.hops ?? [];
  const wrong = hops.flatMap((hop, index) =>
    hop.hop === index + 1 ? judgeHop(look, hop) : [hopComplaint(`row ${index + 1} is hop ${hop.hop}`)],
  );
  const lastEnd = Math.max(0, ...ends.values());
  if (hops.length > lastEnd) wrong.push(hopComplaint(`${hops.length} rows, and every path ends at hop ${lastEnd}`));
  if (traced.stopReason === 'loop') return wrong;
  const missing = own.filter(
    (passage) =>
      passage.ttl > hops.length && passage.ttl < Math.min(firstEnd, FULL_TTL) && timelyAnswer(passage, share),
  );
  for (const { ttl } of missing.slice(0, 1)) wrong.push(hopComplaint(`hop ${ttl} answered and is not shown`));
  return wrong;
}

function judgeHop({ own, share, firstEnd }: Look, hop: Hop): readonly Complaint[] {
  const isEnd = hop.hop >= firstEnd;
  const pool = own.filter(({ ttl }) => (isEnd ? ttl >= hop.hop : ttl === hop.hop));
  const rtts = trueRtts(pool);
  const where = `hop ${hop.hop}`;
  const wrong: Complaint[] = [];
  const shown = hop.responders.filter(({ ip }) => ip !== null);
  for (const { ip, rtts: claimed } of shown) {
    const known = rtts.get(ip!);
    if (known === undefined) wrong.push(hopComplaint(`${where}: ${ip} answered nothing`));
    else wrong.push(...judgeRtts(claimed, known, `${where}, ${ip}`));
  }
  const wanted = isEnd ? [] : [...new Set(pool.flatMap((passage) => timelyAnswer(passage, share)?.from ?? []))];
  const hidden = hop.responders.length - shown.length;
  const missing = wanted.filter((from) => !shown.some(({ ip }) => ip === from));
  if (missing.length > hidden) wrong.push(hopComplaint(`${where}: ${missing.join(', ')} answered and is not shown`));
  if (hop.hop === firstEnd && !pool.some((passage) => shown.some(({ ip }) => ip === soundAnswer(passage)?.from))) {
    wrong.push(hopComplaint(`${where}: who ended the path is not shown`));
  }
  if (!isEnd) {
    const unanswered = pool.filter((passage) => timelyAnswer(passage, share) === undefined).length;
    const lost = hop.rtts.filter((rtt) => rtt === null).length;
    if (lost > unanswered) wrong.push({ kind: 'loss', text: `${where}: ${lost} lost, in truth ${unanswered}` });
  }
  if (hop.rtts.length > pool.length) wrong.push(hopComplaint(`${where}: more packets than were sent`));
  const from = hop.icmp?.from;
  const enders = [...pool, ...own].filter(({ fate }) => fate === 'refused' || fate === 'arrived' || fate === 'too big');
  if (from !== undefined && from !== null && !enders.some((passage) => soundAnswer(passage)?.from === from)) {
    wrong.push(hopComplaint(`${where}: ${from} sent no such error`));
  }
  return wrong;
}

/** Each time that is shown is at least one that the simulator made. */
function judgeRtts(claimed: readonly (number | null)[], known: readonly number[], where: string): readonly Complaint[] {
  const sorted = claimed.filter((rtt) => rtt !== null).toSorted((a, b) => a - b);
  if (sorted.length > known.length) return [hopComplaint(`${where}: more answers than came`)];
  const short = sorted.findIndex((rtt, index) => rtt < known[index]! - CLOCK_MS);
  return short === -1 ? [] : [{ kind: 'rtt', text: `${where}: ${sorted[short]} ms, in truth ${known[short]}` }];
}

function judgeEnd(look: Look): readonly Complaint[] {
  const { of, own, traced, share } = look;
  const wrong: Complaint[] = [];
  const isReached = own.some((passage) => isFromTarget(of, passage) && timelyAnswer(passage, share) !== undefined);
  const mayBe = own.some((passage) => isFromTarget(of, passage));
  if (traced.reached !== isReached && traced.reached !== mayBe) {
    wrong.push({ kind: 'reached', text: `reached is ${traced.reached}, in truth ${isReached}` });
  }
  const reason = stopReasonOf(look);
  if (reason !== null && traced.stopReason !== reason) {
    wrong.push({ kind: 'stop', text: `stopReason is ${traced.stopReason}, in truth ${reason}` });
  }
  return wrong;
}

/** Why the trace stopped; null where chance or time decides. */
function stopReasonOf({ of, own, firstEnd }: Look): string | null {
  const { scenario, places } = of;
  const isPassing = places.some(({ refuse }) => refuse?.packets !== undefined);
  if (isPassing || scenario.truth?.isUnsteady === true) return null;
  if (own.some((passage) => isFromTarget(of, passage) && passage.ttl < FULL_TTL)) return 'completed';
  if (firstEnd < FULL_TTL) return 'unreachable';
  if (scenario.path.some((stage) => 'circle' in stage)) return 'loop';
  const asked = own.filter(({ ttl }) => ttl < FULL_TTL);
  const answered = asked.filter((passage) => soundAnswer(passage) !== undefined);
  const gap = Math.max(0, ...asked.map(({ ttl }) => ttl)) - Math.max(0, ...answered.map(({ ttl }) => ttl));
  return gap >= GAP_LIMIT ? 'gap_limit' : 'hop_limit';
}

function judgeMtu({ of, share, traced }: Look): readonly Complaint[] {
  const { pathMtu = null, reached } = traced;
  const smallest = smallestMtu(of, share.passages);
  const truth =
    of.scenario.truth?.pathMtu === undefined ? (reached === true ? smallest : null) : of.scenario.truth.pathMtu;
  const isWrong = truth === null ? pathMtu !== null && pathMtu > smallest : pathMtu !== truth;
  return isWrong ? [{ kind: 'mtu', text: `pathMtu is ${pathMtu}, in truth ${truth ?? `at most ${smallest}`}` }] : [];
}

/** Loss at the target, of all probes together: a sample of what the simulator lost. */
function judgeLoss(looks: readonly Look[]): readonly Complaint[] {
  const { places, scenario } = looks[0]!.of;
  // There a packet that does not come back says nothing of those that do.
  const isMixed = places.some(({ hole, refuse }) => hole === true || refuse !== undefined);
  // The first packets have all the tokens.
  const isLimited = places.at(-1)!.limit !== undefined;
  if (isMixed || isLimited || scenario.truth?.isUnsteady === true) return [];
  const { lost, of, trueShare } = targetLoss(looks);
  if (isSample(lost, of, trueShare)) return [];
  return [{ kind: 'loss', text: `the target's hop lost ${lost} of ${of}, in truth ${Math.round(trueShare * 100)} %` }];
}

/** What the rows of the target say that was lost, and what was. */
function targetLoss(looks: readonly Look[]): {
  readonly lost: number;
  readonly of: number;
  readonly trueShare: number;
} {
  let [lost, of, trulyLost, trulyOf] = [0, 0, 0, 0];
  for (const { traced, own, firstEnd } of looks) {
    const row = traced.hops?.find(({ hop }) => hop === firstEnd);
    if (row === undefined) continue;
    const pool = own.filter(({ ttl }) => ttl >= firstEnd);
    // What the simulator answered after the end of the check is not lost either.
    of += row.rtts.length;
    lost += row.rtts.filter((rtt) => rtt === null).length;
    trulyOf += pool.length;
    trulyLost += pool.filter((passage) => soundAnswer(passage) === undefined).length;
  }
  return { lost, of, trueShare: trulyOf === 0 ? 0 : trulyLost / trulyOf };
}

export function targetLossOf(runs: readonly CaseRun[]): ReturnType<typeof targetLoss> {
  return targetLoss(runs.flatMap(({ of, shares }) => shares.map((share) => lookAt(of, share))));
}

function hopComplaint(text: string): Complaint {
  return { kind: 'hop', text };
}
