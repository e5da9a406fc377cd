import type { Bucket } from '../../limits/buckets.ts';
import { headers, problemAnswers } from '../answers.ts';
import { keyOf, keyProblems, limitOf } from './parts.ts';
import type { JsonObject } from '../json.ts';

const query = (name: string, description: string, schema: JsonObject, required = false): JsonObject => ({
  name,
  in: 'query',
  required,
  description,
  schema,
});

const many: JsonObject = { type: 'array', items: { type: 'string' } };

export function probeTargetOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'probeTarget',
    tags: ['prometheus'],
    summary: 'Probe a target and answer with metrics',
    description:
      'The contract of Prometheus’ blackbox_exporter over all probes: one check, its results in the text format of ' +
      'Prometheus. Every series has the labels of blackbox_exporter and `probe`; the place of the probe is in ' +
      '`vantage_probe_info`. The time of the scrape is the smaller of `X-Prometheus-Scrape-Timeout-Seconds` less half a ' +
      'second, the `timeout` of the module, and 25 seconds.',
    ...limitOf(bucket),
    ...keyOf('check'),
    parameters: [
      {
        ...query('target', 'What to probe, in the form that the module’s prober takes.', { type: 'string' }, true),
        example: 'https://example.com/',
      },
      query('module', 'Name of a module.', { type: 'string', default: 'http_2xx' }),
      query('probe', 'Exactly these probes; repeated, or separated by commas.', many),
      query('location', 'Locations of the probes, as `locations` of POST /check; repeated.', many),
      query('limit', 'How many probes to select.', { type: 'integer', minimum: 1, maximum: 100, default: 10 }),
      query('hostname', 'For modules of http: the header Host, and the name in the handshake of TLS.', {
        type: 'string',
      }),
      query('debug', '`true`: also the reasons of failures, and the module.', { type: 'string' }),
      {
        name: 'X-Prometheus-Scrape-Timeout-Seconds',
        in: 'header',
        schema: { type: 'number', minimum: 0 },
        description: 'Sent by Prometheus.',
      },
    ],
    responses: {
      '200': {
        description: 'Metrics, whether the target answers or not: `probe_success` is 1 or 0.',
        headers: headers(true, ['Cache-Control']),
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      ...problemAnswers(['invalid-request', 'invalid-http', 'internal-error'], false),
      ...problemAnswers([...keyProblems, 'scrape-refused', 'no-probe-available', 'rate-limited'], true),
      ...problemAnswers(['unavailable'], false),
    },
  };
}

const labels: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };
const group: JsonObject = {
  type: 'object',
  required: ['targets', 'labels'],
  properties: { targets: { type: 'array', items: { type: 'string' } }, labels },
  additionalProperties: false,
};

export function discoverTargetsOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'discoverTargets',
    tags: ['prometheus'],
    summary: 'List targets for http_sd_configs',
    description: 'One target group for each probe and each `target`; without a `target` one for each probe.',
    ...limitOf(bucket),
    ...keyOf('read'),
    parameters: [
      query('target', 'What each probe is to probe; repeated.', many),
      query('module', 'Module of all of them.', { type: 'string' }),
    ],
    responses: groupAnswers(),
  };
}

export function discoverAgentsOperation(bucket: Bucket): JsonObject {
  return {
    operationId: 'discoverAgents',
    tags: ['prometheus'],
    summary: 'List the metrics of agents for http_sd_configs',
    description:
      'One target group for each agent whose operator has set the address of its metrics (`--metrics` of `probe:invite` and ' +
      '`probe:add`, or `probe:metrics`), with the label `probe` and the place of the probe.',
    ...limitOf(bucket),
    ...keyOf('read'),
    responses: groupAnswers(),
  };
}

function groupAnswers(): JsonObject {
  return {
    '200': {
      description: 'Target groups.',
      headers: headers(true, ['Cache-Control']),
      content: { 'application/json': { schema: { type: 'array', items: group } } },
    },
    ...problemAnswers(['invalid-request', 'invalid-http', 'internal-error'], false),
    ...problemAnswers([...keyProblems, 'scrape-refused', 'rate-limited'], true),
    ...problemAnswers(['unavailable'], false),
  };
}
