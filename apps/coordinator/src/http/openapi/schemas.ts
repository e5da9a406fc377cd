import {
  checkSchema,
  checkStartSchema,
  failureCodes,
  failureSchema,
  meSchema,
  pendingResultSchema,
  probeSchema,
  probesSchema,
  problemSchema,
  requestSchema,
  resultSchema,
  type AnyCheckType,
} from '@vantage/contract';

/** JSON as an OpenAPI document is made of. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A string of a JSON document; empty for whatever else is there. Numbers are written out. */
export function jsonText(value: Json | undefined): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** `#/components/schemas`, from the schemas of the contract and of the registered check types. */
export function componentSchemas(checkTypes: readonly AnyCheckType[]): JsonObject {
  const known = [...new Set(checkTypes.flatMap(({ fields }) => Object.keys(fields as object)))].toSorted();
  const own = Object.fromEntries(checkTypes.flatMap((checkType) => schemasOfType(checkType, known)));
  const shared = {
    CheckStart: toJson(checkStartSchema),
    Failure: withCodes(toJson(failureSchema)),
    Probe: toJson(probeSchema),
    Probes: toJson(probesSchema),
    Me: toJson(meSchema),
    Problem: toJson(problemSchema),
  };
  const embedded = new Map<string, string>([
    ...Object.entries({ ...own, ...shared }).map(([name, schema]): [string, string] => [JSON.stringify(schema), name]),
    [JSON.stringify(failureSchema), 'Failure'],
  ]);
  const named = Object.entries({ ...own, ...shared }).map(([name, schema]) => [name, withRefs(schema, embedded, name)]);
  return {
    CheckRequest: union('Check request', 'Body of POST /check; `type` says which.', checkTypes, requestName),
    Check: union('Check and its results', 'The results of a check by probe; `type` says which.', checkTypes, checkName),
    ...(Object.fromEntries(named) as JsonObject),
  };
}

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
  // TypeBox keeps what is not JSON Schema in properties that are not enumerable.
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

function schemasOfType(checkType: AnyCheckType, known: readonly string[]): readonly [string, JsonObject][] {
  const result = resultSchema(checkType);
  const pending = pendingResultSchema(checkType);
  const either: JsonObject = {
    title: `${checkType.title} result, pending or final`,
    anyOf: [toJson(pending), toJson(result)],
  };
  const check = toJson(checkSchema(checkType.type, checkType.title, result));
  const prefix = capitalized(checkType.type);
  return [
    [requestName(checkType.type), toJson(requestSchema(checkType, known))],
    [checkName(checkType.type), withResults(check, refTo(`${prefix}Entry`))],
    [`${prefix}Entry`, either],
    [`${prefix}Result`, toJson(result)],
    [`${prefix}Pending`, toJson(pending)],
  ];
}

/** The entries of `results` by name: they are long, and each stands on its own. */
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

/** Puts references where one named schema is part of another. */
function withRefs(schema: Json, embedded: ReadonlyMap<string, string>, self: string | undefined): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = embedded.get(JSON.stringify(schema));
  if (name !== undefined && name !== self) return refTo(name);
  if (Array.isArray(schema)) return schema.map((item: Json) => withRefs(item, embedded, undefined));
  const parts = Object.entries(schema).map(([key, value]) => [key, withRefs(value, embedded, undefined)]);
  return Object.fromEntries(parts) as JsonObject;
}

function capitalized(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
