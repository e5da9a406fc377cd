import type { AnyCheckType } from '@vantage/contract';

import type { JsonObject } from './json.ts';

const exampleHosts = { host: 'example.com', url: 'https://example.com/', name: 'example.com' } as const;

/** A request of each check type with a host, and one between two probes of each type that takes pairs. */
export function requestExamples(checkTypes: readonly AnyCheckType[]): JsonObject {
  const ofTypes = checkTypes.map((checkType) => [
    checkType.type,
    { summary: checkType.title, value: { ...exampleRequest(checkType), limit: 3 } },
  ]);
  const ofPairs = checkTypes
    .filter(({ takesPairs }) => takesPairs === true)
    .map(({ type, title }) => [
      `${type} between`,
      { summary: `${title} between two probes`, value: { type, between: ['fra-1', 'nyc-1'] } },
    ]);
  return Object.fromEntries([...ofTypes, ...ofPairs]) as JsonObject;
}

/** A request with the required fields only. */
export function exampleRequest(checkType: AnyCheckType): JsonObject {
  const fields = Object.entries(checkType.fields as Readonly<Record<string, JsonObject>>);
  const required = fields
    .filter(([, schema]) => !('default' in schema) && !('~optional' in schema))
    .map(([name, schema]) => [name, exampleValue(schema)]);
  return {
    type: checkType.type,
    host: exampleHosts[checkType.hostKind],
    ...Object.fromEntries(required),
  } as JsonObject;
}

function exampleValue(schema: JsonObject): unknown {
  const { examples, enum: words, minimum } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  return Array.isArray(words) ? words[0] : (minimum ?? 'example');
}
