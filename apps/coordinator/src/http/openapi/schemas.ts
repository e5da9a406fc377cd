import {
  agentSchema,
  agentsSchema,
  agreementSchema,
  alarmSchema,
  canonicalPathSchema,
  checkStartSchema,
  comparisonSchema,
  countryCodeOfCallerSchema,
  differenceSchema,
  expectationSchema,
  failureCodes,
  failureSchema,
  findingCodes,
  meSchema,
  monitoredProbeSchema,
  monitorInListSchema,
  monitorRequestSchema,
  monitorSchema,
  monitorsSchema,
  partingEventSchema,
  pathChangeSchema,
  pathEventSchema,
  probeEventSchema,
  probeSchema,
  probesSchema,
  problemSchema,
  runSchema,
  stateEventSchema,
  summarySchema,
  type AnyCheckType,
} from '@vantage/contract';

import { oncePer } from '../once-per.ts';
import { schemasOfTypes, unionsOfTypes } from './check-type-schemas.ts';
import { withEnums, withPlainMaps } from './for-generators.ts';
import { refTo, toJson, type Json, type JsonObject } from './json.ts';

/** `#/components/schemas`, from the schemas of the contract and of the check types. */
export const componentSchemas = oncePer((checkTypes: readonly AnyCheckType[]): JsonObject => {
  const own = schemasOfTypes(checkTypes);
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
    MonitorRequest: withCheckRequest(toJson(monitorRequestSchema)),
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
    withEnums(withPlainMaps(withRefs(schema, embedded, name))),
  ]);
  return {
    ...unionsOfTypes(checkTypes),
    ...(Object.fromEntries(named) as JsonObject),
  };
});

/** Refers to the requests of checks, which validate the check of a monitor apart from the rest. */
function withCheckRequest(monitor: JsonObject): JsonObject {
  const properties = monitor['properties'] as JsonObject;
  const { type: _object, ...check } = properties['check'] as JsonObject;
  return { ...monitor, properties: { ...properties, check: { ...refTo('CheckRequest'), ...check } } };
}

/** Describes the values of `code`. */
function withCodes(failure: JsonObject): JsonObject {
  const properties = failure['properties'] as JsonObject;
  const code = { ...(properties['code'] as JsonObject), 'x-enum-descriptions': failureCodes };
  return { ...failure, properties: { ...properties, code } };
}

/** Describes the codes of findings. */
function withFindings(summary: JsonObject): JsonObject {
  const properties = summary['properties'] as JsonObject;
  const findings = properties['findings'] as JsonObject;
  const finding = findings['items'] as JsonObject;
  const ofFinding = finding['properties'] as JsonObject;
  const code = { ...(ofFinding['code'] as JsonObject), 'x-enum-descriptions': findingCodes };
  const items = { ...finding, properties: { ...ofFinding, code } };
  return { ...summary, properties: { ...properties, findings: { ...findings, items } } };
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
