import { isCheckId, type Check } from '@vantage/contract';
import type { Request, Response } from 'express';

import type { Checks } from '../../../checks/checks.ts';
import type { Limit } from '../../limits/rate-limit.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../../problem.ts';
import { readWait } from '../../requests/read-wait.ts';
import { untilGone } from '../../until-gone.ts';
import type { CompressedCache } from '../compression.ts';
import type { Endpoint } from '../endpoint.ts';
import { sendJson } from '../send-json.ts';

export interface CheckResultsOptions {
  readonly checks: Pick<Checks, 'read'>;
  readonly retentionSeconds: number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limitRead: Limit;
  readonly compressed: CompressedCache;
}

/**
 * Field of `response.locals` by which `limit` passes the read that it has begun to `answer`. A `WeakMap` by request
 * would keep requests in memory (`live-list.ts`).
 */
const READING = 'reading';

export function readCheck(options: CheckResultsOptions): Endpoint {
  const { checks, retentionSeconds, stopping, limitRead, compressed } = options;
  const read = async (request: Request, response: Response): Promise<Check | undefined> => {
    const { id = '' } = request.params as { readonly id?: string };
    if (!isCheckId(id)) return undefined;
    const waitMs = readWait(request);
    return checks.read(id, waitMs, untilGone(response, stopping));
  };
  return {
    path: '/check/:id/results',
    method: 'GET',
    scope: 'read',
    parameters: ['wait'],
    countRefused: limitRead,
    // The read may begin while the request is counted.
    limit: (request, response) =>
      limitRead(request, response, {
        onLikely: () => {
          // Requests with other methods read nothing: they get 405.
          if (request.method !== 'GET' && request.method !== 'HEAD') return;
          const reading = read(request, response);
          reading.catch(() => undefined);
          response.locals[READING] = reading;
        },
      }),
    holdMs: readWait,
    answer: async (request, response) => {
      const begun = response.locals[READING] as Promise<Check | undefined> | undefined;
      const check = await (begun ?? read(request, response));
      if (check === undefined) {
        throw new HttpProblem('check-not-found', NO_SUCH_CHECK);
      }
      response.set('Cache-Control', cacheControl(check, retentionSeconds));
      await sendJson(request, response, check, check.status === 'completed' ? compressed : undefined);
    },
  };
}

/** `Cache-Control` of a check: a completed one never changes, and expires after its retention at the latest. */
function cacheControl(check: Check, retentionSeconds: number): string {
  if (check.status !== 'completed') return 'no-store';
  const ageSeconds = Math.max(0, (Date.now() - Date.parse(check.completedAt ?? check.createdAt)) / 1000);
  return `public, max-age=${Math.max(0, Math.floor(retentionSeconds - ageSeconds))}, immutable`;
}
