import { checkIdSchema, type KeyScope, type ProblemType } from '@vantage/contract';

import type { Bucket } from '../../limits/buckets.ts';
import { LAST_EVENT_PARAMETER } from '../../requests/query-parameters.ts';
import { headers, problemAnswers } from '../answers.ts';
import { toJson, type JsonObject } from '../json.ts';

export const EXAMPLE_ID = 'qPUXvL1sQx2rGJm0Zf7N4w';
export const OTHER_EXAMPLE_ID = 'Zz1mB0hEQ2mW3l7n9rTzVg';

export const checkIdParameter: JsonObject = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The `checkId` that POST /check answered.',
  schema: toJson(checkIdSchema),
  example: EXAMPLE_ID,
};

export const ifNoneMatch: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer.',
  schema: { type: 'string' },
};

export const lastEventParameter: JsonObject = {
  name: LAST_EVENT_PARAMETER,
  in: 'query',
  description: 'The same as `Last-Event-ID`, for clients that cannot send the header.',
  schema: { type: 'string' },
};

export const notModified: JsonObject = {
  description: 'As you have it.',
  headers: headers(true, ['ETag', 'Cache-Control']),
};

/** Problems of every operation that accepts a key. */
export const keyProblems = ['unauthorized', 'scope-missing'] as const;

/** Problem responses of an operation that reads a check, with those that only this one has. */
export function checkProblemAnswers(...more: readonly ProblemType[]): JsonObject {
  const ofAll = ['check-not-found', 'check-evicted', 'rate-limited', 'internal-error', 'unavailable'] as const;
  return problemAnswers(['invalid-http', ...keyProblems, ...ofAll, ...more], true);
}

/** Security of an operation that needs no key; a key that is sent must have the scope. */
export function keyOf(scope: KeyScope): JsonObject {
  return { security: [{}, { apiKey: [scope] }] };
}

/**
 * The body of an event stream. OpenAPI 3.1 has no schema for its events: some generators take the schema of the body
 * for that of the `data` of each event.
 *
 * @param events schemas of the `data` by event name; the extension keeps the names
 */
export function eventStream(events: Readonly<Record<string, JsonObject>>): JsonObject {
  return { schema: { anyOf: Object.values(events) }, 'x-events': events };
}

/** The specification extension `x-rate-limit`, which the reference page shows. */
export function limitOf({ name, limit }: Bucket): JsonObject {
  return {
    'x-rate-limit': {
      name,
      requests: limit,
      windowSeconds: 60,
      per: 'client IP address, IPv6 by /64; a key has its own limit',
    },
  };
}
