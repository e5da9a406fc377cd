import { isWithdrawn, probeFailure, type ReportedScreenshot, type ResultOutlet } from '@vantage/agent-loop';
import { checkOfScreenshotJob, type Failure } from '@vantage/contract';
import type { Logger } from 'pino';

import { refusedByPolicy, type HandleJob } from './handle-job.ts';
import type { Schemas } from './schemas.ts';
import type { TargetCheck } from '../runtime/runtime.ts';
import type { ScreenshotOffer } from '../runtime/screenshot-offer.ts';

export interface ScreenshotHandlerDependencies {
  readonly offer: Pick<ScreenshotOffer, 'settled' | 'capture'>;
  /** Target check of the URL before a browser starts; the hosts of the page are admitted separately. */
  readonly checkTarget: TargetCheck;
  readonly userAgent: string;
  /** Redis clock, milliseconds since the epoch, and its round-trip time. */
  readonly clock: { readonly now: () => number; readonly rttMs: () => number };
  readonly schemas: Schemas;
  readonly outlet: Pick<ResultOutlet, 'screenshot'>;
  readonly log: Logger;
}

/** Time before the deadline that is reserved for the transfer of the screenshot. */
const MARGIN_MS = 750;
/** Least time limit of an attempt; the deadline may end it earlier. */
const TIMEOUT_MS = 12_000;
/**
 * Share of the remaining time that an attempt may take if that is longer than `TIMEOUT_MS`: another probe can then make
 * a second attempt.
 */
const SHARE = 0.4;
/** Maximum wait for a free browser; then another probe may take over. */
const WAIT_MS = 8_000;

/** Handles the job that takes a check's screenshot. Never rejects: failures are reported. */
export function createScreenshotHandler(dependencies: ScreenshotHandlerDependencies): HandleJob {
  const { offer, checkTarget, userAgent, clock, schemas, outlet, log } = dependencies;

  return async (id, data, interrupted) => {
    const check = checkOfScreenshotJob(id) ?? id;
    const { job, fault } = schemas.readScreenshotJob(check, data);
    if (job === undefined) {
      log.error({ check, fault }, 'invalid screenshot job');
      // The current time in place of the job's deadline, which may be unreadable as well.
      void outlet.screenshot(check, none(probeFailure('invalid_job')), clock.now());
      return;
    }
    const leftMs = Math.floor(job.deadlineAt - clock.now() - MARGIN_MS - clock.rttMs());
    if (leftMs <= 0) {
      log.warn({ check, leftMs }, 'screenshot job expired');
      return;
    }
    const { url, insecureSSL } = job.params;
    const refusal = checkTarget('http', { host: url });
    const take = async (): Promise<ReportedScreenshot> => {
      if (refusal !== undefined) return none(refusedByPolicy(refusal));
      const signal = AbortSignal.any([interrupted, AbortSignal.timeout(leftMs)]);
      const missing = await offer.settled(signal);
      if (missing !== null) return none({ ...probeFailure('capability_missing'), message: missing });
      const timeoutMs = Math.max(TIMEOUT_MS, Math.floor(leftMs * SHARE));
      return offer.capture({ url, insecureSSL, userAgent, signal, timeoutMs, waitMs: WAIT_MS });
    };
    const screenshot = await take().catch((error: unknown): ReportedScreenshot => {
      log.error({ check, err: error }, 'screenshot handler threw');
      return none(probeFailure('internal_error'));
    });
    // The job was withdrawn: its result is not wanted any more.
    if (isWithdrawn(interrupted)) return;
    // The browser's own error after an interruption is misleading.
    const report =
      screenshot.png === null && interrupted.aborted ? none(probeFailure('probe_interrupted')) : screenshot;
    // The job stays active until the report is written, so that recovery detects a missing screenshot.
    await outlet.screenshot(check, report, job.deadlineAt);
  };
}

function none(failure: Failure): ReportedScreenshot {
  return { png: null, failure };
}
