import { describe, expect, it } from '@jest/globals';
import { screenshotJobId } from '@vantage/contract';
import type { CaptureRequest, Capture } from '@vantage/diagnostics';

import { silent } from '../../test/fakes.ts';
import { createScreenshotHandler, type ScreenshotHandlerDependencies } from './handle-screenshot.ts';
import type { ReportedScreenshot } from '@vantage/agent-loop';
import { createSchemas } from './schemas.ts';

const checkId = 'AAAAAAAAAAAAAAAAAAAAAA';
const job = {
  v: 1,
  checkId,
  type: 'screenshot',
  deadlineAt: 40_000,
  params: { url: 'https://a.example/', insecureSSL: true },
};
const taken: Capture = { png: Buffer.from('png'), failure: null };
const schemas = createSchemas();

interface Seen {
  readonly captured: CaptureRequest[];
  readonly reported: (readonly [check: string, picture: ReportedScreenshot, deadlineAt: number])[];
}

async function handle(
  dependencies: Partial<ScreenshotHandlerDependencies> & {
    readonly capture?: (request: CaptureRequest) => Promise<Capture>;
  } = {},
  data: unknown = job,
  interrupted = new AbortController().signal,
): Promise<Seen> {
  const seen: Seen = { captured: [], reported: [] };
  const capture = dependencies.capture ?? (async () => taken);
  const run = createScreenshotHandler({
    offer: {
      settled: async () => null,
      capture: (request) => {
        seen.captured.push(request);
        return capture(request);
      },
    },
    checkTarget: () => undefined,
    userAgent: 'Vantage/0',
    clock: { now: () => 10_000, rttMs: () => 10 },
    schemas,
    outlet: { screenshot: async (...report) => void seen.reported.push(report) },
    log: silent,
    ...dependencies,
  });
  await run(screenshotJobId(checkId), data, interrupted);
  return seen;
}

const codeOf = ({ reported }: Seen): string | undefined => reported[0]?.[1].failure?.code;

describe('the job that takes a screenshot', () => {
  it('hands over the screenshot, for the check that it is of', async () => {
    const seen = await handle();

    expect(seen.reported).toEqual([[checkId, taken, 40_000]]);
    expect(seen.captured).toEqual([
      expect.objectContaining({ url: 'https://a.example/', insecureSSL: true, userAgent: 'Vantage/0' }),
    ]);
  });

  it('leaves another probe enough of the time', async () => {
    const [request] = (await handle()).captured;

    expect(request!.timeoutMs! + request!.waitMs!).toBeLessThan(40_000 - 10_000);
    expect(request!.timeoutMs! * 2).toBeLessThan(30_000);
  });

  it('takes longer where there is more time, and still leaves another probe as much', async () => {
    const [request] = (await handle({}, { ...job, deadlineAt: 130_000 })).captured;

    expect(request!.timeoutMs).toBeGreaterThan(40_000);
    expect(request!.timeoutMs! * 2).toBeLessThan(120_000);
  });

  it('is dropped after its deadline', async () => {
    const seen = await handle({ clock: { now: () => 39_900, rttMs: () => 10 } });

    expect([seen.captured, seen.reported]).toEqual([[], []]);
  });

  it('is given up with the deadline of the check', async () => {
    const seen = await handle({
      clock: { now: () => 39_100, rttMs: () => 10.5 },
      capture: ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () =>
            resolve({ png: null, failure: { code: 'timed_out', phase: 'response', source: 'target', message: 'x' } }),
          ),
        ),
    });

    expect(codeOf(seen)).toBe('timed_out');
  });

  it('starts no browser for a URL that the policy of the probe refuses', async () => {
    const decision: unknown[] = [];
    const seen = await handle({
      checkTarget: (type, params) => {
        decision.push([type, params]);
        return 'a.example is denied.';
      },
    });

    expect(decision).toEqual([['http', { host: 'https://a.example/' }]]);
    expect([codeOf(seen), seen.captured]).toEqual(['target_refused_by_policy', []]);
  });

  it('says what is missing where the probe offers no screenshots', async () => {
    const capture = async (): Promise<Capture> => taken;
    const seen = await handle({ offer: { settled: async () => 'No browser.', capture } });

    expect(seen.reported[0]?.[1]).toMatchObject({
      png: null,
      failure: { code: 'capability_missing', message: 'No browser.' },
    });
  });

  it('is interrupted when the agent stops', async () => {
    const seen = await handle(
      {
        capture: async () => ({
          png: null,
          failure: { code: 'timed_out', phase: 'response', source: 'target', message: 'x' },
        }),
      },
      job,
      AbortSignal.abort(),
    );

    expect(codeOf(seen)).toBe('probe_interrupted');
  });

  it('reports an internal error as a failure of the probe', async () => {
    const capture = async (): Promise<Capture> => {
      throw new Error('broken');
    };

    expect(codeOf(await handle({ capture }))).toBe('internal_error');
  });

  it('is invalid where it cannot be read', async () => {
    expect(codeOf(await handle({}, { ...job, params: {} }))).toBe('invalid_job');
    expect(codeOf(await handle({}, 'x'))).toBe('invalid_job');
  });
});
