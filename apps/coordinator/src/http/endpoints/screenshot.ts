import { isCheckId } from '@vantage/contract';
import type { Checks, ScreenshotReading } from '../../checks/checks.ts';
import type { Limit } from '../limits/rate-limit.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';
import { sendTagged } from './send-json.ts';

export interface ScreenshotEndpointOptions {
  readonly checks: Pick<Checks, 'screenshot'>;
  readonly retentionSeconds: number;
  readonly limit: Limit;
}

/** `GET /check/:id/screenshot`: the PNG file. */
export function showScreenshot({ checks, retentionSeconds, limit }: ScreenshotEndpointOptions): Endpoint {
  return {
    path: '/check/:id/screenshot',
    method: 'GET',
    scope: 'read',
    limit,
    answer: async (request, response) => {
      const { id = '' } = request.params as { readonly id?: string };
      const reading = isCheckId(id) ? await checks.screenshot(id) : undefined;
      if (reading === undefined) {
        throw new HttpProblem('check-not-found', NO_SUCH_CHECK);
      }
      if (reading.png === null) throw new HttpProblem('screenshot-not-found', whyNone(reading));
      const ageSeconds = Math.max(0, (Date.now() - reading.createdAt) / 1000);
      const maxAge = Math.max(0, Math.floor(retentionSeconds - ageSeconds));
      // A check has at most one screenshot, which never changes.
      response.set('Cache-Control', `public, max-age=${maxAge}, immutable`);
      sendTagged(request, response, 'image/png', reading.png);
    },
  };
}

function whyNone({ screenshot: { state, probe, reason } }: ScreenshotReading): string {
  if (state === 'pending') return 'The screenshot is not taken yet; ask again while the check is pending.';
  if (state === 'not_asked') return 'This check takes no screenshot.';
  if (state === 'taken') return 'The screenshot is no longer kept.';
  const of = probe === null ? '' : ` The last probe that tried was ${probe}.`;
  return `There is no screenshot of this check. ${reason?.message ?? ''}${of}`;
}
