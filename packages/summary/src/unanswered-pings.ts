import { chanceOfMore, type Sample } from './chance.ts';
import { ofType, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { thresholds } from './thresholds.ts';

/** Default TTL of Linux and macOS: if a target is farther, ordinary packets do not reach it either. */
const ORDINARY_TTL = 64;

/** A late or damaged reply proves that the target is up, and so does one to an ordinary ping. */
export function unansweredEvidence(
  probeResult: ProbeResult,
  all: readonly ProbeResult[],
): 'impaired' | 'notMeasured' | 'silent' | 'down' {
  const result: SparseResultOf<'ping'> = probeResult.result;
  const { late = 0, corrupted = 0 } = result.anomalies ?? {};
  if (late + corrupted > 0) return 'impaired';
  if (isUnfit(result)) return 'notMeasured';
  if (answersOrdinary(result)) return 'impaired';
  return isUnlucky(probeResult, all) ? 'silent' : 'down';
}

/**
 * True for a probe that got no reply from an address that left many packets of others unanswered: half of them, or so
 * many that chance explains the silence. A rate limit of replies that all probes share leaves some of them without any.
 */
export function isUnlucky({ outcome, result }: ProbeResult, all: readonly ProbeResult[]): boolean {
  const { error, pingCount = 0 } = result as SparseResultOf<'ping'>;
  if (outcome !== 'timeout' || error?.code !== 'timed_out' || pingCount === 0) return false;
  const others = ofType<'ping'>(all).filter(
    (other) => other.outcome === 'success' && other.result.resolvedIp === result.resolvedIp,
  );
  const { sent, lost } = others.map(samplePings).reduce(sum, { sent: 0, lost: 0 });
  if (lost < thresholds.lostPackets) return false;
  return 2 * lost >= sent || chanceOfMore({ sent: pingCount, lost: pingCount }, { sent, lost }) > thresholds.unlucky;
}

function samplePings({ result: { pingCount = 0, pingCompleted = 0 } }: ProbeResult<SparseResultOf<'ping'>>): Sample {
  return { sent: pingCount, lost: pingCount - pingCompleted };
}

function sum(a: Sample, b: Sample): Sample {
  return { sent: a.sent + b.sent, lost: a.lost + b.lost };
}

/** True if the target answered the ordinary pings that the probe sent because it got no reply to those of the check. */
export function answersOrdinary({ ordinary }: SparseResultOf<'ping'>): boolean {
  return (ordinary?.received ?? 0) > 0;
}

/**
 * True if the requested size, or a requested TTL below 64, prevented the packets from reaching the target, or the TTL
 * may have: the router where it expires may be silent. False if a routing loop used up the TTL.
 */
export function isUnfit(result: SparseResultOf<'ping'>): boolean {
  const { error, ttl, packets = [] } = result;
  if (error?.code === 'packet_too_big') return true;
  if (ttl === undefined || ttl >= ORDINARY_TTL) return false;
  if (answersOrdinary(result)) return true;
  if (error?.code !== 'time_exceeded') return false;
  return !packets.some((row) => row.icmp !== undefined && row.ttl !== null && isInCircle(ttl, row.ttl));
}

/** Reason for a ping with a low TTL that got no reply. */
export function silentTtl(ttl: number): string {
  return `the TTL of ${ttl} that was asked for may be used up on the way: only ordinary pings were answered`;
}

/** Common initial TTLs of ICMP errors. */
const INITIAL_TTLS = [64, 128, 255] as const;

/**
 * Detects a routing loop: a packet with a large TTL expired at a router that is near, judged by the TTL of its ICMP
 * error; a larger TTL would not have helped. A margin allows for a return path that is shorter than the forward path.
 */
function isInCircle(ttl: number, errorTtl: number): boolean {
  const hops = INITIAL_TTLS.find((initial) => initial >= errorTtl)! - errorTtl + 1;
  return ttl - hops > Math.max(8, ttl / 2);
}
