import type { CheckStart } from '@vantage/contract';
import type { Request, Response } from 'express';

import type { AcceptedRequest, Checks } from '../../../checks/checks.ts';
import { canonicalJson } from '../../../checks/create/canonical-json.ts';
import { StoreUnavailable } from '../../../redis/store-errors.ts';
import {
  KEY_WAIT_MS,
  noClaim,
  type Claim,
  type IdempotencyRecord,
  type IdempotencyStore,
} from '../../../checks/create/idempotency-store.ts';
import { retryAfter } from '../../answer-problem.ts';
import { apiKeyOf, callerOf } from '../../caller.ts';
import { requestContextOf } from '../../request-context.ts';
import { callerDigest } from '../../limits/axes.ts';
import { countOnce, fulfilled, settled, type RequestCount } from '../../limits/count-once.ts';
import { isOverdue } from '../../limits/pace-requests.ts';
import type { EarlyLimit } from '../../limits/rate-limit.ts';
import { clientCost, targetAxes, type TargetLimits } from '../../limits/target-axes.ts';
import type { Links } from '../../links.ts';
import { HttpProblem } from '../../problem.ts';
import { clientHasLeft } from '../../requests/client-has-left.ts';
import { claimKey, hasIdempotencyKey, repeatedAnswer } from '../../requests/idempotency-key.ts';
import type { RequestReader } from '../../requests/accept-request.ts';
import type { ResolvePair } from '../../requests/resolve-pair.ts';
import { refuseUnknownParameters } from '../../requests/query-parameters.ts';
import { readJson } from '../../requests/read-json.ts';
import { invalid } from '../../requests/validate-request.ts';
import type { Endpoint } from '../endpoint.ts';
import { startMessage } from './start-message.ts';

export interface CheckEndpointsOptions {
  readonly checks: Checks;
  readonly idempotencyStore: IdempotencyStore;
  readonly links: Links;
  readonly readRequest: RequestReader;
  readonly resolvePair: ResolvePair;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly limitCreate: EarlyLimit;
  readonly targetLimits: TargetLimits;
}

/**
 * Field of `response.locals` by which `limit` passes what it has begun to read to `answer`. A `WeakMap` by request
 * would keep requests in memory (`live-list.ts`).
 */
const READING = 'reading';

export function createCheck(options: CheckEndpointsOptions): Endpoint {
  const { checks, idempotencyStore, links, readRequest, stopping, limitCreate } = options;
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
      let answer: IdempotencyRecord;
      try {
        answer = await answerOnce(options, fulfilled(claim), fulfilled(reading).accepted, counter, response);
      } finally {
        // Counts a repeated or refused request, too, although it starts no check. Its 429 precedes any other problem.
        await counter.counted();
      }
      const { checkId, message } = answer;
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

/** Starts a check for the first request with a key, or without one; a repeated request gets the first response. */
async function answerOnce(
  options: CheckEndpointsOptions,
  claim: Claim,
  accepted: AcceptedRequest,
  counter: RequestCount,
  response: Response,
): Promise<IdempotencyRecord> {
  if (claim.kind !== 'first') return repeatedAnswer(claim);
  try {
    const first = await startCheck(options, accepted, counter, response, claim.digest);
    await claim.keep(first);
    return first;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

async function startCheck(
  { checks, resolvePair, targetLimits }: CheckEndpointsOptions,
  request: AcceptedRequest,
  counter: RequestCount,
  response: Response,
  first: string | undefined,
): Promise<IdempotencyRecord> {
  const accepted = await resolvePair(request, apiKeyOf(response.req)?.allow);
  // A check for a client that has left would waste capacity.
  if (await clientHasLeft(response)) throw new HttpProblem('invalid-http', 'The client closed the connection.');
  const selected = await checks.select(accepted);
  if (selected.created === false) {
    if (selected.reason === 'invalid') throw invalid(selected.errors);
    throw new HttpProblem('no-probe-available', selected.detail);
  }
  const caller = callerOf(response.req);
  const targets = targetAxes(accepted, selected.probes.length, caller, targetLimits);
  const admission = counter.admit({ cost: clientCost(accepted), targets, grant: selected.grant });
  const started = await selected.start({ admission, client: callerDigest(caller), first });
  // The 429 of a limit replaces this problem.
  if (started === undefined) throw new StoreUnavailable('the probes could not be read in time');
  return { checkId: started.checkId, message: startMessage(accepted.checkType.type, started) };
}
