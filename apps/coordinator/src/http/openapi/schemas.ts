import {
  agentSchema,
  agentsSchema,
  canonicalPathSchema,
  checkSchema,
  checkStartSchema,
  comparisonSchema,
  countryCodeOfCallerSchema,
  differenceSchema,
  eventCheckType,
  failureCodes,
  failureSchema,
  findingCodes,
  agreementSchema,
  alarmSchema,
  expectationSchema,
  meSchema,
  monitoredProbeSchema,
  monitorInListSchema,
  monitorRequestSchema,
  monitorSchema,
  monitorsSchema,
  runSchema,
  partingEventSchema,
  pathChangeSchema,
  pathEventSchema,
  probeEventSchema,
  stateEventSchema,
  pendingResultSchema,
  probeIdSchema,
  probeSchema,
  probesSchema,
  problemSchema,
  publicRequestSchema,
  requestSchema,
  publicResultSchema,
  summarySchema,
  type AnyCheckType,
} from '@vantage/contract';

import { oncePer } from '../once-per.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Converts a string or number to text; empty for any other value. */
export function scalarText(value: Json | undefined): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** `#/components/schemas`, from the schemas of the contract and of the check types. */
export const componentSchemas = oncePer((checkTypes: readonly AnyCheckType[]): JsonObject => {
  const known = [...new Set(checkTypes.flatMap(({ fields }) => Object.keys(fields as object)))].toSorted();
  const own = Object.fromEntries(
    checkTypes.flatMap((checkType) => [...schemasOfType(checkType, known), ...eventSchemasOfType(checkType)]),
  );
  const shared = {
    CheckStart: toJson(checkStartSchema),
    Failure: withCodes(toJson(failureSchema)),
    Summary: withFindings(toJson(summarySchema)),
    CanonicalPath: toJson(canonicalPathSchema),
    Difference: toJson(differenceSchema),
    Comparison: toJson(comparisonSchema),
    Probe: toJson(probeSchema),
    Probes: toJson(probesSchema),
    Agent: toJson(agentSchema),
    Agents: toJson(agentsSchema),
    Alarm: toJson(alarmSchema),
    Expectation: toJson(expectationSchema),
    Agreement: toJson(agreementSchema),
    MonitoredProbe: toJson(monitoredProbeSchema),
    Run: toJson(runSchema),
    MonitorRequest: toJson(monitorRequestSchema),
    MonitorInList: toJson(monitorInListSchema),
    MonitorPathChange: toJson(pathChangeSchema),
    Monitor: toJson(monitorSchema),
    Monitors: toJson(monitorsSchema),
    MonitorStateEvent: toJson(stateEventSchema),
    MonitorProbeEvent: toJson(probeEventSchema),
    MonitorPartingEvent: toJson(partingEventSchema),
    MonitorPathEvent: toJson(pathEventSchema),
    // Named, because two fields of Me use it whose names differ in spelling only: for an unnamed schema, some
    // generators would make two types with the same name.
    CountryCode: toJson(countryCodeOfCallerSchema),
    Me: toJson(meSchema),
    Problem: toJson(problemSchema),
  };
  const embedded = new Map<string, string>([
    ...Object.entries({ ...own, ...shared }).map(([name, schema]): [string, string] => [JSON.stringify(schema), name]),
    [JSON.stringify(failureSchema), 'Failure'],
  ]);
  const named = Object.entries({ ...own, ...shared }).map(([name, schema]) => [
    name,
    withPlainMaps(withRefs(schema, embedded, name)),
  ]);
  return {
    CheckRequest: union('Check request', 'Body of POST /check; `type` says which.', checkTypes, requestName),
    Check: union('Check and its results', 'The results of a check by probe; `type` says which.', checkTypes, checkName),
    CompletedEvent: union('Completed event', 'Data of a `completed` event: the check.', checkTypes, (type) =>
      checkName(eventName(type, checkTypes)),
    ),
    ProbeEvent: probeEvent(checkTypes.map(({ type }) => refTo(entryName(eventName(type, checkTypes))))),
    ...(Object.fromEntries(named) as JsonObject),
  };
});

export function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

export function requestName(type: string): string {
  return `${capitalized(type)}Request`;
}

export function checkName(type: string): string {
  return `${capitalized(type)}Check`;
}

export function toJson(schema: unknown): JsonObject {
  // Removes the non-enumerable properties that TypeBox adds.
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

function schemasOfType(checkType: AnyCheckType, known: readonly string[]): readonly [string, JsonObject][] {
  const { type } = checkType;
  return [
    [requestName(type), withoutDefaults(toJson(requestSchema(checkType, known))) as JsonObject],
    [`${capitalized(type)}Asked`, toJson(publicRequestSchema(checkType))],
    ...readSchemas(checkType, type),
  ];
}

/**
 * Moves `default` into the description, or leaves out one that is an object, a list or null: some client generators
 * treat a property with a default as always present and would require it in requests.
 */
function withoutDefaults(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  const { default: fallback, ...rest } = schema as JsonObject;
  const parts: JsonObject = Object.fromEntries<Json>(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : withoutDefaults(value)]),
  );
  if (fallback === undefined || typeof fallback === 'object') return parts;
  return { ...parts, description: `${scalarText(parts['description'])} Default: ${JSON.stringify(fallback)}.`.trim() };
}

