import type { Expectation, Failure, MonitoredProbeState, RunAtProbe } from '@vantage/contract';
import type { Evidence } from '@vantage/summary';

import { lackingAnswers, unseenAnswers, type MeasuredAnswers } from './answers-expected.ts';
import { certificateDaysOf, certificateLifeLeftOf, underDays, type MeasuredCertificates } from './certificate-days.ts';

/** Fields of results that are read here; a result has only those of its check type. */
interface Measured extends MeasuredCertificates, MeasuredAnswers {
  readonly rt?: number | null;
  readonly rttAvg?: number | null;
  readonly loss?: number | null;
  readonly statusCode?: number;
  readonly rcode?: string;
  /** State of a port. */
  readonly state?: string;
  readonly stalled?: number;
  /** Of a ping or traceroute: ordinary packets after those of the check, to which nothing came back. */
  readonly ordinary?: { readonly received: number };
  readonly error?: Failure | null;
}

/**
 * Decides on the result of one probe.
 *
 * @param evidence as the summary counts the result
 */
export function evaluateResult(
  result: Readonly<Record<string, unknown>>,
  evidence: Evidence | undefined,
  expectation: Expectation,
): RunAtProbe {
  const measured: Measured = result;
  const reasons = reasonsOf(measured, evidence, expectation);
  const state = stateOf(evidence, expectation, reasons, measured.state === 'open|filtered');
  const doubts = state === 'ok' ? unseenAnswers(measured, expectation) : [];
  const shown = [...reasons, ...doubts];
  const lifeLeft = certificateLifeLeftOf(measured);
  return {
    state: doubts.length === 0 ? state : 'unmeasured',
    reason: shown.length === 0 ? null : shown.join('; ').slice(0, 1_024),
    rtt: measured.rttAvg ?? measured.rt ?? null,
    loss: measured.loss ?? null,
    certificateDays: certificateDaysOf(measured) ?? null,
    ...(lifeLeft === undefined ? {} : { certificateLifeLeft: lifeLeft }),
    status: measured.statusCode ?? null,
  };
}

/**
 * @param isOfPort true for the silence of a UDP port, about which a definition may have an expectation; other silence
 *   says nothing about the target
 */
function stateOf(
  evidence: Evidence | undefined,
  { result }: Expectation,
  reasons: readonly string[],
  isOfPort: boolean,
): MonitoredProbeState {
  if (evidence === undefined || evidence === 'notMeasured' || evidence === 'pending') return 'unmeasured';
  if (evidence === 'silent' && (result === undefined || !isOfPort)) return 'unmeasured';
  return reasons.length === 0 ? 'ok' : 'failing';
}

function reasonsOf(measured: Measured, evidence: Evidence | undefined, expectation: Expectation): readonly string[] {
  const { result, status } = expectation;
  const answers = evidence === 'up' || evidence === 'impaired';
  if (result === 'failure') return answers ? ['the target answers'] : [];
  // With a list of status codes the list decides, not the class of the code. It excuses no other failure, such as a
  // connection that is reset after the head.
  const isStatusAlone = status !== undefined && measured.error?.code === 'http_status';
  // A body that is unfinished or cannot be decoded is a failure here, although the summary may count it as an answer.
  const isUnfinished = ['http_body_unfinished', 'http_decode_failed'].includes(measured.error?.code ?? '');
  // The target is up for the summary, but not for packets of the size or DSCP that the monitor sends.
  const isOrdinaryAlone = (measured.ordinary?.received ?? 0) > 0;
  if (isUnfinished || isOrdinaryAlone || (!answers && !isStatusAlone)) return [failureOf(measured, evidence)];
  return [
    ...overStatus(measured, expectation),
    ...above(nameOfTime(measured), timeOf(measured), expectation.maxRtt, 1, 'ms'),
    ...above('loss', measured.loss, expectation.maxLoss, 100, '%'),
    ...underDays(measured, expectation),
    ...lackingAnswers(measured, expectation),
  ];
}

/**
 * The measured time in milliseconds: `rttAvg` or, unless the probe stalled, `rt`. Null or undefined if the result has
 * none.
 */
function timeOf({ rttAvg, rt, stalled }: Measured): number | null | undefined {
  return rttAvg ?? (stalled === undefined ? rt : null);
}

/** Name of the measured time: those of http and dns include the work of a server. */
function nameOfTime({ statusCode, rcode }: Measured): string {
  return statusCode === undefined && rcode === undefined ? 'round-trip time' : 'response time';
}

function failureOf({ error }: Measured, evidence: Evidence | undefined): string {
  return error?.message ?? (evidence === 'pending' || evidence === undefined ? 'no result' : 'no answer');
}

function overStatus({ statusCode }: Measured, { status }: Expectation): readonly string[] {
  if (status === undefined || statusCode === undefined) return [];
  const isListed = status.some((one) => one === String(statusCode) || one === `${Math.floor(statusCode / 100)}xx`);
  return isListed ? [] : [`status ${statusCode}, expected ${status.join(', ')}`];
}

function above(
  name: string,
  value: number | null | undefined,
  most: number | undefined,
  factor: number,
  unit: string,
): readonly string[] {
  if (most === undefined || value === null || value === undefined || value <= most) return [];
  // Without the rounding error of the product.
  const bound = Number((most * factor).toPrecision(12));
  return [`${name} ${textAbove(value * factor, bound)} ${unit}, more than ${bound} ${unit}`];
}

/** Rounds to one decimal place, or to more if the rounded number would not be above the bound. */
function textAbove(value: number, bound: number): string {
  for (let digits = 1; digits < 10; digits += 1) {
    const shown = Number(value.toFixed(digits));
    if (shown > bound) return String(shown);
  }
  return String(value);
}
