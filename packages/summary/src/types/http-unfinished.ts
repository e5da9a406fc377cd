import { buildFinding, type FindingDraft } from '../finding.ts';
import { firstByteOf } from '../first-byte.ts';
import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { redirectPlace } from '../redirected.ts';
import { isBodyUnfinished, isCodingCut } from '../unfinished.ts';
import { countOf, listed, ms, naming } from '../words.ts';

type HttpResult = ProbeResult<SparseResultOf<'http'>>;

/** Answers whose body did not end in time, or ended before its content coding did. */
export function findUnfinished(probeResults: readonly HttpResult[]): readonly FindingDraft[] {
  const unfinished = probeResults.filter(({ result }) => isBodyUnfinished(result));
  return [false, true].flatMap((isCut) => {
    const own = unfinished.filter(({ result }) => isCodingCut(result) === isCut);
    if (own.length === 0) return [];
    const to = own.length === probeResults.length ? '' : ` to ${naming(own)}`;
    const [text, why] = isCut ? [cutText(own), 'ends before its content coding does'] : [lateText(own), lateBrief(own)];
    return [buildFinding('http_body_unfinished', 'warning', own, text, `the body of its answer${to} ${why}`)];
  });
}

function lateText(own: readonly HttpResult[]): string {
  const rows = own.map(
    ({ probe, result }) =>
      `${probe} got ${statusOf(result)}, and ${bytesOf(result)} of the body within ${ms(result.timings?.total ?? 0)}${redirectPlace(result)}`,
  );
  return (
    `The server answers, but the body of its answer did not end in time: ${listed(rows)}. ` +
    'It may be a stream, which has no end, a slow transfer, or a server that hangs.'
  );
}

function lateBrief(own: readonly HttpResult[]): string {
  return `did not end within ${ms(Math.max(...own.map(({ result }) => result.timings?.total ?? 0)))}`;
}

function cutText(own: readonly HttpResult[]): string {
  const rows = own.map(
    ({ probe, result }) => `${probe} got ${statusOf(result)}, and ${bytesOf(result)}${redirectPlace(result)}`,
  );
  return (
    `The server answers, but the body of its answer ends before its content coding does: ${listed(rows)}. ` +
    'Browsers show the part that can be decoded; many programs refuse it.'
  );
}

function statusOf({ statusCode, timings }: SparseResultOf<'http'>): string {
  return `status ${statusCode} after ${ms(firstByteOf(timings) ?? 0)}`;
}

function bytesOf({ bodyBytes = 0 }: SparseResultOf<'http'>): string {
  return bodyBytes === 0 ? 'nothing' : countOf(bodyBytes, 'byte');
}