/** The schemas of a type's events, if they differ from those of its results. */
function eventSchemasOfType(checkType: AnyCheckType): readonly [string, JsonObject][] {
  const shown = eventCheckType(checkType);
  return shown === checkType ? [] : readSchemas(shown, `${checkType.type}Event`);
}

function readSchemas(checkType: AnyCheckType, name: string): readonly [string, JsonObject][] {
  const result = publicResultSchema(checkType);
  const pending = pendingResultSchema(checkType);
  const either: JsonObject = {
    title: `${checkType.title} result, pending or final`,
    anyOf: [toJson(pending), toJson(result)],
  };
  const check = toJson(checkSchema(checkType, result));
  const prefix = capitalized(name);
  return [
    [checkName(name), withResults(check, refTo(entryName(name)))],
    [entryName(name), either],
    [`${prefix}Result`, toJson(result)],
    [`${prefix}Pending`, toJson(pending)],
  ];
}

function eventName(type: string, checkTypes: readonly AnyCheckType[]): string {
  const checkType = checkTypes.find((one) => one.type === type);
  return checkType === undefined || eventCheckType(checkType) === checkType ? type : `${type}Event`;
}

function entryName(type: string): string {
  return `${capitalized(type)}Entry`;
}

function probeEvent(entries: readonly JsonObject[]): JsonObject {
  return {
    title: 'Probe event',
    description: 'Data of a `probe` event: what one probe has come to, in the shape of the check’s type.',
    type: 'object',
    required: ['probe', 'result'],
    properties: { probe: toJson(probeIdSchema), result: { anyOf: entries } },
    additionalProperties: false,
  };
}

/** Replaces the schema of the entries of `results` by a reference. */
function withResults(check: JsonObject, entry: JsonObject): JsonObject {
  const properties = check['properties'] as JsonObject;
  const results = properties['results'] as JsonObject;
  const patterns = Object.keys(results['patternProperties'] as JsonObject).map((pattern) => [pattern, entry]);
  return {
    ...check,
    properties: {
      ...properties,
      results: { ...results, patternProperties: Object.fromEntries(patterns) as JsonObject },
    },
  };
}

function withCodes(failure: JsonObject): JsonObject {
  const properties = failure['properties'] as JsonObject;
  const code = { ...(properties['code'] as JsonObject), 'x-enum-descriptions': failureCodes };
  return { ...failure, properties: { ...properties, code } };
}

function withFindings(summary: JsonObject): JsonObject {
  const properties = summary['properties'] as JsonObject;
  const findings = properties['findings'] as JsonObject;
  const finding = findings['items'] as JsonObject;
  const ofFinding = finding['properties'] as JsonObject;
  const code = { ...(ofFinding['code'] as JsonObject), 'x-enum-descriptions': findingCodes };
  const items = { ...finding, properties: { ...ofFinding, code } };
  return { ...summary, properties: { ...properties, findings: { ...findings, items } } };
}

function union(
  title: string,
  description: string,
  checkTypes: readonly AnyCheckType[],
  nameOf: (type: string) => string,
): JsonObject {
  const mapping = checkTypes.map(({ type }) => [type, `#/components/schemas/${nameOf(type)}`]);
  return {
    title,
    description,
    oneOf: checkTypes.map(({ type }) => refTo(nameOf(type))),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) as JsonObject },
  };
}

/** Replaces copies of named schemas by references. */
function withRefs(schema: Json, embedded: ReadonlyMap<string, string>, self: string | undefined): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = embedded.get(JSON.stringify(schema));
  if (name !== undefined && name !== self) return refTo(name);
  if (Array.isArray(schema)) return schema.map((item: Json) => withRefs(item, embedded, undefined));
  const parts = Object.entries(schema).map(([key, value]) => [key, withRefs(value, embedded, undefined)]);
  return Object.fromEntries(parts) as JsonObject;
}

/**
 * Replaces a single `patternProperties` entry by `additionalProperties`: for the former, some generators write values
 * of an unknown type.
 */
function withPlainMaps(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withPlainMaps);
  const { patternProperties, ...rest } = schema as JsonObject;
  const parts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withPlainMaps(value)]));
  const [[pattern, value] = [], ...others] = Object.entries((patternProperties ?? {}) as JsonObject);
  if (pattern === undefined || value === undefined || others.length > 0) return parts;
  return { ...parts, propertyNames: { pattern }, additionalProperties: withPlainMaps(value) };
}

function capitalized(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
