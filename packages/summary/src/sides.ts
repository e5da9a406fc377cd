import type { Summary } from '@vantage/contract';

import type { Report, ResultOf } from './report.ts';
import { thresholds } from './thresholds.ts';
import { isUnanswered, kindOf } from './dns-answer.ts';

/**
 * What a probe says of the target. `impaired`: it answers, and not as it should. `silent`: nothing came back, which
 * proves nothing. `notMeasured`: the probe could not run the check.
 */
export type Side = 'up' | 'impaired' | 'down' | 'silent' | 'notMeasured' | 'pending';

export interface Sides {
  readonly of: ReadonlyMap<string, Side>;
  readonly counts: Summary['counts'];
  /** Probes that had an answer: up and impaired. */
  readonly up: readonly Report[];
  readonly down: readonly Report[];
  readonly silent: readonly Report[];
  readonly notMeasured: readonly Report[];
  /** Up and down: the probes that the verdict is made of. */
  readonly counted: readonly Report[];
}

export function sidesOf(type: string, reports: readonly Report[]): Sides {
  const first = reports.map((report) => sideOf(type, report, reports));
  // Where the port is known to be open, silence is what a filter or a loss on the way makes of it.
  const isOpen = type === 'udp' && first.includes('up');
  const of = new Map(
    reports.map(({ probe }, index) => [probe, first[index] === 'silent' && isOpen ? 'down' : first[index]!]),
  );
  const on = (...sides: readonly Side[]): readonly Report[] =>
    reports.filter(({ probe }) => sides.includes(of.get(probe)!));
  const [up, down, silent, notMeasured, pending] = [
    on('up', 'impaired'),
    on('down'),
    on('silent'),
    on('notMeasured'),
    on('pending'),
  ];
  return {
    of,
    ...{ up, down, silent, notMeasured },
    counted: on('up', 'impaired', 'down'),
    counts: {
      up: up.length,
      down: down.length,
      silent: silent.length,
      notMeasured: notMeasured.length,
      pending: pending.length,
    },
  };
}

function sideOf(type: string, report: Report, all: readonly Report[]): Side {
  const { outcome, result } = report;
  if (outcome === 'pending') return 'pending';
  if (outcome === 'error' || result.error?.source === 'probe') return 'notMeasured';
  if (type === 'ping' && outcome !== 'success') return unansweredSide(report.result);
  if (type === 'http') return httpSide(outcome, report.result);
  if (type === 'dns') return dnsSide(outcome, report.result);
  if (outcome === 'success') return 'up';
  if (type === 'traceroute' && outcome === 'timeout') return unreachedSide(report.result, all);
  return type === 'udp' && outcome === 'timeout' ? 'silent' : 'down';
}

/**
 * A trace that time ended proves nothing, unless the target was asked often enough before; nor does silence of a target that
 * leaves most packets of other probes unanswered too.
 */
function unreachedSide(result: ResultOf<'traceroute'>, all: readonly Report[]): Side {
  if (answersEchoAlone(result)) return 'impaired';
  const { stopReason, loop, fullTtl, flows = [] } = result;
  if (loop !== null && loop !== undefined) return 'down';
  const asked = (fullTtl?.rtts.length ?? 0) / Math.max(1, flows.length);
  if (stopReason === 'deadline' && asked < thresholds.fullTtlAsked) return 'silent';
  return answersSome(all.filter((other) => other.result.resolvedIp === result.resolvedIp)) ? 'silent' : 'down';
}

/** Whether the target answered the traces that reached it, and left half of their packets at its hop unanswered or more. */
function answersSome(reports: readonly Report[]): boolean {
  const rows = reports.flatMap(({ result }) => {
    const { reached, hops = [], resolvedIp, fullTtl } = result as ResultOf<'traceroute'>;
    const own = hops.filter(({ responders }) => responders.some(({ ip }) => ip === resolvedIp));
    return reached === true ? [...own.flatMap(({ rtts }) => rtts), ...(fullTtl?.rtts ?? [])] : [];
  });
  const lost = rows.filter((rtt) => rtt === null).length;
  return rows.length > lost && lost >= thresholds.lostPackets && lost >= rows.length / 2;
}

/** True where the target answered the echo requests beside the trace, and none of its packets. */
export function answersEchoAlone({ reached, echo }: ResultOf<'traceroute'>): boolean {
  return reached !== true && (echo?.received ?? 0) > 0;
}

/** The TTL that packets get without a wish: what it does not reach is not reached by any ordinary packet. */
const ORDINARY_TTL = 64;

/** A reply that came too late to count is one: the target is there. */
function unansweredSide(result: ResultOf<'ping'>): Side {
  if ((result.anomalies?.late ?? 0) > 0) return 'impaired';
  return isUnfit(result) ? 'notMeasured' : 'down';
}

/** True if the TTL or the size that the request gave the packets ended them on the way: the target was not asked. */
function isUnfit({ error, ttl, packets = [] }: ResultOf<'ping'>): boolean {
  if (error?.code === 'packet_too_big') return true;
  if (error?.code !== 'time_exceeded' || ttl === undefined || ttl >= ORDINARY_TTL) return false;
  return !packets.some((row) => row.icmp !== undefined && row.ttl !== null && isInCircle(ttl, row.ttl));
}

/** Initial TTLs of ICMP errors. */
const INITIAL_TTLS = [64, 128, 255] as const;

/**
 * Whether a packet with so large a TTL ran out of hops at a router that is near, by the TTL with which the router's error
 * came: then it went round in a circle, and a larger TTL would not have helped. The way back may be shorter than the way there.
 */
function isInCircle(ttl: number, errorTtl: number): boolean {
  const hops = INITIAL_TTLS.find((initial) => initial >= errorTtl)! - errorTtl + 1;
  return ttl - hops > Math.max(8, ttl / 2);
}

/** An answer that proves nothing is as silence; one that no resolver would take is none, whatever its rcode. */
function dnsSide(outcome: 'success' | 'failure' | 'timeout', result: ResultOf<'dns'>): Side {
  if (isUnanswered(result)) return 'silent';
  const kind = kindOf(result);
  return outcome === 'success' && kind !== 'foreign' && kind !== 'loop' ? 'up' : 'down';
}

/** What is said about redirects and the browser is not that the target has no answer. */
const answeredAnyway: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_limit', 'screenshot_failed']);

function httpSide(outcome: 'success' | 'failure' | 'timeout', { error, statusCode, tls }: ResultOf<'http'>): Side {
  if (outcome === 'success') return tls?.authorized === false ? 'impaired' : 'up';
  const code = error?.code;
  if (code === 'http_status') return statusCode !== undefined && statusCode < 500 ? 'impaired' : 'down';
  return code !== undefined && answeredAnyway.has(code) ? 'impaired' : 'down';
}
