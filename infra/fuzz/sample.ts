import { hostileString } from './hostile-values.ts';
import type { Random } from './random.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Strings to choose from: those that match the pattern and the lengths of a schema. */
const candidates: readonly string[] = [
  'fra-1',
  'nyc-1',
  'sgp-1',
  'a',
  'A',
  'AAAA',
  'MX',
  'TXT',
  'de',
  'DE+AS64496',
  'Europe',
  '0a',
  '00ff',
  'deadbeef',
  'example.com',
  '192.0.2.53',
  '[2001:db8::53]:53',
  'x-a',
  'Accept',
  'text/plain',
  '2026-01-01T00:00:00.000Z',
  'qPUXvL1sQx2rGJm0Zf7N4w',
  '1',
  '0',
  '1m',
  '1 of 2',
  '2xx',
];

/**
 * Generates values that are valid for a schema of the document, with the keywords that it uses; a hostile string if no
 * candidate matches.
 */
export function createSampler(root: Schema, random: Random): (schema: Schema, depth?: number) => unknown {
  const sample = (given: Schema, depth = 0): unknown => {
    const schema = resolve(given, root);
    if ('const' in schema) return schema['const'];
    const choices = (schema['enum'] ?? schema['oneOf'] ?? schema['anyOf']) as readonly unknown[] | undefined;
    if (choices !== undefined) {
      const choice = random.pick(choices);
      return 'enum' in schema ? choice : sample(choice as Schema, depth + 1);
    }
    switch (schema['type']) {
      case 'object':
        return sampleObject(schema, depth);
      case 'array':
        return sampleArray(schema, depth);
      case 'string':
        return sampleString(schema, random);
      case 'integer':
        return Math.floor(sampleNumber(schema, random));
      case 'number':
        return sampleNumber(schema, random);
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return random.pick([0, 'x', true, null]);
    }
  };

  const sampleObject = (schema: Schema, depth: number): unknown => {
    const required = new Set((schema['required'] as readonly string[] | undefined) ?? []);
    const properties = Object.entries((schema['properties'] as Readonly<Record<string, Schema>> | undefined) ?? {});
    const kept = properties.filter(([name]) => required.has(name) || (depth < 4 && random.chance(0.3)));
    return Object.fromEntries(kept.map(([name, property]) => [name, sample(property, depth + 1)]));
  };

  const sampleArray = (schema: Schema, depth: number): readonly unknown[] => {
    const least = numberOf(schema['minItems'], 0);
    const most = Math.min(numberOf(schema['maxItems'], 3), least + 3);
    const items = Array.from({ length: least + random.below(most - least + 1) }, () =>
      sample((schema['items'] as Schema | undefined) ?? {}, depth + 1),
    );
    return schema['uniqueItems'] === true ? [...new Set(items)] : items;
  };

  return sample;
}

/** The schema that a `$ref` points to, or the schema itself. */
function resolve(schema: Schema, root: Schema): Schema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, part) => (node as Schema)[part], root) as Schema;
}

function sampleString(schema: Schema, random: Random): string {
  if (schema['format'] === 'uri') return 'https://example.com/';
  const pattern = new RegExp(textOf(schema['pattern'], ''), 'u');
  const least = numberOf(schema['minLength'], 0);
  const most = numberOf(schema['maxLength'], 10_000);
  const fitting = candidates.filter((text) => pattern.test(text) && text.length >= least && text.length <= most);
  return fitting.length > 0 ? random.pick(fitting) : hostileString(random);
}

function sampleNumber(schema: Schema, random: Random): number {
  const least = numberOf(schema['minimum'], 0);
  const most = numberOf(schema['maximum'], least + 1_000);
  return random.chance(0.2) ? random.pick([least, most]) : least + random.below(most - least + 1);
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
