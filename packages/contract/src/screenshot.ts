import { Type, type Static } from 'typebox';

import { failureSchema } from './failure.ts';
import { nullable, probeIdSchema } from './words.ts';

/** not_asked: nobody wanted one; pending: a probe is at it; taken and given_up: settled, for ever. */
export const screenshotStates = ['not_asked', 'pending', 'taken', 'given_up'] as const;

export type ScreenshotState = (typeof screenshotStates)[number];

/** Limits of one picture. What a page asks for beyond them is refused. */
export const screenshotLimits = ['requests', 'hosts', 'connections', 'bytes'] as const;

export type ScreenshotLimit = (typeof screenshotLimits)[number];

const cutAt = Type.Optional(
  Type.Array(Type.Enum([...screenshotLimits]), {
    maxItems: screenshotLimits.length,
    description: 'Limits of a picture that the page went over: what it asked for beyond them is missing. Absent: none.',
  }),
);

/** What became of the screenshot of a check: one for all of its probes, settled once. */
export const screenshotSchema = Type.Object(
  {
    state: Type.Enum([...screenshotStates], {
      description:
        'not_asked: the check wants none; pending: a probe is at it; taken: it is in the result of `probe`; given_up: ' +
        'there is none, for `reason`.',
    }),
    probe: nullable({ ...probeIdSchema, description: 'The probe that took it, or that is at it or was last.' }),
    reason: nullable(failureSchema),
    cutAt,
  },
  { additionalProperties: false, title: 'Screenshot', description: 'What became of the screenshot of a check.' },
);

/** `reason` is null but for `given_up`; `probe` is null where none was asked. */
export type Screenshot = Static<typeof screenshotSchema>;

export const noScreenshot: Screenshot = { state: 'not_asked', probe: null, reason: null };

/** Pixels of every screenshot. */
export const SCREENSHOT_SIZE = { width: 1280, height: 800 } as const;

/** Limit of one screenshot, bytes of PNG. */
export const MAX_SCREENSHOT_BYTES = 4 * 1024 * 1024;

/** What a check that takes a screenshot may last longer for it, milliseconds. */
export const SCREENSHOT_BUDGET_MS = 15_000;

/** `type` of the job that takes a screenshot, and its name in BullMQ; no check type is called so. */
export const SCREENSHOT_JOB = 'screenshot';

/** `params` of that job. Later releases may add fields. */
export const screenshotParamsSchema = Type.Object({
  /** Absolute http(s) URL, canonical. */
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  insecureSSL: Type.Boolean(),
});

export type ScreenshotParams = Static<typeof screenshotParamsSchema>;

const SUFFIX = '.shot';

/** The BullMQ job id of the screenshot of a check, which may be in the same queue as the check's own job. */
export function screenshotJobId(checkId: string): string {
  return `${checkId}${SUFFIX}`;
}

/** The check whose screenshot a job of this id takes; undefined for every other job. */
export function checkOfScreenshotJob(jobId: string): string | undefined {
  return jobId.endsWith(SUFFIX) ? jobId.slice(0, -SUFFIX.length) : undefined;
}

/** `data` of a result entry of kind `screenshot`: why there is no picture, or null where the field `png` has it. */
export const screenshotReportSchema = Type.Object({ failure: nullable(failureSchema), cutAt });

export type ScreenshotReport = Static<typeof screenshotReportSchema>;
