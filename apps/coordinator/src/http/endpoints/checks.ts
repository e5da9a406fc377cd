import { isCheckId, type Check, type CheckStart } from '@vantage/contract';
import type { Request, Response } from 'express';

import type { AcceptedRequest, AdmitCheck, Checks } from '../../checks/checks.ts';
import { canonicalJson } from '../../checks/create/canonical-json.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import {
  KEY_WAIT_MS,
  noClaim,
  type Claim,
  type IdempotencyRecord,
  type IdempotencyStore,
} from '../../checks/create/idempotency-store.ts';
import { retryAfter } from '../answer-problem.ts';
import { apiKeyOf, callerOf } from '../caller.ts';
import { requestContextOf } from '../request-context.ts';
import { callerDigest } from '../limits/axes.ts';
import { countOnce, fulfilled, settled } from '../limits/count-once.ts';
import { isOverdue } from '../limits/pace-requests.ts';
import type { EarlyLimit, Limit } from '../limits/rate-limit.ts';
import { clientCost, targetAxes, type TargetLimits } from '../limits/target-axes.ts';
import type { Links } from '../links.ts';
import { HttpProblem, NO_SUCH_CHECK } from '../problem.ts';
import { clientHasLeft } from '../requests/client-has-left.ts';
import { answerOnce, claimKey, hasIdempotencyKey } from '../requests/idempotency-key.ts';
import type { RequestReader } from '../requests/accept-request.ts';
import type { ResolvePair } from '../requests/resolve-pair.ts';
import { refuseUnknownParameters } from '../requests/query-parameters.ts';
import { readWait } from '../requests/read-wait.ts';
import { readJson } from '../requests/read-json.ts';
import { invalid } from '../requests/validate-request.ts';
import { untilGone } from '../until-gone.ts';
import type { CompressedCache } from './compression.ts';
import type { Endpoint } from './endpoint.ts';
import { sendJson } from './send-json.ts';
import { startMessage } from './start-message.ts';

export interface CheckEndpointsOptions {
  readonly checks: Checks;
  readonly idempotencyStore: IdempotencyStore;
  readonly links: Links;
  readonly readRequest: RequestReader;
  readonly resolvePair: ResolvePair;
  readonly retentionSeconds: number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limitCreate: EarlyLimit;
  readonly limitRead: Limit;
  readonly targetLimits: TargetLimits;
  readonly compressed: CompressedCache;
}

/**
 * Field of `response.locals` by which `limit` passes what it has begun to read to `answer`. A `WeakMap` by request
 * would keep requests in memory (`live-list.ts`).
 */
const READING = 'reading';

export function createCheck(options: CheckEndpointsOptions): Endpoint {
  const { checks, idempotencyStore, links, readRequest, resolvePair, stopping, limitCreate, targetLimits } = options;
  return {
    path: '/check',
    method: 'POST',
    scope: 'check',
    countRefused: limitCreate.count,
    limit: async (request, response) => {
      limitCreate.refuseKnown(request, response);
      if (request.method !== 'POST') return limitCreate.count(request, response);
      if (isOverdue(request)) throw shed(checks);
      // The request is counted in `answer`, because its cost depends on the body.
      const reading = readJson(request).then((body) => {
        refuseUnknownParameters(request, []);
        // The body is serialised before `readRequest` fills in defaults.
        const text = hasIdempotencyKey(request) ? canonicalJson(body) : undefined;
        return { accepted: readRequest(body, apiKeyOf(request)?.allow), text };
      });
      response.locals[READING] = await settled(reading);
      requestContextOf(response).storeBudget.restart();
    },
    holdMs: (request) => (hasIdempotencyKey(request) ? KEY_WAIT_MS : 0),
    answer: async (request, response) => {
      const reading = response.locals[READING] as PromiseSettledResult<Reading>;
      const claim = await settled(claimIn(reading, request, idempotencyStore, stopping));
      const counter = countOnce((asked) => limitCreate.count(request, response, asked));
      const start = async (first: string | undefined): Promise<IdempotencyRecord> => {
        const accepted = await resolvePair(fulfilled(reading).accepted, apiKeyOf(request)?.allow);
        // A check for a client that has left would waste capacity.
        if (await clientHasLeft(response)) throw new HttpProblem('invalid-http', 'The client closed the connection.');
        const caller = callerOf(request);
        const admit: AdmitCheck = (probes, early) => {
          const targets = targetAxes(accepted, probes, caller, targetLimits);
          return counter.admit({ cost: clientCost(accepted), targets, ...early });
        };
        return startCheck(checks, accepted, { admit, client: callerDigest(caller), first });
      };
      const answer = await settled(answerOnce(claim, start));
      // Counts a repeated request, too, although it starts no check.
      await counter.counted();
      const { checkId, message } = fulfilled(answer);
      const body: CheckStart = { checkId, status: 'pending', message };
      const text = JSON.stringify(body);
      response
        .writeHead(202, {
          Location: links.path(`/check/${checkId}/results`),
          'Cache-Control': 'no-store',
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Length': Buffer.byteLength(text),
        })
        .end(text);
    },
  };
}

/** Refuses a request, although probes have capacity, so that the coordinator can start the others in time. */
function shed(checks: Checks): HttpProblem {
  checks.noteShed();
  return new HttpProblem(
    'unavailable',
    'More is requested of the service than it can answer in time. Nothing was accepted.',
    { headers: retryAfter() },
  );
}

interface Reading {
  readonly accepted: AcceptedRequest;
  /** The body in canonical JSON, if the request has an idempotency key. */
  readonly text: string | undefined;
}

async function claimIn(
  reading: PromiseSettledResult<Reading>,
  request: Request,
  idempotencyStore: IdempotencyStore,
  stopping: AbortSignal,
): Promise<Claim> {
  const { text } = fulfilled(reading);
  return text === undefined ? noClaim : claimKey(request, idempotencyStore, text, stopping);
}

async function startCheck(
  checks: Checks,
  accepted: AcceptedRequest,
  { admit, client, first }: { readonly admit: AdmitCheck; readonly client: string; readonly first: string | undefined },
): Promise<IdempotencyRecord> {
  const creation = await checks.create(accepted, admit, client, undefined, first);
  if (!creation.created) {
    if (creation.reason === 'invalid') throw invalid(creation.errors);
    if (creation.reason === 'no-probe') throw new HttpProblem('no-probe-available', creation.detail);
    throw new StoreUnavailable('the probes could not be read in time');
  }
  return { checkId: creation.checkId, message: startMessage(accepted.checkType.type, creation) };
}

export function readCheck(options: CheckEndpointsOptions): Endpoint {
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
