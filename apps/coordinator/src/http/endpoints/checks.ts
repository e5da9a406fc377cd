import { checkIdSchema, type Check, type CheckStart } from '@vantage/contract';
import type { Request, RequestHandler } from 'express';

import type { AcceptedRequest, Checks } from '../../checks/checks.ts';
import type { Links } from '../links.ts';
import { jsonText, toJson } from '../openapi/schemas.ts';
import { HttpProblem } from '../problem.ts';
import { readJson } from '../requests/read-json.ts';
import { invalid } from '../requests/validate-request.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';

/** Longest `?wait=`, seconds. */
export const MAX_WAIT_SECONDS = 25;

export interface CheckEndpointsOptions {
  readonly checks: Checks;
  readonly links: Links;
  readonly readRequest: (body: unknown) => AcceptedRequest;
  readonly retentionSeconds: number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limitCreate: RequestHandler;
  readonly limitRead: RequestHandler;
}

export function createCheck({ checks, links, readRequest, limitCreate }: CheckEndpointsOptions): Endpoint {
  const readings = new WeakMap<Request, Promise<AcceptedRequest>>();
  return {
    path: '/check',
    method: 'POST',
    limit: (request, response, next) => {
      // The body is read and judged while the limit is counted. What comes of it is not looked at before that is known.
      if (request.method === 'POST') readings.set(request, readQuietly(request, readRequest));
      return limitCreate(request, response, next);
    },
    answer: async (request, response) => {
      const accepted = await readings.get(request)!;
      const creation = await checks.create(accepted);
      if (!creation.created) {
        if (creation.reason === 'invalid') throw invalid(creation.errors);
        throw new HttpProblem('no-probe-available', creation.detail);
      }
      const { checkId, probes } = creation;
      const count = probes.length === 1 ? 'one probe' : `${probes.length} probes`;
      const message = `The ${accepted.checkType.type} check runs from ${count}.`;
      const body: CheckStart = { checkId, status: 'pending', message };
      response
        .status(202)
        .set({ Location: links.path(`/check/${checkId}/results`), 'Cache-Control': 'no-store' })
        .json(body);
    },
  };
}

/** The rejection waits for whoever asks; where the limit refuses, nobody does. */
function readQuietly(request: Request, readRequest: CheckEndpointsOptions['readRequest']): Promise<AcceptedRequest> {
  const reading = readJson(request).then(readRequest);
  reading.catch(() => undefined);
  return reading;
}

/** The store is not asked for what no check is called. */
const checkIdPattern = new RegExp(jsonText(toJson(checkIdSchema)['pattern']));

export function readCheck({ checks, retentionSeconds, stopping, limitRead }: CheckEndpointsOptions): Endpoint {
  return {
    path: '/check/:id/results',
    method: 'GET',
    limit: limitRead,
    answer: async (request, response) => {
      const { id = '' } = request.params as { readonly id?: string };
      const waitMs = readWait(request);
      const gone = new AbortController();
      // With a reason of its own: the one that Node would make has a stack trace.
      response.once('close', () => gone.abort('closed'));
      const ended = AbortSignal.any([gone.signal, stopping]);
      const check = checkIdPattern.test(id) ? await checks.read(id, waitMs, ended) : undefined;
      if (check === undefined) {
        throw new HttpProblem('check-not-found', 'There is no check with this id, or it is too old to be kept.');
      }
      response.set('Cache-Control', cacheControl(check, retentionSeconds));
      sendJson(request, response, check);
    },
  };
}

/** A completed check never changes, and is gone when its time is up. */
function cacheControl(check: Check, retentionSeconds: number): string {
  if (check.status !== 'completed') return 'no-store';
  const ageSeconds = Math.max(0, (Date.now() - Date.parse(check.completedAt ?? check.createdAt)) / 1000);
  return `public, max-age=${Math.max(0, Math.floor(retentionSeconds - ageSeconds))}, immutable`;
}

function readWait(request: Request): number {
  const wait: unknown = request.query['wait'];
  if (wait === undefined) return 0;
  const seconds = typeof wait === 'string' && /^\d{1,2}(\.\d{1,3})?$/.test(wait) ? Number(wait) : Number.NaN;
  if (seconds <= MAX_WAIT_SECONDS) return Math.round(seconds * 1000);
  throw invalid([{ path: '?wait', message: `must be a number of seconds from 0 to ${MAX_WAIT_SECONDS}, given once` }]);
}
