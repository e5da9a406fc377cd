import type { Traceroute } from '../../netlab/test-lab.ts';
import { PROBES } from '../addresses.ts';
import { protocolNumber } from '../compile.ts';
import type { Passage } from '../log.ts';
import type { CaseRun } from '../run-cases.ts';
import type { Complaint } from './complaint.ts';
import { observeTrace, type ObservedTrace } from './observed-trace.ts';
import { verifyLoss } from './loss.ts';
import { isFromTarget, smallestMtu, soundAnswer, timelyAnswer, trueRtts } from './truth.ts';

type Hop = NonNullable<Traceroute['hops']>[number];

const FULL_TTL = 255;
/** Number of consecutive silent hops after which a trace stops (docs/packets.md). */
const GAP_LIMIT = 5;
/** Tolerance for the clocks of two processes and a rounded number. */
const CLOCK_MS = 0.1;

export function verifyTraces(run: CaseRun): readonly Complaint[] {
  const traces = run.shares.map((share) => observeTrace(run.of, share));
  return [
    ...traces.flatMap((trace) =>
      [...verifyHops(trace), ...verifyEnd(trace), ...verifyMtu(trace), ...verifyFullSize(trace)].map(
        ({ kind, text }) => ({
          kind,
          text: `${PROBES[trace.share.probe]}: ${text}`,
        }),
      ),
    ),
    ...verifyLoss(traces),
  ];
}

function verifyHops(trace: ObservedTrace): readonly Complaint[] {
  const { own, traced, share, firstEnd, lastEnd } = trace;
  const hops = traced.hops ?? [];
  const wrong = hops.flatMap((hop, index) =>
    hop.hop === index + 1 ? verifyHop(trace, hop) : [hopComplaint(`row ${index + 1} is hop ${hop.hop}`)],
  );
  if (hops.length > lastEnd) wrong.push(hopComplaint(`${hops.length} rows, and every path ends at hop ${lastEnd}`));
  if (lastEnd < FULL_TTL && !showsEnd(trace, hops)) wrong.push(hopComplaint('who ended the path is not shown'));
  if (traced.stopReason === 'loop') return wrong;
  const missing = own.filter(
    (passage) =>
      passage.ttl > hops.length && passage.ttl < Math.min(firstEnd, FULL_TTL) && timelyAnswer(passage, share),
  );
  for (const { ttl } of missing.slice(0, 1)) wrong.push(hopComplaint(`hop ${ttl} answered and is not shown`));
  return wrong;
}

/** True if a row at or after the end shows a hidden address, or one that answered there. */
function showsEnd({ own, firstEnd }: ObservedTrace, hops: readonly Hop[]): boolean {
  const pool = own.filter(({ ttl }) => ttl >= firstEnd);
  const shown = hops.filter(({ hop }) => hop >= firstEnd).flatMap(({ responders }) => responders);
  return pool.some((passage) => shown.some(({ ip }) => ip === null || ip === soundAnswer(passage)?.from));
}

