import { checkIdSchema, MONITOR_NAME_PATTERN, problemTypes } from '@vantage/contract';

import { headers, problemAnswers } from '../answers.ts';
import { EXAMPLE_ID, ifNoneMatch, OTHER_EXAMPLE_ID } from './parts.ts';
import { toJson, type JsonObject } from '../json.ts';

export function healthOperation(): JsonObject {
  return {
    operationId: 'showHealth',
    tags: ['service'],
    summary: 'Whether the process runs',
    responses: { '200': statusAnswer('ok', 'It does.'), ...problemAnswers(['internal-error'], false) },
  };
}

export function readinessOperation(): JsonObject {
  return {
    operationId: 'showReadiness',
    tags: ['service'],
    summary: 'Whether the service can take a check',
    description:
      'Redis answers and takes writes, one probe at least is healthy (with `GATEWAY=only` none has to be), and no ' +
      'background task of the coordinator is stuck. `detail` of the problem says what is missing. With `?verbose` ' +
      '`warnings` names what is wrong all the same, such as a `MONITORS_FILE` that is not valid.',
    parameters: [
      {
        name: 'verbose',
        in: 'query',
        allowEmptyValue: true,
        description: 'Adds `warnings`.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': statusAnswer('ready', 'It can.', {
        warnings: { type: 'array', items: { type: 'string' }, description: 'One sentence each; with `?verbose`.' },
      }),
      ...problemAnswers(['internal-error', 'unavailable'], false),
    },
  };
}

/** The operation of a page, which has an `ETag`: a request can be answered with 304. */
export function pageOperation(operationId: string, summary: string): JsonObject {
  return {
    operationId,
    tags: ['service'],
    summary,
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'A page.',
        headers: headers(false, ['Cache-Control']),
        content: { 'text/html': { schema: { type: 'string' } } },
      },
      '304': { description: 'As you have it.', headers: headers(false, ['Cache-Control']) },
      ...problemAnswers(['internal-error'], false),
    },
  };
}

export function checkPageOperation(): JsonObject {
  const page = pageOperation('showCheckPage', 'A check, as the web page shows it');
  const id = {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The check.',
    schema: toJson(checkIdSchema),
    example: EXAMPLE_ID,
  };
  return { ...page, parameters: [id, ...(page['parameters'] as JsonObject[])] };
}

export function comparePageOperation(): JsonObject {
  const page = pageOperation('showComparePage', 'Two checks compared, as the web page shows them');
  const schema = toJson(checkIdSchema);
  const parameters = [
    { name: 'id', in: 'path', required: true, description: 'The first check.', schema, example: EXAMPLE_ID },
    { name: 'other', in: 'path', required: true, description: 'The second check.', schema, example: OTHER_EXAMPLE_ID },
  ];
  return { ...page, parameters: [...parameters, ...(page['parameters'] as JsonObject[])] };
}

export function monitorPageOperation(): JsonObject {
  const page = pageOperation('showMonitorPage', 'A monitor, as the web page shows it');
  const schema = { type: 'string', pattern: MONITOR_NAME_PATTERN };
  const name = { name: 'name', in: 'path', required: true, description: 'The monitor.', example: 'web', schema };
  return { ...page, parameters: [name, ...(page['parameters'] as JsonObject[])] };
}

export function wellKnownOperation(operationId: string, summary: string): JsonObject {
  return {
    operationId,
    tags: ['service'],
    summary,
    description: 'As the operator has configured it; 404 where there is none.',
    responses: {
      '200': {
        description: 'Lines of `Field: value`.',
        headers: headers(false, ['Cache-Control']),
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      ...problemAnswers(['not-found', 'internal-error'], false),
    },
  };
}

export function problemPageOperation(): JsonObject {
  const parameter = {
    name: 'type',
    in: 'path',
    required: true,
    description: 'Last part of the `type` of a problem document.',
    schema: { type: 'string', enum: Object.keys(problemTypes) },
    example: 'rate-limited',
  };
  const page = pageOperation('showProblem', 'What a type of problem means');
  const responses = { ...(page['responses'] as JsonObject), ...problemAnswers(['not-found'], false) };
  return { ...page, parameters: [parameter, ...(page['parameters'] as JsonObject[])], responses };
}

export function documentOperation(): JsonObject {
  return {
    operationId: 'showOpenApi',
    tags: ['service'],
    summary: 'This document',
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'OpenAPI 3.1.',
        headers: headers(false, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      '304': { description: 'As you have it.', headers: headers(false, ['ETag']) },
      ...problemAnswers(['internal-error'], false),
    },
  };
}

function statusAnswer(status: string, description: string, more: JsonObject = {}): JsonObject {
  const schema = {
    type: 'object',
    required: ['status'],
    properties: { status: { const: status }, ...more },
    additionalProperties: false,
  };
  return {
    description,
    headers: headers(false, ['Cache-Control']),
    content: { 'application/json': { schema } },
  };
}
