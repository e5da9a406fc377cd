import type { AnyCheckType } from '@vantage/contract';

import type { Bucket } from '../../limits/buckets.ts';
import { MAX_WAIT_SECONDS } from '../../requests/read-wait.ts';
import { headers, problemAnswers } from '../answers.ts';
import { requestExamples } from '../examples.ts';
import {
  checkIdParameter,
  checkProblemAnswers,
  EXAMPLE_ID,
  ifNoneMatch,
  keyOf,
  keyProblems,
  limitOf,
  notModified,
} from './parts.ts';
import { refTo, type JsonObject } from '../json.ts';

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
          'Makes a repeated request harmless: for 24 hours, or as long as results are kept if that is less, or until the check is removed (410), the same key of one client (an address, or ' +
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
      ...checkProblemAnswers('invalid-request'),
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
      ...checkProblemAnswers('screenshot-not-found'),
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
      ...checkProblemAnswers('invalid-request'),
    },
  };
}

function hours(seconds: number): string {
  if (seconds === 3600) return 'an hour';
  return seconds % 3600 === 0 ? `${seconds / 3600} hours` : `${seconds} seconds`;
}
