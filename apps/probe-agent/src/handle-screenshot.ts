import { probeFailure, type ReportedPicture, type ResultOutlet } from '@vantage/agent-loop';
import { checkOfScreenshotJob, type Failure } from '@vantage/contract';
import type { Logger } from 'pino';

import { refusedByPolicy, type HandleJob, type Judge } from './handle-job.ts';
import type { Schemas } from './schemas.ts';
import type { ScreenshotOffer } from './screenshot-offer.ts';

export interface ScreenshotHandlerParts {
  readonly offer: Pick<ScreenshotOffer, 'settled' | 'capture'>;
  /** The policy of this probe about the URL, before a browser starts; each connection is admitted again. */
  readonly judge: Judge;
  readonly userAgent: string;
  /** The clock of Redis, milliseconds since the epoch, and the round trip to it. */
  readonly clock: { readonly now: () => number; readonly rttMs: () => number };
  readonly schemas: Schemas;
  readonly outlet: Pick<ResultOutlet, 'screenshot'>;
  readonly log: Logger;
}

/** What is left of the time to the deadline for the picture to arrive. */
const MARGIN_MS = 750;
/** Two probes can try one after the other within the deadline of a check, and in a longer time than is usual … */
const TIMEOUT_MS = 12_000;
/** … each has this part of what is left. */
const SHARE = 0.4;
/** Who has waited this long for a turn leaves the picture to another probe. */
const WAIT_MS = 8_000;

/** Takes the screenshot of a check, as a job of its own. Never rejects: whatever goes wrong is in what it reports. */
export function createScreenshotHandler(parts: ScreenshotHandlerParts): HandleJob {
  const { offer, judge, userAgent, clock, schemas, outlet, log } = parts;

  return async (id, data, interrupted) => {
    const check = checkOfScreenshotJob(id) ?? id;
    const { job, fault } = schemas.readScreenshotJob(check, data);
    if (job === undefined) {
      log.error({ check, fault }, 'a job for a screenshot cannot be read');
      // Its own deadline cannot be read either; the report is of use now or never.
      void outlet.screenshot(check, none(probeFailure('invalid_job')), clock.now());
      return;
    }
    const leftMs = Math.floor(job.deadlineAt - clock.now() - MARGIN_MS - clock.rttMs());
    if (leftMs <= 0) {
      log.warn({ check, leftMs }, 'a job for a screenshot came too late');
      return;
    }
    const { url, insecureSSL } = job.params;
    const refusal = judge('http', { host: url });
    const take = async (): Promise<ReportedPicture> => {
      if (refusal !== undefined) return none(refusedByPolicy(refusal));
      const signal = AbortSignal.any([interrupted, AbortSignal.timeout(leftMs)]);
      const missing = await offer.settled(signal);
      if (missing !== null) return none({ ...probeFailure('capability_missing'), message: missing });
      const timeoutMs = Math.max(TIMEOUT_MS, Math.floor(leftMs * SHARE));
      return offer.capture({ url, insecureSSL, userAgent, signal, timeoutMs, waitMs: WAIT_MS });
    };
    const picture = await take().catch((error: unknown): ReportedPicture => {
      log.error({ check, err: error }, 'a screenshot failed by a fault of our own');
      return none(probeFailure('internal_error'));
    });
    // What an interrupted browser says of itself is beside the point.
    const said = picture.png === null && interrupted.aborted ? none(probeFailure('probe_interrupted')) : picture;
    // Until it is written, whoever finds the job as active knows that the picture is missing.
    await outlet.screenshot(check, said, job.deadlineAt);
  };
}

function none(failure: Failure): ReportedPicture {
  return { png: null, failure };
}
