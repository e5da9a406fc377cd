import { failureSchema } from './failure.ts';
import { nullable, probeIdSchema } from './formats.ts';
import { Type, type Static } from './type.ts';

/** not_asked: not requested; pending: a probe is taking it; taken and given_up: final. */
export const screenshotStates = ['not_asked', 'pending', 'taken', 'given_up'] as const;

export type ScreenshotState = (typeof screenshotStates)[number];

/** Limited quantities of one screenshot; requests of the page beyond a limit are refused. */
export const screenshotLimits = ['requests', 'hosts', 'connections', 'bytes'] as const;

export type ScreenshotLimit = (typeof screenshotLimits)[number];

const cutAt = Type.Optional(
  Type.Array(Type.Enum([...screenshotLimits]), {
    maxItems: screenshotLimits.length,
    description:
      'Limits of a screenshot that the page went over: what it asked for beyond them is missing. Absent: none.',
  }),
);

/** State of the screenshot of a check: at most one per check, final once settled. */
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

/** `reason` is null except for `given_up`; `probe` is null if none was assigned. */
export type Screenshot = Static<typeof screenshotSchema>;

export const noScreenshot: Screenshot = { state: 'not_asked', probe: null, reason: null };

/** Size of every screenshot, in pixels. */
export const SCREENSHOT_SIZE = { width: 1280, height: 800 } as const;

/** Limit of one screenshot, in bytes of PNG. */
export const MAX_SCREENSHOT_BYTES = 4 * 1024 * 1024;

/** Additional time budget of a check with a screenshot, in milliseconds. */
export const SCREENSHOT_BUDGET_MS = 15_000;

/** Job `type` and BullMQ job name of a screenshot; no check type has this name. */
export const SCREENSHOT_JOB = 'screenshot';

/** `params` of the job of a screenshot. Later releases may add fields. */
export const screenshotParamsSchema = Type.Object({
  /** Absolute http(s) URL, canonical. */
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  insecureSSL: Type.Boolean(),
});

export type ScreenshotParams = Static<typeof screenshotParamsSchema>;

const SUFFIX = '.shot';

/** BullMQ job id of a check's screenshot; differs from the id of the check's job, which may be in the same queue. */
export function screenshotJobId(checkId: string): string {
  return `${checkId}${SUFFIX}`;
}

/** Check id of a screenshot job's id; undefined for other jobs. */
export function checkOfScreenshotJob(jobId: string): string | undefined {
  return jobId.endsWith(SUFFIX) ? jobId.slice(0, -SUFFIX.length) : undefined;
}

/** `data` of a result entry of kind `screenshot`: the failure, or null if the field `png` holds the screenshot. */
export const screenshotReportSchema = Type.Object({ failure: nullable(failureSchema), cutAt });

export type ScreenshotReport = Static<typeof screenshotReportSchema>;
