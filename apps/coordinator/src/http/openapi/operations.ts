import { checkIdSchema, type AnyCheckType, type KeyScope } from '@vantage/contract';

import type { Bucket } from '../limits/rate-limit.ts';
import { MAX_WAIT_SECONDS } from '../requests/read-wait.ts';
import { headers, problemAnswers } from './answers.ts';
import { requestExamples } from './examples.ts';
import { refTo, toJson, type JsonObject } from './schemas.ts';

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

export function createCheckOperation(checkTypes: readonly AnyCheckType[], bucket: Bucket): JsonObject {
  return {
    operationId: 'createCheck',
    tags: ['checks'],
    summary: 'Start a check',
    description:
      'Starts a check from several probes at once and answers before they have measured anything. ' +
      'Follow `Location` for the results.',
    ...limitOf(bucket),
    ...keyOf('check'),
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'Makes a repeated request harmless: for 24 hours, or until the check is removed (410), the same key of one client (an address, or ' +
          'an API key), with the same body, has the same answer and starts nothing. 1 to 255 visible ASCII characters without spaces.',
        schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
        example: '8e03978e-40d5-43e8-bc93-6894a57f9324',
      },
    ],
    requestBody: {
      required: true,
      description: 'At most 16 KiB of JSON. Fields that belong to another type are ignored, unknown ones refused.',
      content: { 'application/json': { schema: refTo('CheckRequest'), examples: requestExamples(checkTypes) } },
    },
    responses: {
      '202': {
        description: 'The check has started.',
        headers: headers(true, ['Location', 'Cache-Control']),
        content: {
          'application/json': {
            schema: refTo('CheckStart'),
            example: { checkId: EXAMPLE_ID, status: 'pending', message: 'The ping check runs from 3 probes.' },
          },
        },
      },
      ...problemAnswers(
        [
          'invalid-json',
          'invalid-request',
          'invalid-http',
          ...keyProblems,
          'target-refused',
          'idempotency-key-reused',
          'idempotency-key-in-use',
          'payload-too-large',
          'unsupported-media-type',
          'no-probe-available',
          'rate-limited',
          'internal-error',
          'unavailable',
        ],
        true,
      ),
    },
  };
}

export function readCheckOperation(bucket: Bucket, retentionSeconds: number): JsonObject {
  return {
    operationId: 'readCheck',
    tags: ['checks'],
    summary: 'Read the results of a check',
    description:
      'Every selected probe has an entry from the first read on, `{ "result": "pending" }` until it has answered. ' +
      '`status` becomes `completed` when each entry is final, soon after the deadline of the check at the latest, ' +
      `and nothing changes after that. Results are kept for ${hours(retentionSeconds)}.`,
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [
      checkIdParameter,
      {
        name: 'wait',
        in: 'query',
        description: 'Hold the answer until the check is completed, at most this many seconds.',
        schema: { type: 'number', minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
      },
      ifNoneMatch,
    ],
    responses: {
      '200': {
        description:
          'The check as it stands. `Cache-Control` is `no-store` while it is pending and `immutable` when completed.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Check') } },
      },
      '304': notModified,
      ...problemAnswers(
        [
          'invalid-request',
          'invalid-http',
          ...keyProblems,
          'check-not-found',
          'check-evicted',
          'rate-limited',
          'internal-error',
          'unavailable',
        ],
        true,
      ),
    },
  };
}

export function showScreenshotOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'showScreenshot',
    tags: ['checks'],
    summary: 'Show the screenshot of a check',
    description:
      'The screenshot that is also in the result of one probe, as it is: PNG, 1280×800. It is there as soon as it is taken, ' +
      'while other probes may still measure.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [checkIdParameter, ifNoneMatch],
    responses: {
      '200': {
        description: 'The screenshot. It never changes.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } },
      },
      '304': notModified,
      ...problemAnswers(
        [
          'invalid-http',
          ...keyProblems,
          'check-not-found',
          'check-evicted',
          'screenshot-not-found',
          'rate-limited',
          'internal-error',
          'unavailable',
        ],
        true,
      ),
    },
  };
}

export function showSummaryOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'showSummary',
    tags: ['checks'],
    summary: 'Say what the results of a check mean together',
    description:
      'A verdict, how many probes agree, a headline in words, and findings that name the probes that carry them; for a ' +
      'traceroute also the paths of all probes merged into one graph. While the check is pending it is of the probes ' +
      'that have answered. The reference `docs/reference/findings.md` of the source says how each finding is decided.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [checkIdParameter, ifNoneMatch],
    responses: {
      '200': {
        description: 'The summary. `Cache-Control` is `no-store` while the check is pending.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Summary') } },
      },
      '304': notModified,
      ...problemAnswers(
        [
          'invalid-http',
          ...keyProblems,
          'check-not-found',
          'check-evicted',
          'rate-limited',
          'internal-error',
          'unavailable',
        ],
        true,
      ),
    },
  };
}

export function listProbesOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'listProbes',
    tags: ['probes'],
    summary: 'List the probes',
    description: 'Every probe that was seen in the last 24 hours, or not yet at all, by its identifier.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'The probes.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Probes') } },
      },
      '304': notModified,
      ...problemAnswers(['invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'], true),
    },
  };
}

export function listAgentsOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'listAgents',
    tags: ['probes'],
    summary: 'List the agents',
    description: 'Transport, release and state of the agent of each listed probe. Counts as a request to GET /probes.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'The agents.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Agents') } },
      },
      '304': notModified,
      ...problemAnswers(['invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'], true),
    },
  };
}

export function showCallerOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'showCaller',
    tags: ['caller'],
    summary: 'Look up your own address',
    description: 'Place and network of the address that the request came from. What is not known is null.',
    ...limitOf(bucket),
    ...keyOf('read'),
    responses: {
      '200': {
        description: 'The address and what is known of it.',
        headers: headers(true, ['Cache-Control']),
        content: { 'application/json': { schema: refTo('Me') } },
      },
      ...problemAnswers(['invalid-http', ...keyProblems, 'rate-limited', 'internal-error'], true),
    },
  };
}

export const ifNoneMatch: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer.',
  schema: { type: 'string' },
};

export const notModified: JsonObject = {
  description: 'As you have it.',
  headers: headers(true, ['ETag', 'Cache-Control']),
};

/** Problems of every operation that accepts a key. */
export const keyProblems = ['unauthorized', 'scope-missing'] as const;

/** A key is optional; if present, it needs the scope. */
export function keyOf(scope: KeyScope): JsonObject {
  return { security: [{}, { apiKey: [scope] }] };
}

/** A specification extension: tools ignore it, the reference page shows it. */
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

function hours(seconds: number): string {
  return seconds % 3600 === 0 ? `${seconds / 3600} hours` : `${seconds} seconds`;
}
