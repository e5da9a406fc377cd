import {
  checkSchema,
  eventCheckType,
  pendingResultSchema,
  probeIdSchema,
  publicRequestSchema,
  publicResultSchema,
  requestSchema,
  type AnyCheckType,
} from '@vantage/contract';

import { withoutDefaults } from './for-generators.ts';
import { refTo, toJson, type JsonObject } from './json.ts';

/** The schemas of the requests and results of each check type, by name. */
export function schemasOfTypes(checkTypes: readonly AnyCheckType[]): JsonObject {
  const known = [...new Set(checkTypes.flatMap(({ fields }) => Object.keys(fields as object)))].toSorted();
  return Object.fromEntries(
    checkTypes.flatMap((checkType) => [...schemasOfType(checkType, known), ...eventSchemasOfType(checkType)]),
  );
}

/** The schemas that have a variant for each check type, by name. */
export function unionsOfTypes(checkTypes: readonly AnyCheckType[]): JsonObject {
  return {
    CheckRequest: union('Check request', 'Body of POST /check; `type` says which.', checkTypes, requestName),
    Check: union('Check and its results', 'The results of a check by probe; `type` says which.', checkTypes, checkName),
    CompletedEvent: union('Completed event', 'Data of a `completed` event: the check.', checkTypes, (type) =>
      checkName(eventName(type, checkTypes)),
    ),
    ProbeEvent: probeEvent(checkTypes.map(({ type }) => refTo(entryName(eventName(type, checkTypes))))),
  };
}

function schemasOfType(checkType: AnyCheckType, known: readonly string[]): readonly [string, JsonObject][] {
  const { type } = checkType;
  return [
    [requestName(type), withoutDefaults(toJson(requestSchema(checkType, known))) as JsonObject],
    [`${capitalized(type)}Asked`, toJson(publicRequestSchema(checkType))],
    ...checkSchemas(checkType, type),
  ];
}

/** The schemas of a type's events, if they differ from those of its results. */
function eventSchemasOfType(checkType: AnyCheckType): readonly [string, JsonObject][] {
  const inEvents = eventCheckType(checkType);
  return inEvents === checkType ? [] : checkSchemas(inEvents, `${checkType.type}Event`);
}

/** The schemas of a check and of the results in it. */
function checkSchemas(checkType: AnyCheckType, name: string): readonly [string, JsonObject][] {
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

function requestName(type: string): string {
  return `${capitalized(type)}Request`;
}

function checkName(type: string): string {
  return `${capitalized(type)}Check`;
}

function capitalized(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
