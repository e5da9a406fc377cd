import type { Bucket } from '../../limits/buckets.ts';
import { headers, problemAnswers } from '../answers.ts';
import { ifNoneMatch, keyOf, keyProblems, limitOf, notModified } from './parts.ts';
import { refTo, type JsonObject } from '../json.ts';

export function listProbesOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'listProbes',
    tags: ['probes'],
    summary: 'List the probes',
    description:
      'Every probe that was seen in the last 24 hours or not yet at all, or is suspended, by its identifier.',
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
      ...problemAnswers(
        ['invalid-request', 'invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'],
        true,
      ),
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
      ...problemAnswers(
        ['invalid-request', 'invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'],
        true,
      ),
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
      ...problemAnswers(
        ['invalid-request', 'invalid-http', ...keyProblems, 'rate-limited', 'internal-error', 'unavailable'],
        true,
      ),
    },
  };
}
