import type { Bucket } from '../../limits/buckets.ts';
import { headers } from '../answers.ts';
import {
  checkIdParameter,
  checkProblemAnswers,
  ifNoneMatch,
  keyOf,
  limitOf,
  notModified,
  OTHER_EXAMPLE_ID,
} from './parts.ts';
import { refTo, type JsonObject } from '../json.ts';

export function showComparisonOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'showComparison',
    tags: ['checks'],
    summary: 'Compare two checks',
    description:
      'The differences between two completed checks of one type, per probe and over all, in fields and in one sentence. Times and losses ' +
      'are named only beyond noise; alternatives of a load balancer and silent hops are no change of a path. Counts as a request to ' +
      'GET /check/:id/summary.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [
      { ...checkIdParameter, description: 'The `checkId` of the first check, `a` in the answer.' },
      {
        ...checkIdParameter,
        name: 'other',
        example: OTHER_EXAMPLE_ID,
        description: 'The `checkId` of the second check, `b` in the answer.',
      },
      ifNoneMatch,
    ],
    responses: {
      '200': {
        description: 'The comparison.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Comparison') } },
      },
      '304': notModified,
      ...checkProblemAnswers('invalid-request', 'checks-not-comparable'),
    },
  };
}