function verifyHop(trace: ObservedTrace, hop: Hop): readonly Complaint[] {
  const { own, share, firstEnd } = trace;
  const isEnd = hop.hop >= firstEnd;
  const pool = own.filter(({ ttl }) => (isEnd ? ttl >= hop.hop : ttl === hop.hop));
  const rtts = trueRtts(pool);
  const where = `hop ${hop.hop}`;
  const wrong: Complaint[] = [];
  const shown = hop.responders.filter(({ ip }) => ip !== null);
  for (const { ip, rtts: claimed } of shown) {
    const known = rtts.get(ip!);
    if (known === undefined) wrong.push(hopComplaint(`${where}: ${ip} answered nothing`));
    else wrong.push(...verifyRtts(claimed, known, `${where}, ${ip}`));
  }
  const answering = pool.filter(
    (passage) => timelyAnswer(passage, share) !== undefined && !isRefusedOnWay(trace, passage),
  );
  const wanted = isEnd ? [] : [...new Set(answering.flatMap((passage) => timelyAnswer(passage, share)?.from ?? []))];
  const hidden = hop.responders.length - shown.length;
  const missing = wanted.filter((from) => !shown.some(({ ip }) => ip === from));
  if (missing.length > hidden) wrong.push(hopComplaint(`${where}: ${missing.join(', ')} answered and is not shown`));
  if (!isEnd) {
    const unanswered = pool.length - answering.length;
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

/**
 * True if the refusal comes from a router before this hop and the flow also reached the target: it does not count as an
 * answer of this hop. A router is before the hop if no packet with this TTL expired at it.
 */
function isRefusedOnWay({ of, own }: ObservedTrace, { conversation, ttl, answers }: Passage): boolean {
  const refusal = answers.find(({ isSound }) => isSound);
  if (refusal?.what !== 'refused') return false;
  const isThere = own.some(
    (one) => one.ttl === ttl && one.fate === 'expired' && soundAnswer(one)?.from === refusal.from,
  );
  return !isThere && own.some((one) => one.conversation === conversation && isFromTarget(of, one));
}

/**
 * Complains about more displayed times than answers, or else about a displayed time that is shorter than the simulated
 * one.
 */
function verifyRtts(
  claimed: readonly (number | null)[],
  known: readonly number[],
  where: string,
): readonly Complaint[] {
  const sorted = claimed.filter((rtt) => rtt !== null).toSorted((a, b) => a - b);
  if (sorted.length > known.length) return [hopComplaint(`${where}: more answers than came`)];
  const short = sorted.findIndex((rtt, index) => rtt < known[index]! - CLOCK_MS);
  return short === -1 ? [] : [{ kind: 'rtt', text: `${where}: ${sorted[short]} ms, in truth ${known[short]}` }];
}

function verifyEnd(trace: ObservedTrace): readonly Complaint[] {
  const { of, own, traced, share } = trace;
  const wrong: Complaint[] = [];
  const isReached = own.some((passage) => isFromTarget(of, passage) && timelyAnswer(passage, share) !== undefined);
  const mayBe = own.some((passage) => isFromTarget(of, passage));
  if (traced.reached !== isReached && traced.reached !== mayBe) {
    wrong.push({ kind: 'reached', text: `reached is ${traced.reached}, in truth ${isReached}` });
  }
  const reason = stopReasonOf(trace);
  if (reason !== null && traced.stopReason !== reason) {
    wrong.push({ kind: 'stop', text: `stopReason is ${traced.stopReason}, in truth ${reason}` });
  }
  return wrong;
}

/** Expected stop reason; null if it depends on chance or timing. */
function stopReasonOf({ of, own }: ObservedTrace): string | null {
  const { scenario, places } = of;
  const isPassing = places.some(({ refuse }) => refuse?.packets !== undefined);
  if (isPassing || scenario.truth?.isUnsteady === true) return null;
  if (own.some((passage) => isFromTarget(of, passage) && passage.ttl < FULL_TTL)) return 'completed';
  // The ICMP error of a UDP port quotes the remaining TTL, so the distance of the target is known without probing every
  // hop.
  if (of.check === 'udp' && own.some((passage) => isFromTarget(of, passage))) return null;
  if (own.some((passage) => soundAnswer(passage)?.what === 'refused')) return 'unreachable';
  if (scenario.path.some((stage) => 'circle' in stage)) return 'loop';
  const asked = own.filter(({ ttl }) => ttl < FULL_TTL);
  const answered = asked.filter((passage) => soundAnswer(passage) !== undefined);
  const gap = Math.max(0, ...asked.map(({ ttl }) => ttl)) - Math.max(0, ...answered.map(({ ttl }) => ttl));
  return gap >= GAP_LIMIT ? 'gap_limit' : 'hop_limit';
}

function verifyMtu({ of, share, traced }: ObservedTrace): readonly Complaint[] {
  const { pathMtu = null, mtuBlackHole = null, reached } = traced;
  const smallest = smallestMtu(of, share.passages);
  const truth =
    of.scenario.truth?.pathMtu === undefined ? (reached === true ? smallest : null) : of.scenario.truth.pathMtu;
  const isWrong = truth === null ? pathMtu !== null && pathMtu > smallest : pathMtu !== truth;
  const hole = of.scenario.truth?.mtuBlackHole ?? null;
  return [
    ...(isWrong ? [mtuComplaint(`pathMtu is ${pathMtu}, in truth ${truth ?? `at most ${smallest}`}`)] : []),
    ...(mtuBlackHole === hole ? [] : [mtuComplaint(`mtuBlackHole is ${mtuBlackHole}, in truth ${hole}`)]),
  ];
}

/**
 * Complains about a statement on full packets that the log or the scenario contradicts; `true` needs an answered one,
 * `false` none.
 */
function verifyFullSize({ of, share, traced }: ObservedTrace): readonly Complaint[] {
  const { fullSize } = traced;
  const { fullSize: truth } = of.scenario.truth ?? {};
  const isOwn = of.check === 'udp' || of.check === 'tcp';
  if (!isOwn) return fullSize === undefined ? [] : [mtuComplaint('fullSize of a protocol that has none')];
  const isTrue = truth === undefined || (fullSize?.bytes === truth.bytes && fullSize.arrives === truth.arrives);
  const wrong = isTrue
    ? []
    : [mtuComplaint(`fullSize is ${JSON.stringify(fullSize)}, in truth ${JSON.stringify(truth)}`)];
  if (fullSize === undefined) return wrong;
  const protocol = protocolNumber(of.check, of.family);
  const large = share.passages.filter((one) => one.protocol === protocol && one.bytes === fullSize.bytes);
  const isAnswered = large.some((passage) => isFromTarget(of, passage));
  if (fullSize.arrives === isAnswered) return wrong;
  return [
    ...wrong,
    mtuComplaint(`fullSize arrives: ${fullSize.arrives}, and ${isAnswered ? 'one was' : 'none was'} answered`),
  ];
}

function mtuComplaint(text: string): Complaint {
  return { kind: 'mtu', text };
}

function hopComplaint(text: string): Complaint {
  return { kind: 'hop', text };
}
