import { keyScopes, type AnyCheckType } from '@vantage/contract';

import { PROBING_PATH, SECURITY_PATH } from '../well-known-paths.ts';
import type { Links } from '../links.ts';
import type { Bucket } from '../limits/buckets.ts';
import { answerExamples } from './answer-examples.ts';
import { componentHeaders } from './answers.ts';
import { followCheckOperation } from './operations/event-operations.ts';
import {
  deleteMonitorOperation,
  followMonitorOperation,
  listMonitorsOperation,
  monitorMetricsOperation,
  putMonitorOperation,
  readMonitorOperation,
} from './operations/monitor-operations.ts';
import {
  createCheckOperation,
  readCheckOperation,
  showScreenshotOperation,
  showSummaryOperation,
} from './operations/check-operations.ts';
import { listAgentsOperation, listProbesOperation, showCallerOperation } from './operations/probe-operations.ts';
import {
  discoverAgentsOperation,
  discoverTargetsOperation,
  probeTargetOperation,
} from './operations/scrape-operations.ts';
import { showBadgeOperation, showCardOperation, showEmbedOperation } from './operations/sharing-operations.ts';
import { showComparisonOperation } from './operations/comparison-operation.ts';
import { componentSchemas } from './schemas.ts';
import type { JsonObject } from './json.ts';
import {
  documentOperation,
  healthOperation,
  pageOperation,
  checkPageOperation,
  comparePageOperation,
  monitorPageOperation,
  problemPageOperation,
  readinessOperation,
  wellKnownOperation,
} from './operations/service-operations.ts';

export interface DocumentOptions {
  readonly checkTypes: readonly AnyCheckType[];
  readonly links: Links;
  readonly buckets: {
    readonly [
      name in
        | 'createCheck'
        | 'readCheck'
        | 'followCheck'
        | 'showScreenshot'
        | 'showSummary'
        | 'listProbes'
        | 'readMonitors'
        | 'showCaller'
        | 'scrape'
    ]: Bucket;
  };
  readonly retentionSeconds: number;
  /** Release of the service, semver. */
  readonly version: string;
}

const description = `Runs network diagnostics from several probes at once and returns the outcome per probe.

1. \`POST /check\` starts a check and answers with its \`checkId\`.
2. \`GET /check/{id}/results\` shows one entry per probe; \`?wait=25\` holds the answer until all have answered.
3. \`GET /check/{id}/events\` streams the results as they come.
4. \`GET /check/{id}/summary\` says what the results mean together.
5. \`GET /check/{id}/compare/{other}\` says what differs between two checks.

The API is public; but for scrapes, and to make and remove monitors, it needs no credentials. The rate limits count addresses. An API key, sent as \`Authorization: Bearer vtg_…\`,
has its own limits, and its scopes say what it may do. Durations are milliseconds from a monotonic clock, times of day ISO 8601 UTC. \`null\` means looked for and not there; an absent field
was not asked for or does not apply. Errors are problem documents (RFC 9457).

A \`GET\` is also answered as \`HEAD\`, and each path as \`OPTIONS\` (CORS). Any request may get these, which no operation names: 404 (no such path), 405 (a method that the path
does not have, with \`Allow\`), 408 (it did not arrive in time) and 431 (its head is larger than 8 KiB).`;

