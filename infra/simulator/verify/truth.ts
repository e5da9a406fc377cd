import type { Case } from '../compile.ts';
import { protocolNumber } from '../compile.ts';
import type { Answer, Passage } from '../log.ts';
import type { Share } from '../run-cases.ts';

/** Size from which packets belong to the search for the path MTU, bytes. */
const TRACE_BYTES = 300;
/** An answer that leaves the simulator within this time before the end of the check need not count. */
const GRACE_MS = 100;

/** The packets of the ping, or those of the trace without its search for the path MTU. */
export function ownPassages({ family, check }: Case, { passages }: Share): readonly Passage[] {
  const protocol = protocolNumber(check === 'ping' ? 'icmp' : check, family);
  if (check === 'ping') return passages.filter((one) => one.protocol === protocol);
  return passages.filter((one) => one.protocol === protocol && one.bytes < TRACE_BYTES);
}

export function soundAnswer({ answers }: Passage): Answer | undefined {
  return answers.find(({ isSound }) => isSound);
}

/** The sound answer, if it left the simulator well before the end of the check. */
export function timelyAnswer(passage: Passage, { endedMs }: Share): Answer | undefined {
  const answer = soundAnswer(passage);
  return answer !== undefined && answer.atMs < endedMs - GRACE_MS ? answer : undefined;
}

const UNREACHABLE: Readonly<Record<4 | 6, number>> = { 4: 3, 6: 1 };
/**
 * Codes of “destination unreachable” that report no route or no host. From the address of the target they count as no
 * arrival: a load balancer or NAT there may send them about a host behind it.
 */
const UNDELIVERED: Readonly<Record<4 | 6, readonly number[]>> = { 4: [0, 1, 6, 7, 8, 11, 12], 6: [0, 2, 3] };

/** True if the packet reached the target and the target answered it. */
export function isFromTarget({ address, places, family }: Case, passage: Passage): boolean {
  const answer = soundAnswer(passage);
  if (answer === undefined || passage.fate === 'expired' || passage.fate === 'too big') return false;
  const refusal = places[passage.trail.at(-1) ?? -1]?.refuse;
  if (
    answer.what === 'refused' &&
    refusal?.type === UNREACHABLE[family] &&
    UNDELIVERED[family].includes(refusal.code)
  ) {
    return false;
  }
  return answer.what === 'reply' || answer.from === address || places.at(-1)!.addresses.includes(answer.from);
}

/** Hops from which the end of a path may be displayed, and from which it must be; both Infinity without an end. */
export interface End {
  readonly mayFrom: number;
  readonly from: number;
}

/**
 * End of the path of each conversation. If the target answered, the end must be displayed from the lowest TTL that it
 * answered, and may be from the number of places passed (an error quotes the remaining TTL). Otherwise both are the
 * lowest TTL that a router refused.
 */
export function endsOf(of: Case, own: readonly Passage[]): ReadonlyMap<string, End> {
  return new Map(
    [...Map.groupBy(own, ({ conversation }) => conversation)].map(([conversation, passages]) => {
      const atTarget = passages.filter((passage) => isFromTarget(of, passage));
      const refused = passages.filter((passage) => soundAnswer(passage)?.what === 'refused');
      const from = Math.min(Infinity, ...(atTarget.length > 0 ? atTarget : refused).map(({ ttl }) => ttl));
      return [conversation, { from, mayFrom: Math.min(from, ...atTarget.map(({ trail }) => trail.length)) }];
    }),
  );
}

/** Smallest MTU, at most 1500 bytes, of the links that the packets of a probe used or would have used next. */
export function smallestMtu({ places }: Case, passages: readonly Passage[]): number {
  const used = new Set(passages.flatMap(({ trail }) => trail));
  const beyond = [...used].flatMap((node) => places[node]!.next);
  const all = [...new Set([...used, ...beyond])].map((node) => places[node]!.mtu ?? 1_500);
  return Math.min(1_500, ...all);
}

/** Simulated round-trip times by sender, ascending. */
export function trueRtts(passages: readonly Passage[]): ReadonlyMap<string, readonly number[]> {
  const rtts = new Map<string, number[]>();
  for (const { atMs, answers } of passages) {
    const answer = answers.find(({ isSound }) => isSound);
    if (answer === undefined) continue;
    rtts.set(answer.from, [...(rtts.get(answer.from) ?? []), answer.atMs - atMs]);
  }
  for (const own of rtts.values()) own.sort((a, b) => a - b);
  return rtts;
}

/**
 * Slowest displayed round-trip time of the last hop, or of the ping, minus the target's fastest simulated one: an upper
 * bound of the time taken by the machine, milliseconds.
 */
export function machineDelayMs(of: Case, share: Share): number {
  const atTarget = ownPassages(of, share).filter((passage) => isFromTarget(of, passage));
  const truth = atTarget.flatMap((passage) => (soundAnswer(passage)?.atMs ?? Infinity) - passage.atMs);
  const { hops = [], packets = [] } = share.outcome as {
    readonly hops?: readonly Rows[];
    readonly packets?: readonly Rows[];
  };
  const shown = [...hops.slice(-1), ...packets].flatMap(({ rtts, rtt }) => [...(rtts ?? []), rtt ?? null]);
  return Math.max(0, ...shown.filter((rtt) => rtt !== null)) - Math.min(Infinity, ...truth);
}

interface Rows {
  readonly rtts?: readonly (number | null)[];
  readonly rtt?: number | null;
}

/**
 * True if answers left the simulator in another order than the packets arrived: a stalled probe sends packets close
 * together.
 */
export function isReordered(own: readonly Passage[]): boolean {
  const times = own.flatMap((passage) => soundAnswer(passage)?.atMs ?? []);
  return times.some((atMs, index) => index > 0 && atMs < times[index - 1]!);
}

/** Standard deviations beyond which two shares are not samples of the same rate. */
const DEVIATIONS = 3.5;

/**
 * Whether `lost` of `of` packets differs from the true loss rate by at most `DEVIATIONS` standard deviations of a
 * binomial sample; true for no packets.
 */
export function isSample(lost: number, of: number, truth: number): boolean {
  if (of === 0) return true;
  return Math.abs(lost / of - truth) <= DEVIATIONS * Math.sqrt((truth * (1 - truth)) / of) + 1e-9;
}
