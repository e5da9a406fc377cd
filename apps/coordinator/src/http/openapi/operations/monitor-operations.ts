import { MONITOR_NAME_PATTERN, type ProblemType } from '@vantage/contract';

import type { Bucket } from '../../limits/buckets.ts';
import { headers, problemAnswers } from '../answers.ts';
import { exampleMonitor } from '../example-values.ts';
import { eventStream, ifNoneMatch, keyOf, keyProblems, lastEventParameter, limitOf, notModified } from './parts.ts';
import { refTo, type JsonObject } from '../json.ts';

const metricsProblems: readonly ProblemType[] = [
  'invalid-http',
  ...keyProblems,
  'rate-limited',
  'internal-error',
  'unavailable',
];

const readProblems: readonly ProblemType[] = ['invalid-request', ...metricsProblems];

const nameParameter: JsonObject = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the monitor.',
  example: 'web',
  schema: { type: 'string', pattern: MONITOR_NAME_PATTERN, maxLength: 63 },
};

export function listMonitorsOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'listMonitors',
    tags: ['monitors'],
    summary: 'List the monitors',
    description: 'Every monitor with its state and the state at each probe, without its runs and changes of the path.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'The monitors.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Monitors') } },
      },
      '304': notModified,
      ...problemAnswers(readProblems, true),
    },
  };
}

export function readMonitorOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'readMonitor',
    tags: ['monitors'],
    summary: 'Read a monitor',
    description:
      'Its state, the state at each probe, how far the probes agree, its last runs and, of a traceroute, the last changes of the path.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [nameParameter, ifNoneMatch],
    responses: {
      '200': {
        description: 'The monitor.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: refTo('Monitor') } },
      },
      '304': notModified,
      ...problemAnswers(['monitor-not-found', ...readProblems], true),
    },
  };
}

export function monitorMetricsOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'showMonitorMetrics',
    tags: ['monitors'],
    summary: 'Monitors as metrics',
    description: 'The last result of every monitor and probe in the text format of Prometheus.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [ifNoneMatch],
    responses: {
      '200': {
        description: 'The metrics.',
        headers: headers(true, ['ETag', 'Cache-Control']),
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      '304': notModified,
      ...problemAnswers(metricsProblems, true),
    },
  };
}

/** Security of operations that require an API key. */
const keyRequired: JsonObject = { security: [{ apiKey: ['monitor'] }] };

export function putMonitorOperation(bucket: Bucket): JsonObject {
  const example = { ...exampleMonitor, owner: 'api', pathChanges: [], runs: [] };
  const content = { 'application/json': { schema: refTo('Monitor'), example } };
  return {
    operationId: 'putMonitor',
    tags: ['monitors'],
    summary: 'Make or replace a monitor',
    description:
      'Needs a key with the scope `monitor`, whose networks the monitor may measure. A changed monitor starts again ' +
      'without state, runs and changes of the path; the same request changes nothing, in whichever order its fields are. Its first tick comes within its interval.',
    ...limitOf(bucket),
    ...keyRequired,
    parameters: [nameParameter],
    requestBody: {
      required: true,
      description: 'At most 16 KiB of JSON.',
      content: {
        'application/json': {
          schema: refTo('MonitorRequest'),
          example: { check: { type: 'ping', host: 'example.com', limit: 5 }, every: '60s', alarm: { when: '3 of 5' } },
        },
      },
    },
    responses: {
      '200': { description: 'The monitor, replaced or as it was.', headers: headers(true, ['Cache-Control']), content },
      '201': { description: 'The new monitor.', headers: headers(true, ['Cache-Control']), content },
      ...problemAnswers(
        [
          ...(['invalid-json', 'payload-too-large', 'unsupported-media-type'] as const),
          ...(['key-missing', 'monitor-of-file', 'too-many-monitors'] as const),
          ...readProblems,
        ],
        true,
      ),
    },
  };
}

export function deleteMonitorOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'deleteMonitor',
    tags: ['monitors'],
    summary: 'Remove a monitor',
    description:
      'Needs a key with the scope `monitor`. State, runs, changes of the path and events are removed with it.',
    ...limitOf(bucket),
    ...keyRequired,
    parameters: [nameParameter],
    responses: {
      '204': { description: 'It is removed.', headers: headers(true, ['Cache-Control']) },
      ...problemAnswers(['key-missing', 'monitor-not-found', 'monitor-of-file', ...readProblems], true),
    },
  };
}

export function followMonitorOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'followMonitor',
    tags: ['monitors'],
    summary: 'Follow the changes of a monitor',
    description:
      'Server-Sent Events: first a `monitor` event with the monitor as in the list, then a `state` event when its state ' +
      'changes, a `probe` event when that at a probe changes, a `parting` event when the traceroute of a turn to bad is completed, ' +
      'a `path` event when other addresses answer on a path, and a `run` event with the last run, now and after each tick. `Last-Event-ID` resumes: the changes since then are sent ' +
      'without the `monitor` event, unless they are older than the last 100. The stream ends when the monitor is removed.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [
      nameParameter,
      {
        name: 'Last-Event-ID',
        in: 'header',
        schema: { type: 'string' },
        description: 'The id of the last event that was received.',
      },
      lastEventParameter,
    ],
    responses: {
      '200': {
        description: 'The events, in the `data` of each one line of JSON.',
        headers: headers(true, ['Cache-Control']),
        content: {
          'text/event-stream': eventStream({
            monitor: refTo('MonitorInList'),
            state: refTo('MonitorStateEvent'),
            probe: refTo('MonitorProbeEvent'),
            path: refTo('MonitorPathEvent'),
            parting: refTo('MonitorPartingEvent'),
            run: refTo('Run'),
          }),
        },
      },
      ...problemAnswers(['monitor-not-found', 'too-many-streams', ...readProblems], true),
    },
  };
}