const apiKeyScheme = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'vtg_…',
  description:
    'Optional: a key that the operator of the service has made. Its limits count all its requests, whatever ' +
    'addresses they come from. Scopes: ' +
    `${Object.entries(keyScopes)
      .map(([scope, meaning]) => `\`${scope}\` (${meaning})`)
      .join(', ')}.`,
};

/** Generates the OpenAPI 3.1 document from the schemas that validate requests and results. */
export function createDocument(options: DocumentOptions): JsonObject {
  const { checkTypes, links, version } = options;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vantage',
      summary: 'Network diagnostics from several places at once.',
      description,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: links.publicUrl }],
    security: [],
    tags: [
      { name: 'checks', description: 'Start checks and read their results.' },
      { name: 'probes', description: 'Where checks run from.' },
      { name: 'monitors', description: 'Checks that repeat, and their state.' },
      { name: 'caller', description: 'Your own address.' },
      {
        name: 'prometheus',
        description: 'Scrapes, for clients with an API key or in the networks that the operator names.',
      },
      { name: 'service', description: 'Health and documentation; not limited.' },
    ],
    paths: withExamples(pathsOf(options)),
    components: {
      schemas: componentSchemas(checkTypes),
      headers: componentHeaders,
      securitySchemes: {
        apiKey: apiKeyScheme,
      },
    },
  };
}

function pathsOf({ checkTypes, buckets, retentionSeconds }: DocumentOptions): JsonObject {
  return {
    '/check': { post: createCheckOperation(checkTypes, buckets.createCheck) },
    '/check/{id}/results': { get: readCheckOperation(buckets.readCheck, retentionSeconds) },
    '/check/{id}/screenshot': { get: showScreenshotOperation(buckets.showScreenshot) },
    '/check/{id}/events': { get: followCheckOperation(buckets.followCheck) },
    '/check/{id}/summary': { get: showSummaryOperation(buckets.showSummary) },
    '/check/{id}/compare/{other}': { get: showComparisonOperation(buckets.showSummary) },
    '/check/{id}/badge.svg': { get: showBadgeOperation(buckets.showSummary) },
    '/check/{id}/card.png': { get: showCardOperation(buckets.showSummary) },
    '/c/{id}/embed': { get: showEmbedOperation(buckets.showSummary) },
    '/probes': { get: listProbesOperation(buckets.listProbes) },
    '/probes/agents': { get: listAgentsOperation(buckets.listProbes) },
    '/monitors': { get: listMonitorsOperation(buckets.readMonitors) },
    '/monitors/{name}': {
      get: readMonitorOperation(buckets.readMonitors),
      put: putMonitorOperation(buckets.readMonitors),
      delete: deleteMonitorOperation(buckets.readMonitors),
    },
    '/monitors/{name}/events': { get: followMonitorOperation(buckets.readMonitors) },
    '/metrics/monitors': { get: monitorMetricsOperation(buckets.readMonitors) },
    '/me': { get: showCallerOperation(buckets.showCaller) },
    '/probe': { get: probeTargetOperation(buckets.scrape) },
    '/sd': { get: discoverTargetsOperation(buckets.scrape) },
    '/sd/agents': { get: discoverAgentsOperation(buckets.scrape) },
    '/healthz': { get: healthOperation() },
    '/readyz': { get: readinessOperation() },
    [PROBING_PATH]: { get: wellKnownOperation('showProbing', 'Who measures, and whom to ask (RFC 9511)') },
    [SECURITY_PATH]: { get: wellKnownOperation('showSecurity', 'Where to report a hole (RFC 9116)') },
    '/openapi.json': { get: documentOperation() },
    '/docs': { get: pageOperation('showDocs', 'A reference page made from this document') },
    '/problems/{type}': { get: problemPageOperation() },
    '/': { get: pageOperation('showHome', 'The web page') },
    '/c/{id}': { get: checkPageOperation() },
    '/c/{id}/compare/{other}': { get: comparePageOperation() },
    '/m': { get: pageOperation('showMonitorsPage', 'The monitors, as the web page shows them') },
    '/m/{name}': { get: monitorPageOperation() },
    '/status': { get: pageOperation('showStatusPage', 'The probes, as the web page shows them') },
  };
}

/** Adds the examples to the 200 responses of the operations. */
function withExamples(paths: JsonObject): JsonObject {
  const added = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods as JsonObject).map(([method, operation]) => [
        method,
        withExample(operation as JsonObject),
      ]),
    ),
  ]);
  return Object.fromEntries(added) as JsonObject;
}

function withExample(operation: JsonObject): JsonObject {
  const example = answerExamples[operation['operationId'] as string];
  const responses = operation['responses'] as JsonObject;
  const good = responses['200'] as JsonObject | undefined;
  if (good === undefined || example === undefined) return operation;
  const content = Object.entries(good['content'] as JsonObject).map(([type, body]) => [
    type,
    { ...(body as JsonObject), example },
  ]);
  return {
    ...operation,
    responses: { ...responses, '200': { ...good, content: Object.fromEntries(content) as JsonObject } },
  };
}
